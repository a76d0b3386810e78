"""Pieces of Verilog-2005."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Module:
    """A module and its text, which is a file of the same name."""

    name: str
    text: str


@dataclass(frozen=True)
class Port:
    name: str
    bits: int
    is_input: bool = True
    is_vector: bool = False  # also if it has one bit


def bits_for(most: int) -> int:
    """Returns the bits of whole numbers from 0 to `most`."""
    return max(1, int(most).bit_length())


def signed_bits(values: Iterable[int]) -> int:
    """Returns the bits of two's complement that hold all values."""
    return max((v if v >= 0 else -v - 1).bit_length() + 1 for v in map(int, values))


def number(bits: int, value: int) -> str:
    """Returns a literal; negative values are two's complement."""
    return f"{bits}'h{int(value) & ((1 << bits) - 1):x}"


def signed(bits: int, value: int) -> str:
    return f"{bits}'sh{int(value) & ((1 << bits) - 1):x}"


def vector(bits: int) -> str:
    """Returns the range of a declaration."""
    return f"[{bits - 1}:0]"


def joined(parts: Sequence[str]) -> str:
    """Returns a concatenation; the first part has the lowest bits."""
    return parts[0] if len(parts) == 1 else "{" + ", ".join(reversed(parts)) + "}"


def widened(name: str, bits: int, to: int) -> str:
    """Returns an unsigned number with zeros before it."""
    return name if to == bits else f"{{{to - bits}'b0, {name}}}"


def module(name: str, about: str, ports: Sequence[Port], body: str) -> Module:
    declared = ",\n".join(
        f"  {'input' if port.is_input else 'output'} wire "
        f"{vector(port.bits) + ' ' if port.is_vector or port.bits > 1 else ''}{port.name}"
        for port in ports
    )
    head = f"// {about}\n// Written by larq_engine.\n`default_nettype none\n\n"
    end = "\nendmodule\n\n`default_nettype wire\n"
    return Module(name, f"{head}module {name} (\n{declared}\n);\n{body.rstrip()}\n{end}")


def pixel_ports(prefix: str, bits: int, *, is_input: bool) -> list[Port]:
    """Returns the ports of pixels that the other side takes as soon as they are valid."""
    return [
        Port(f"{prefix}_data", bits, is_input, is_vector=True),
        Port(f"{prefix}_valid", 1, is_input),
    ]


def stream_ports(prefix: str, bits: int, *, is_input: bool) -> list[Port]:
    """Returns the ports of pixels that pass when both sides want it."""
    return [
        *pixel_ports(prefix, bits, is_input=is_input),
        Port(f"{prefix}_ready", 1, not is_input),
    ]


CLOCK = [Port("clk", 1), Port("reset", 1)]


def register(bits: int, name: str) -> str:
    return f"  reg {vector(bits)} {name};\n" if bits > 1 else f"  reg {name};\n"


def wire(bits: int, name: str, value: str) -> str:
    """Returns the text of a vector, also of one bit: others take bits of it."""
    return f"  wire {vector(bits)} {name} = {value};\n"


def flag(name: str, value: str) -> str:
    return f"  wire {name} = {value};\n"


def counted_cycles(fold: int) -> tuple[str, str]:
    """Returns the text that counts the cycles of a pixel, and what is 1 in the last one.

    The module has the clock `clk`, `reset`, and in_valid, which is 1 in all cycles of a pixel.
    """
    if fold == 1:
        return "", "1'b1"
    bits = bits_for(fold - 1)
    text = register(bits, "cycle") + flag("last_cycle", f"cycle == {bits}'d{fold - 1}")
    return (
        text + f"  always @(posedge clk) if (reset) cycle <= {bits}'d0;\n"
        f"    else if (in_valid) cycle <= last_cycle ? {bits}'d0 : cycle + {bits}'d1;\n"
    ), "last_cycle"


def delayed(
    name: str, bits: int, source: str, stages: int, *, resets: bool = False
) -> tuple[str, str]:
    """Returns the text of a value that comes so many stages later, and its name.

    The module has the clock `clk`. If it resets, it is 0 after a reset.
    """
    text, last = "", source
    for stage in range(1, stages + 1):
        at = f"{name}_{stage}"
        text += register(bits, at)
        moves = f"{at} <= {last};\n"
        if resets:
            moves = f"if (reset) {at} <= {bits}'b0;\n    else {moves}"
        text += f"  always @(posedge clk) {moves}"
        last = at
    return text, last
