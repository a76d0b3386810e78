"""Multiplications by numbers of any width, on a chip whose multipliers take 18 bits."""

import math

from larq_engine.fpga.text import vector, widened

# A multiplier of an ECP5 takes factors of 18 bits with a sign. Parts of wider ones have no sign, so
# they have 17.
_FACTOR_BITS = 17

# Registers from the factors to the product: the parts' products, and their sum.
MULTIPLICATION_STAGES = 2


def multipliers_for(bits: int) -> int:
    """Returns how many of the chip's multipliers a factor of so many bits takes."""
    return math.ceil(bits / _FACTOR_BITS)


def multiplied(label: str, value: tuple[str, int], by: tuple[str, int], bits: int) -> str:
    """Returns the text of `product_<label>`, of `bits`, which comes two stages after its factors.

    Args:
        label: Ends the names that the text declares.
        value: The name of the first factor, of at most 18 bits with its sign, and its bits.
        by: Those of the second one, with its sign; it is cut into parts.
        bits: Enough for the product and for each factor.
    """
    value_name, value_bits = value
    by_name, by_bits = by
    text = ""
    # Yosys trims a factor's copies of its sign only if both factors are signed. Otherwise it takes
    # several multipliers for them, and adds up what they make in the same cycle.
    factor = extended(value_name, value_bits, bits)
    parts: list[str] = []
    for first in range(0, by_bits, _FACTOR_BITS):
        kept = min(by_bits, first + _FACTOR_BITS) - first
        part = f"{by_name}[{first + kept - 1}:{first}]"
        if first + kept < by_bits:
            wide = widened(part, kept, bits)
        else:
            sign = f"{by_name}[{by_bits - 1}]"
            wide = part if kept == bits else f"{{{{{bits - kept}{{{sign}}}}}, {part}}}"
        name = f"part_{label}_{len(parts)}"
        text += (
            f"  reg signed {vector(bits)} {name};\n"
            f"  always @(posedge clk) {name} <= $signed({factor}) * $signed({wide});\n"
        )
        parts.append(name if first == 0 else f"({name} <<< {first})")
    return text + (
        f"  reg signed {vector(bits)} product_{label};\n"
        f"  always @(posedge clk) product_{label} <= {' + '.join(parts)};\n"
    )


def extended(name: str, bits: int, to: int) -> str:
    """Returns a signed number with its sign before it."""
    return name if bits == to else f"{{{{{to - bits}{{{name}[{bits - 1}]}}}}, {name}}}"
