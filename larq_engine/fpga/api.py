"""Exports binary layers as a folder of Verilog: `export_verilog`."""

import hashlib
import operator
import os
import re
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

from larq_engine.exporting.exported_graph import check_with_engine, made_of_operators, single_graph
from larq_engine.fpga.around import describe_around, models_around
from larq_engine.fpga.board import board_text, constraints
from larq_engine.fpga.chips import CHIPS, network_area
from larq_engine.fpga.device import device_file
from larq_engine.fpga.folder import files_of_earlier, makefile, mark, readme
from larq_engine.fpga.folds import choose_folds, set_folds
from larq_engine.fpga.network_modules import network_modules
from larq_engine.fpga.reference import sample
from larq_engine.fpga.report import describe
from larq_engine.fpga.runs import choose_run
from larq_engine.fpga.testbench import testbench
from larq_engine.fpga.timing import image_cycles
from larq_engine.python.model_file import ModelSource, read_model
from larq_engine.python.whole_files import write_export

# Characters of a wrong argument in an error.
_SHOWN = 80

# Images of the test bench.
_IMAGES = 4

# Names of modules begin so; what follows makes each a name that no keyword of Verilog is.
_PREFIX = re.compile(r"[a-z][a-z0-9_]{0,62}", re.IGNORECASE)
_SPAN = re.compile(r"(\d{1,9}):(\d{1,9})", re.ASCII)

# MHz that the board's PLL makes, within reason for these chips.
_CLOCKS = (10, 400)

# More than any board of such a chip takes.
_MOST_WATTS = 1000


@dataclass(frozen=True)
class ExportedVerilog:
    """The files of a folder, and what the network takes.

    Attributes:
        files: Content of each file by its name.
        cycles: Clock cycles between two images.
        image_cycles: Clock cycles of one image, from its first pixel to the last of its result.
        luts: Tables of 4 inputs (LUTs) that the network takes of the chip, estimated.
        report: A table of the layers, as text.
        prefix: Begins the names of all modules.
    """

    files: dict[str, bytes]
    cycles: int
    image_cycles: int
    luts: int
    report: str
    prefix: str

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes all files, or none; makes the folder if it is not there.

        Modules and models of an earlier export to this folder, which this one does not have, go.

        Raises:
            ValueError: A file of such a name is there already that no export has written.
            OSError: It fails; the error names the file.
        """
        path = Path(folder)
        earlier = files_of_earlier(path)
        write_export(path, self.files, mark(self.prefix))
        for name in earlier - set(self.files):
            (path / name).unlink(missing_ok=True)

    def __repr__(self) -> str:
        return (
            f"<ExportedVerilog of {len(self.files)} files, an image every {self.cycles} "
            f"cycles, about {self.luts} LUTs>"
        )


def export_verilog(
    model: ModelSource,
    *,
    layers: str | None = None,
    target: str = "ecp5-85k",
    clock: int = 100,
    fold: str | int = "auto",
    area: float = 0.6,
    watts: float | None = None,
    prefix: str = "model",
) -> ExportedVerilog:
    """Returns binary layers of a model as synthesizable Verilog-2005: a pipeline of pixels.

    Args:
        model: The content of a .tflite file, or its path.
        layers: "a:b", the operators a to b - 1 as `larq-engine inspect` counts them; the run with
            the most binary products if not given.
        target: The chip: "ecp5-25k", "ecp5-45k" or "ecp5-85k".
        clock: MHz, for the constraints and the report.
        fold: Cycles in which each layer computes a pixel; "auto" takes the fewest with which all
            layers fit the chip.
        area: The share of the chip's LUTs that "auto" may take.
        watts: What the chip takes while it runs these layers, as measured or as its maker's
            calculator says. Then the device file has joules, and `place` can look for the least.
        prefix: Begins the names of all modules and files.

    Raises:
        ValueError: Hardware does not have a layer, the chip is too small, or an argument is wrong.
        FileNotFoundError: There is no such file.
    """
    span = _checked_span(layers)
    if target not in CHIPS:
        raise ValueError(f"target: expected one of {', '.join(CHIPS)}, got {target!r}")
    chip = CHIPS[target]
    megahertz = _whole("clock", clock, *_CLOCKS)
    if not (_is_number(area) and 0 < area <= 1):
        raise ValueError(f"area: expected a share from 0 to 1, such as 0.6, got {area!r}")
    if watts is not None and not (_is_number(watts) and 0 < watts <= _MOST_WATTS):
        raise ValueError(f"watts: expected a number above 0, up to {_MOST_WATTS}, got {watts!r}")
    if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
        raise ValueError(
            f"prefix: expected a letter, and then up to 62 letters, digits and underscores, got "
            f"{prefix!r}"
        )
    content = read_model(model)
    check_with_engine(content)
    graph = single_graph(content)
    run = made_of_operators(lambda: choose_run(graph, span))
    if fold == "auto":
        choose_folds(run.network, chip, area)
    else:
        set_folds(run.network, _whole("fold", fold, 1, 2**16))
    from larq_engine import __version__

    network = run.network
    report = "\n".join([describe(network, chip, megahertz), *describe_around(run, graph.ops)])
    sent, made = sample(content, run, _IMAGES, seed=1)
    texts = {f"{module.name}.v": module.text for module in network_modules(network, prefix)}
    files = {
        **texts,
        "Makefile": makefile(prefix, list(texts), chip, megahertz),
        f"{prefix}_tb.v": testbench(network, prefix, _IMAGES),
        f"{prefix}_ulx3s.v": board_text(network, prefix, _IMAGES, megahertz),
        "ulx3s.lpf": constraints(),
        "input.hex": "".join(f"{pixel:x}\n" for pixel in sent),
        "expected.hex": "".join(f"{pixel:x}\n" for pixel in made),
        "device.json": device_file(
            run, chip, megahertz, area, watts, hashlib.sha256(content).hexdigest()
        ),
        "README.md": readme(network, prefix, _IMAGES, chip, megahertz, report, __version__),
    }
    content_of = {name: text.encode() for name, text in files.items()}
    content_of |= models_around(content, run)
    return ExportedVerilog(
        content_of,
        network.cycles,
        image_cycles(network),
        network_area(network).luts,
        report,
        prefix,
    )


def _checked_span(layers: Any) -> tuple[int, int] | None:
    if layers is None:
        return None
    found = _SPAN.fullmatch(layers) if isinstance(layers, str) else None
    if found is None:
        raise ValueError(
            f"layers: expected a range of operators, such as '2:5', got {repr(layers)[:_SHOWN]}"
        )
    return int(found[1]), int(found[2])


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _whole(name: str, value: Any, least: int, most: int) -> int:
    try:
        found = int(value) if isinstance(value, str) else operator.index(value)
    except (TypeError, ValueError):
        found = None
    if found is None or isinstance(value, bool) or not least <= found <= most:
        also = " or 'auto'" if name == "fold" else ""
        raise ValueError(
            f"{name}: expected a whole number from {least} to {most}{also}, got "
            f"{repr(value)[:_SHOWN]}"
        )
    return found
