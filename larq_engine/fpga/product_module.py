"""The module of a convolution or dense layer: lanes that count ones, and what is made of them.

A pixel of the output takes `fold` cycles. Lane l computes the channels from l * fold on, one a
cycle, so that its results are neighbours, and its channels are of one group.
"""

import math
from dataclasses import dataclass

import numpy as np

from larq_engine.converter.graph import Array
from larq_engine.fpga.count_module import count_latency
from larq_engine.fpga.layers import Bytes, Dots, Product, Signs
from larq_engine.fpga.multiplication import MULTIPLICATION_STAGES, extended, multiplied
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
    vector,
    widened,
    wire,
)
from larq_engine.fpga.window_module import class_bits

# Tables of up to so many words are logic, larger ones are in block memory: 16 words are the inputs
# of one table of the chip.
MOST_IN_LOGIC = 16


@dataclass(frozen=True)
class Lanes:
    """Lanes, which compute the channels of a layer."""

    layer: Product
    fold: int

    @property
    def per_group(self) -> int:
        return math.ceil(self.layer.target.channels // self.layer.groups / self.fold)

    @property
    def count(self) -> int:
        return self.per_group * self.layer.groups

    @property
    def words(self) -> int:
        """Words of weights: a cycle reads one."""
        return self.fold * self.layer.beats

    @property
    def lane_bits(self) -> int:
        return self.layer.taps * self.layer.weight_planes

    def channels(self, lane: int) -> range:
        first = lane * self.fold
        return range(first, min(first + self.fold, self.layer.target.channels))

    def group(self, lane: int) -> int:
        return lane // self.per_group


def product_modules(name: str, prefix: str, layer: Product, fold: int) -> list[Module]:
    """Returns the module of a layer, and that of its weights if it reads them word by word."""
    lanes = Lanes(layer, fold)
    writer = _Writer(name, prefix, lanes)
    modules = [writer.module()]
    if lanes.words > 1:
        modules.append(_weights_module(f"{name}_weights", lanes))
    return modules


def product_stages(lanes: Lanes) -> int:
    """Returns the stages from a window's last cycle to its pixel: those that _Writer makes."""
    layer = lanes.layer
    stages = table_stages(lanes.words) + count_latency(layer.taps) + 1
    stages += (not layer.is_plain) + (layer.beats > 1)
    return stages + {Signs: 0, Dots: 1, Bytes: 3 + MULTIPLICATION_STAGES}[type(layer.end)]


# ---- weights -------------------------------------------------------------------------------------


def _words(lanes: Lanes) -> list[int]:
    """Returns the words of weights [beat * fold + cycle], with the lowest bits for lane 0."""
    layer = lanes.layer
    words = []
    for beat in range(layer.beats):
        # [channel, plane, value under the filter]
        bits = layer.weights[:, beat].reshape(layer.target.channels, layer.taps, -1)
        rows = np.ascontiguousarray(bits.swapaxes(1, 2)).reshape(layer.target.channels, -1)
        for cycle in range(lanes.fold):
            picked = np.zeros((lanes.count, rows.shape[1]), bool)
            for lane in range(lanes.count):
                channels = lanes.channels(lane)
                if cycle < len(channels):
                    picked[lane] = rows[channels[cycle]]
            packed = np.packbits(picked.reshape(-1), bitorder="little")
            words.append(int.from_bytes(packed.tobytes(), "little"))
    return words


def _weights_module(name: str, lanes: Lanes) -> Module:
    size, depth = lanes.count * lanes.lane_bits, lanes.words
    place = bits_for(depth - 1)
    ports = [
        Port("clk", 1),
        Port("place", place),
        Port("word", size, is_input=False),
    ]
    about = f"Weights of {lanes.count} lanes: {depth} words of {size} bits."
    return module(name, about, ports, _table("word", "place", _words(lanes), size, place))


def table_stages(words: int) -> int:
    """Returns the stages of a table.

    A block of memory takes 5.6 ns of an ECP5 to read, which leaves too little for an addition.
    """
    return 1 if words <= MOST_IN_LOGIC else 2


def _table(name: str, place: str, words: list[int], size: int, places: int) -> str:
    """Returns the text of a table whose word comes `table_stages` cycles after its place."""
    text = f"  reg {vector(size)} found;\n"
    if len(words) <= MOST_IN_LOGIC:
        text += f"  always @(posedge clk) begin\n    case ({place})\n"
        for at, word in enumerate(words[:-1]):
            text += f"      {places}'d{at}: found <= {number(size, word)};\n"
        text += f"      default: found <= {number(size, words[-1])};\n    endcase\n  end\n"
    else:
        text += '  (* ram_style = "block", rom_style = "block" *)\n'
        text += f"  reg {vector(size)} words [0:{len(words) - 1}];\n  initial begin\n"
        for at, word in enumerate(words):
            text += f"    words[{at}] = {number(size, word)};\n"
        text += f"  end\n  reg {vector(size)} read;\n"
        text += f"  always @(posedge clk) read <= words[{place}];\n"
        text += "  always @(posedge clk) found <= read;\n"
    return text + f"  assign {name} = found;\n"


# ---- the layer -----------------------------------------------------------------------------------


class _Writer:
    """Writes a layer's module, stage by stage: `stage` counts the registers passed."""

    def __init__(self, name: str, prefix: str, lanes: Lanes) -> None:
        self.name, self.prefix, self.lanes, self.layer = name, prefix, lanes, lanes.layer
        self.class_bits = 0
        if self.layer.has_classes:
            self.class_bits = class_bits((self.layer.row_classes, self.layer.column_classes))
        self.window_bits = self.layer.window.taps * self.layer.source.pixel_bits
        self.text = ""
        self.stage = 0

    def module(self) -> Module:
        layer, lanes = self.layer, self.lanes
        self._control()
        self._taps()
        sums = self._ones()
        sums = self._accumulated(sums)
        if isinstance(layer.end, Signs):
            results = self._signs(layer.end, sums)
        elif isinstance(layer.end, Dots):
            results = self._limited(self._dots(layer.end, sums), layer.end)[0]
        else:
            results = self._bytes(layer.end, sums)
        self._output(results)
        ports = [*CLOCK, *pixel_ports("in", self.window_bits, is_input=True)]
        if self.class_bits:
            ports.append(Port("in_class", self.class_bits))
        ports += pixel_ports("out", layer.target.pixel_bits, is_input=False)
        about = (
            f"{lanes.count} lanes of {layer.taps * layer.planes} products of bits make "
            f"{layer.target.channels} channels in {lanes.fold} cycles."
        )
        return module(self.name, about, ports, self.text)

    def _control(self) -> None:
        """Counts the cycles of a pixel, and the beats of a sum."""
        fold, beats = self.lanes.fold, self.layer.beats
        text, last = counted_cycles(fold)
        if beats > 1:
            bits = bits_for(self.lanes.words - 1)
            text += register(bits, "place")
            text += (
                f"  always @(posedge clk) if (reset) place <= {bits}'d0;\n"
                f"    else if (in_valid) place <= place == {bits}'d"
                f"{self.lanes.words - 1} ? {bits}'d0 : place + {bits}'d1;\n"
            )
            text += flag("first_beat", f"place < {bits}'d{fold}")
            text += flag("last_beat", f"place >= {bits}'d{fold * (beats - 1)}")
        self.text += text
        self.is_last = last
        self.place = "place" if beats > 1 else "cycle"

    def _taps(self) -> None:
        """Registers the window beside the word of weights that comes after its place."""
        layer, lanes = self.layer, self.lanes
        self.stage = table_stages(lanes.words)
        text, taps = delayed("taps", self.window_bits, "in_data", self.stage)
        self.text += text
        bits, values = layer.source.bits, layer.window.taps * layer.source.channels
        per_group = layer.source.channels // layer.groups
        for plane in range(bits):
            name = f"values_{plane}" if layer.groups == 1 else f"all_values_{plane}"
            if bits == 1:
                self.text += wire(values, name, taps)
            else:
                # A plane's bit is 0 for -1.
                self.text += (
                    f"  wire {vector(values)} {name};\n"
                    f"  genvar v_{plane};\n"
                    f"  generate for (v_{plane} = 0; v_{plane} < {values}; "
                    f"v_{plane} = v_{plane} + 1) begin : of_plane_{plane}\n"
                    f"    assign {name}[v_{plane}] = !{taps}[{bits} * v_{plane} + {plane}];\n"
                    "  end endgenerate\n"
                )
            for group in range(layer.groups if layer.groups > 1 else 0):
                first = group * per_group
                parts = [
                    f"{name}[{tap * layer.source.channels + first + per_group - 1}:"
                    f"{tap * layer.source.channels + first}]"
                    for tap in range(layer.window.taps)
                ]
                self.text += wire(layer.taps, f"values_{plane}_{group}", joined(parts))
        size = lanes.count * lanes.lane_bits
        if lanes.words > 1:
            self.text += (
                f"  wire {vector(size)} weights;\n"
                f"  {self.name}_weights table_of_weights (\n    .clk(clk), "
                f".place({self.place}), .word(weights)\n  );\n"
            )
        else:
            self.text += wire(size, "weights", number(size, _words(lanes)[0]))

    def _ones(self) -> list[str]:
        """Counts the products that are -1; returns the sum of each lane, of `self.sum_bits`."""
        layer, lanes = self.layer, self.lanes
        taps = layer.taps
        size = bits_for(taps)
        self.sum_bits = bits_for(taps * layer.worth)
        sums = []
        for lane in range(lanes.count):
            group = f"_{lanes.group(lane)}" if layer.groups > 1 else ""
            terms = []
            for i in range(layer.source.bits):
                for j in range(layer.weight_planes):
                    first = lane * lanes.lane_bits + j * taps
                    name = f"ones_{lane}_{i}_{j}"
                    self.text += (
                        f"  wire {vector(size)} {name};\n"
                        f"  {self.prefix}_count_{taps} count_{lane}_{i}_{j} (\n"
                        f"    .clk(clk), .out_count({name}),\n"
                        f"    .in_bits(values_{i}{group} ^ weights[{first + taps - 1}:{first}])\n"
                        "  );\n"
                    )
                    shifted = name if i + j == 0 else f"{{{name}, {i + j}'b0}}"
                    terms.append(widened(shifted, size + i + j, self.sum_bits))
            if len(terms) == 1:
                sums.append(f"ones_{lane}_0_0")
                continue
            self.text += register(self.sum_bits, f"sum_{lane}")
            self.text += f"  always @(posedge clk) sum_{lane} <= {' + '.join(terms)};\n"
            sums.append(f"sum_{lane}")
        self.stage += count_latency(taps) + (0 if layer.is_plain else 1)
        return sums

    def _accumulated(self, sums: list[str]) -> list[str]:
        """Adds the sums of all beats."""
        layer, fold = self.layer, self.lanes.fold
        if layer.beats == 1:
            return sums
        text, valid = delayed("beat_valid", 1, "in_valid", self.stage, resets=True)
        self.text += text
        text, first = delayed("first", 1, "first_beat", self.stage)
        self.text += text
        size = bits_for(layer.most_ones)
        for lane, name in enumerate(sums):
            total = f"total_{lane}"
            self.text += f"  reg {vector(fold * size)} {total};\n"
            before = f"({first} ? {size}'d0 : {total}[{size - 1}:0])"
            added = widened(name, self.sum_bits, size)
            self.text += wire(size, f"new_{total}", f"{before} + {added}")
            shifted = f"new_{total}"
            if fold > 1:
                shifted = f"{{new_{total}, {total}[{fold * size - 1}:{size}]}}"
            self.text += f"  always @(posedge clk) if ({valid}) {total} <= {shifted};\n"
        self.stage += 1
        self.sum_bits = size
        return [f"total_{n}[{fold * size - 1}:{(fold - 1) * size}]" for n in range(len(sums))]

    # ---- ends ------------------------------------------------------------------------------------

    def _numbers(self, name: str, values: Array, bits: int) -> list[str]:
        """Returns numbers for each lane, beside what the stage has: [class or 0, channel]."""
        lanes, layer, fold = self.lanes, self.layer, self.lanes.fold
        class_bits = self.class_bits if len(values) > 1 else 0
        if fold == 1 and not class_bits:
            constants = [
                number(bits, values[0][lanes.channels(lane)[0]]) for lane in range(lanes.count)
            ]
            for lane, constant in enumerate(constants):
                self.text += wire(bits, f"{name}_{lane}", constant)
            return [f"{name}_{lane}" for lane in range(lanes.count)]
        cycle_bits = bits_for(fold - 1) if fold > 1 else 0
        place_bits = class_bits + cycle_bits
        source = joined(([] if fold == 1 else ["cycle"]) + (["in_class"] if class_bits else []))
        stages = table_stages(fold * len(values))
        text, place = delayed(f"place_of_{name}", place_bits, source, self.stage - stages)
        rows = len(set(layer.row_classes)) if class_bits else 1
        columns = len(values) // rows
        column_bits = bits_for(max(layer.column_classes))
        size = bits * lanes.count
        read = name if stages == 1 else f"{name}_read"
        text += f"  reg {vector(size)} {read};\n"
        text += f"  always @(posedge clk) begin\n    case ({place})\n"
        last = number(size, 0)
        for row in range(rows):
            for column in range(columns):
                for cycle in range(fold):
                    word = 0
                    for lane in range(lanes.count):
                        channels = lanes.channels(lane)
                        if cycle < len(channels):
                            value = int(values[row * columns + column][channels[cycle]])
                            word |= (value & ((1 << bits) - 1)) << (bits * lane)
                    at = cycle
                    if class_bits:
                        at |= (row << column_bits | column) << cycle_bits
                    text += f"      {place_bits}'d{at}: {read} <= {number(size, word)};\n"
        text += f"      default: {read} <= {last};\n    endcase\n  end\n"
        if stages > 1:
            text += f"  reg {vector(size)} {name};\n  always @(posedge clk) {name} <= {read};\n"
        self.text += text
        return [f"{name}[{bits * lane + bits - 1}:{bits * lane}]" for lane in range(lanes.count)]

    def _signs(self, end: Signs, sums: list[str]) -> list[str]:
        size = bits_for(int(max(end.least.max(), self.layer.most_ones)))
        least = self._numbers("least", end.least, size)
        is_fixed = self.lanes.fold == 1 and not self.class_bits
        results = []
        for lane, (total, limit) in enumerate(zip(sums, least, strict=True)):
            test = f"{widened(total, self.sum_bits, size)} >= {limit}"
            known = int(end.least[0, lane]) if is_fixed else 1
            if known == 0 or known > self.layer.most_ones:
                test = "1'b1" if known == 0 else "1'b0"
                self.text += flag(f"unused_{lane}", f"&{{1'b0, {total}, {limit}}}")
            self.text += flag(f"result_{lane}", test)
            results.append(f"result_{lane}")
        return results

    def _dots(self, end: Dots, sums: list[str]) -> list[str]:
        """Makes signed dot products, registered, of `self.dot_bits`."""
        # A dot product fits, so it is right whatever its parts lose above these bits.
        self.dot_bits = signed_bits((-self.layer.most_ones, self.layer.most_ones))
        base = self._numbers("base", end.base, self.dot_bits)
        for lane, (total, first) in enumerate(zip(sums, base, strict=True)):
            twice = widened(f"{{{total}, 1'b0}}", self.sum_bits + 1, self.dot_bits)
            self.text += f"  reg signed {vector(self.dot_bits)} dot_{lane};\n"
            self.text += f"  always @(posedge clk) dot_{lane} <= {first} - {twice};\n"
        self.stage += 1
        return [f"dot_{lane}" for lane in range(len(sums))]

    def _limited(self, values: list[str], end: Dots) -> tuple[list[str], int]:
        """Limits dot products, and returns their names and bits."""
        size = signed_bits((end.lowest, end.highest))
        names = []
        for value in values:
            text = _clamped(value, self.dot_bits, end.lowest, end.highest, self.layer.most_ones)
            self.text += f"  wire signed {vector(self.dot_bits)} limited_{value} = {text};\n"
            target = self.layer.target.bits if isinstance(self.layer.end, Dots) else size
            low = f"limited_{value}[{target - 1}:0]"
            if self.dot_bits > target:
                unused = f"limited_{value}[{self.dot_bits - 1}:{target}]"
                self.text += f"  wire unused_{value} = &{{1'b0, {unused}}};\n"
            names.append(low if target < self.dot_bits else f"limited_{value}")
        return names, size

    def _bytes(self, end: Bytes, sums: list[str]) -> list[str]:
        dots = self._dots(end.dots, sums)
        by_bits = signed_bits(end.multiplier)
        multipliers = self._numbers("multiplier", end.multiplier[None], by_bits)
        dots, size = self._limited(dots, end.dots)
        most = int((abs(end.multiplier) * max(abs(end.dots.lowest), abs(end.dots.highest))).max())
        product_bits = max(signed_bits((most, -most)), size, by_bits)
        total = most + int(abs(end.addend).max())
        total_bits = max(signed_bits((total, -total)), product_bits, end.shift + 9)
        for lane, (dot, multiplier) in enumerate(zip(dots, multipliers, strict=True)):
            self.text += (
                f"  reg signed {vector(size)} factor_{lane};\n"
                f"  reg {vector(by_bits)} by_{lane};\n"
                f"  always @(posedge clk) factor_{lane} <= {dot};\n"
                f"  always @(posedge clk) by_{lane} <= {multiplier};\n"
            )
            factor, by = (f"factor_{lane}", size), (f"by_{lane}", by_bits)
            self.text += multiplied(str(lane), factor, by, product_bits)
        self.stage += 1 + MULTIPLICATION_STAGES
        addends = self._numbers("addend", end.addend[None], total_bits)
        for lane, addend in enumerate(addends):
            self.text += (
                f"  wire signed {vector(total_bits)} added_{lane} = {addend};\n"
                f"  reg signed {vector(total_bits)} scaled_{lane};\n"
                f"  always @(posedge clk) scaled_{lane} <= added_{lane} + "
                f"{extended(f'product_{lane}', product_bits, total_bits)};\n"
            )
        self.stage += 1
        results = []
        kept = total_bits - end.shift
        for lane in range(len(dots)):
            self.text += (
                f"  wire signed {vector(kept)} shifted_{lane} = "
                f"scaled_{lane}[{total_bits - 1}:{end.shift}];\n"
                f"  wire unused_scaled_{lane} = &{{1'b0, scaled_{lane}[{end.shift - 1}:0]}};\n"
                f"  wire signed {vector(kept)} byte_{lane} = "
                f"{_clamped(f'shifted_{lane}', kept, -128, 127, 1 << kept)};\n"
            )
            if kept > 8:
                self.text += f"  wire unused_byte_{lane} = &{{1'b0, byte_{lane}[{kept - 1}:8]}};\n"
            results.append(f"byte_{lane}[7:0]")
        return results

    def _output(self, results: list[str]) -> None:
        """Collects the results of a pixel's cycles."""
        layer, lanes = self.layer, self.lanes
        size = layer.target.bits
        text, valid = delayed("valid", 1, "in_valid", self.stage, resets=True)
        self.text += text
        if layer.beats > 1:
            text, done = delayed("done", 1, "last_beat", self.stage)
            self.text += text
            self.text += flag("has_result", f"{valid} && {done}")
            valid = "has_result"
        last = self.is_last
        if lanes.fold > 1:
            text, last = delayed("last", 1, self.is_last, self.stage)
            self.text += text
        parts = []
        for lane, result in enumerate(results):
            kept = f"pixel_{lane}"
            self.text += f"  reg {vector(lanes.fold * size)} {kept};\n"
            shifted = result
            if lanes.fold > 1:
                shifted = f"{{{result}, {kept}[{lanes.fold * size - 1}:{size}]}}"
            self.text += f"  always @(posedge clk) if ({valid}) {kept} <= {shifted};\n"
            used = len(lanes.channels(lane)) * size
            parts.append(kept if used == lanes.fold * size else f"{kept}[{used - 1}:0]")
        made = valid if lanes.fold == 1 else f"{valid} && {last}"
        self.text += (
            "  reg has_pixel;\n  always @(posedge clk) if (reset) has_pixel <= 1'b0;\n"
            f"    else has_pixel <= {made};\n"
            "  assign out_valid = has_pixel;\n"
            f"  assign out_data = {joined(parts)};\n"
        )


def _clamped(name: str, bits: int, lowest: int, highest: int, most: int) -> str:
    """Returns a signed value, from -most to most, within limits."""
    text = name
    if highest < most:
        text = f"{name} > {signed(bits, highest)} ? {signed(bits, highest)} : {text}"
    if lowest > -most:
        text = f"{name} < {signed(bits, lowest)} ? {signed(bits, lowest)} : ({text})"
    return text
