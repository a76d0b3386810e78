"""Modules of layers without weights: pools, signs, sums of two streams, and concatenations."""

import math
from collections.abc import Sequence

from larq_engine.fpga.layers import Pool, Sum, ToSigns
from larq_engine.fpga.multiplication import MULTIPLICATION_STAGES, multiplied
from larq_engine.fpga.text import (
    CLOCK,
    Module,
    Port,
    bits_for,
    counted_cycles,
    delayed,
    flag,
    joined,
    module,
    number,
    pixel_ports,
    register,
    signed,
    signed_bits,
    stream_ports,
    vector,
    wire,
)

# A comparison with limits has one register.
SIGN_STAGES = 1

# A sum registers its values, the products, the sum of both, that with a constant, and the pixel.
SUM_STAGES = 4 + MULTIPLICATION_STAGES


def sign_pool_module(name: str, layer: Pool) -> Module:
    """Returns the module that makes a window's maxima: -1 only if all are -1."""
    channels, taps = layer.source.channels, layer.window.taps
    terms = [f"in_data[{tap * channels + channels - 1}:{tap * channels}]" for tap in range(taps)]
    body = f"  assign out_data = {' & '.join(terms)};\n  assign out_valid = in_valid;\n"
    ports = [
        *pixel_ports("in", taps * channels, is_input=True),
        *pixel_ports("out", channels, is_input=False),
    ]
    return module(name, f"Maxima of {taps} pixels of {channels} signs.", ports, body)


def signs_module(name: str, layer: ToSigns) -> Module:
    """Returns the module that compares integers with a limit of each channel, in one stage."""
    channels, bits = layer.source.channels, layer.source.bits
    # A limit may be one above the greatest value.
    wide = bits + 1
    limits, falls = 0, 0
    for channel in range(channels):
        limits |= (int(layer.limits[channel]) & ((1 << wide) - 1)) << (wide * channel)
        falls |= int(layer.falls[channel]) << channel
    body = wire(wide * channels, "limits", number(wide * channels, limits))
    body += wire(channels, "falls", number(channels, falls))
    sign = f"in_data[{bits} * i + {bits - 1}]"
    body += f"""\
  reg {vector(channels)} signs;
  genvar i;
  generate for (i = 0; i < {channels}; i = i + 1) begin : of_channel
    wire signed {vector(wide)} value = {{{sign}, in_data[{bits} * i +: {bits}]}};
    wire signed {vector(wide)} limit = limits[{wide} * i +: {wide}];
    always @(posedge clk) signs[i] <= (value < limit) ^ falls[i];
  end endgenerate
  assign out_data = signs;
"""
    text, valid = delayed("valid", 1, "in_valid", SIGN_STAGES, resets=True)
    body += f"{text}  assign out_valid = {valid};\n"
    ports = [
        *CLOCK,
        *pixel_ports("in", layer.source.pixel_bits, is_input=True),
        *pixel_ports("out", channels, is_input=False),
    ]
    return module(name, f"Signs of {channels} integers of {bits} bits.", ports, body)


def byte_pool_module(name: str, layer: Pool) -> Module:
    """Returns the module that makes a window's maxima of integers, as a tree in stages."""
    channels, bits, taps = layer.source.channels, layer.source.bits, layer.window.taps
    falls = sum(1 << channel for channel, fall in enumerate(layer.falls) if fall)
    body = wire(channels, "falls", number(channels, falls)) if taps > 1 else ""
    body += "  genvar i;\n"
    values = [(f"in_data[{tap * channels * bits} + {bits} * i +: {bits}]") for tap in range(taps)]
    stages = 0
    while len(values) > 1 or stages == 0:
        made = []
        for n in range(0, len(values), 2):
            kept = f"max_{stages}_{n // 2}"
            body += f"  reg {vector(channels * bits)} {kept};\n"
            body += f"  generate for (i = 0; i < {channels}; i = i + 1) begin : of_{kept}\n"
            body += f"    wire signed {vector(bits)} a = {values[n]};\n"
            value = "a"
            if n + 1 < len(values):
                body += f"    wire signed {vector(bits)} b = {values[n + 1]};\n"
                value = "(a > b) ^ falls[i] ? a : b"
            place = f"{kept}[{bits} * i +: {bits}]"
            body += f"    always @(posedge clk) {place} <= {value};\n"
            body += "  end endgenerate\n"
            made.append(f"{kept}[{bits} * i +: {bits}]")
        values = made
        stages += 1
    text, valid = delayed("valid", 1, "in_valid", stages, resets=True)
    body += text + f"  assign out_valid = {valid};\n"
    result = "value"
    if layer.highest is not None:
        limit = signed(bits, layer.highest)
        result = f"value > {limit} ? {limit} : value"
    body += f"  generate for (i = 0; i < {channels}; i = i + 1) begin : of_output\n"
    body += f"    wire signed {vector(bits)} value = {values[0]};\n"
    body += f"    assign out_data[{bits} * i +: {bits}] = {result};\n  end endgenerate\n"
    ports = [
        *CLOCK,
        *pixel_ports("in", taps * layer.source.pixel_bits, is_input=True),
        *pixel_ports("out", layer.target.pixel_bits, is_input=False),
    ]
    about = f"Maxima of {taps} pixels of {channels} integers of {bits} bits."
    return module(name, about, ports, body)


def join_module(name: str, bits: Sequence[int]) -> Module:
    """Returns the module that joins the channels of streams of so many bits a pixel."""
    inputs = [f"in{n}" for n in range(len(bits))]
    body = flag("take", " && ".join(["out_room", *(f"{name}_valid" for name in inputs)]))
    body += "".join(f"  assign {name}_ready = take;\n" for name in inputs)
    body += "  assign out_valid = take;\n"
    body += f"  assign out_data = {joined([f'{name}_data' for name in inputs])};\n"
    ports = [
        port
        for name, size in zip(inputs, bits, strict=True)
        for port in stream_ports(name, size, is_input=True)
    ]
    ports += [*pixel_ports("out", sum(bits), is_input=False), Port("out_room", 1)]
    return module(name, f"Pixels of {len(bits)} streams side by side.", ports, body)


def sum_module(name: str, layer: Sum, fold: int) -> Module:
    """Returns the module that adds two streams, channel by channel, in `fold` cycles a pixel."""
    bits, channels = layer.target.bits, layer.target.channels
    lanes = math.ceil(channels / fold)
    counting, last = counted_cycles(fold)
    body = "  wire in_valid;\n" + counting
    begins = "a_valid && b_valid && out_room"
    if fold == 1:
        body += flag("take", begins) + "  assign in_valid = take;\n"
    else:
        # Both queues are far away, and so is the one behind: a cycle goes by before a pixel begins.
        rests = f"cycle == {bits_for(fold - 1)}'d0"
        body += register(1, "take")
        body += "  always @(posedge clk) if (reset) take <= 1'b0;\n"
        body += f"    else take <= {begins} && (last_cycle || ({rests} && !take));\n"
        body += f"  assign in_valid = take || !({rests});\n"
    body += "  assign a_ready = take;\n  assign b_ready = take;\n"
    # The zero point is added before the shift, shifted up, which saves an adder.
    start = layer.start + (layer.zero_point << layer.shift)
    most = sum(abs(by) << (bits - 1) for by in (layer.of_a, layer.of_b)) + abs(start)
    total = max(signed_bits((most, -most)), layer.shift + bits + 2)
    kept = total - layer.shift
    stages = SUM_STAGES - 1
    text, valid = delayed("valid", 1, "in_valid", stages, resets=True)
    body += text
    if fold > 1:
        text, last = delayed("last", 1, last, stages)
        body += text
    parts = []
    for lane in range(lanes):
        used = min(fold, channels - lane * fold)
        for operand, by in (("a", layer.of_a), ("b", layer.of_b)):
            value = f"{operand}_{lane}"
            first, end = lane * fold * bits, (lane * fold + used) * bits
            taken = f"{operand}_data[{end - 1}:{first}]"
            if used > 1:
                kept_pixel = f"{operand}_pixel_{lane}"
                body += f"  reg {vector(used * bits)} {kept_pixel};\n"
                rest = f"{{{bits}'d0, {kept_pixel}[{used * bits - 1}:{bits}]}}"
                body += f"  always @(posedge clk) {kept_pixel} <= take ? {taken} : {rest};\n"
                body += f"  wire signed {vector(bits)} {value} = {kept_pixel}[{bits - 1}:0];\n"
            else:
                body += f"  reg signed {vector(bits)} {value};\n"
                body += f"  always @(posedge clk) if (take) {value} <= {taken};\n"
            by_bits = signed_bits([by])
            body += wire(by_bits, f"by_{value}", number(by_bits, by))
            body += multiplied(value, (value, bits), (f"by_{value}", by_bits), total)
        body += (
            f"  reg signed {vector(total)} sum_{lane};\n"
            f"  always @(posedge clk) sum_{lane} <= product_a_{lane} + product_b_{lane};\n"
            f"  reg signed {vector(total)} total_{lane};\n"
            f"  always @(posedge clk) total_{lane} <= sum_{lane} + {signed(total, start)};\n"
            f"  wire unused_total_{lane} = &{{1'b0, total_{lane}[{layer.shift - 1}:0]}};\n"
            f"  wire signed {vector(kept)} moved_{lane} = "
            f"total_{lane}[{total - 1}:{layer.shift}];\n"
            f"  wire signed {vector(kept)} result_{lane} = moved_{lane} < "
            f"{signed(kept, layer.lowest)} ? {signed(kept, layer.lowest)} : (moved_{lane} > "
            f"{signed(kept, layer.highest)} ? {signed(kept, layer.highest)} : moved_{lane});\n"
            f"  wire unused_result_{lane} = &{{1'b0, result_{lane}[{kept - 1}:{bits}]}};\n"
            f"  reg {vector(fold * bits)} pixel_{lane};\n"
        )
        result = f"result_{lane}[{bits - 1}:0]"
        if fold > 1:
            result = f"{{{result}, pixel_{lane}[{fold * bits - 1}:{bits}]}}"
        body += f"  always @(posedge clk) if ({valid}) pixel_{lane} <= {result};\n"
        whole = used == fold
        parts.append(f"pixel_{lane}" if whole else f"pixel_{lane}[{used * bits - 1}:0]")
    ending = f" && {last}" if fold > 1 else ""
    body += (
        "  reg has_pixel;\n  always @(posedge clk) if (reset) has_pixel <= 1'b0;\n"
        f"    else has_pixel <= {valid}{ending};\n"
        "  assign out_valid = has_pixel;\n"
        f"  assign out_data = {joined(parts)};\n"
    )
    ports = [
        *CLOCK,
        *stream_ports("a", layer.source.pixel_bits, is_input=True),
        *stream_ports("b", layer.source.pixel_bits, is_input=True),
        *pixel_ports("out", layer.target.pixel_bits, is_input=False),
        Port("out_room", 1),
    ]
    return module(name, f"Sums of {channels} pairs of integers in {fold} cycles.", ports, body)
