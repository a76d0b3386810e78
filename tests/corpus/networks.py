"""The forms of published networks through each door, compared with PyTorch.

    .venv-torch/bin/python -m tests.corpus.networks > table.md

Each row is a network and a door: `convert_torch`, both exporters of PyTorch to ONNX, and Brevitas'
exporter to QONNX. A row has the binary layers, the largest difference from the module as PyTorch
runs it (as a share of the largest output), the bytes of the binary layers' weights against their
bits, and the batches and other sizes of image that gave right results.
"""

import argparse
import copy
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

import larq_engine
from larq_engine.converter import rules_binary
from tests.corpus.forms import FORMS, Form
from tests.torch.networks import with_random_statistics

# Accumulated rounding, as a share of the largest output.
TOLERANCE = 1e-4
BATCHES = (1, 2, 9)
# Number of random images. Those are taken whose values stay furthest from where signs flip. No
# layer has this number of filters, so the first dimension tells values from weights.
_NUM_IMAGES = 61


class _Margins(TorchDispatchMode):
    """Measures, for each sample, how near a value comes to where a sign or a rounding changes."""

    _COMPARISONS = ("ge", "gt", "le", "lt")

    def __init__(self, samples: int):
        super().__init__()
        self.found = torch.full((samples,), torch.inf)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        if name in ("sign", "round", *self._COMPARISONS):
            self._measure(name, *args[:2])
        return function(*args, **(kwargs or {}))

    def _measure(self, name: str, x: torch.Tensor, *other: torch.Tensor | float) -> None:
        if not x.is_floating_point() or not x.ndim or x.shape[0] != len(self.found):
            return  # these are weights
        if name == "round":
            distance = (x - torch.floor(x) - 0.5).abs()
        elif name == "sign":
            distance = x.abs()
        else:
            distance = (x - other[0]).abs()
        # A value exactly on an edge, such as a relu's 0, is exact in every host.
        distance = torch.where(distance == 0, torch.inf, distance)
        nearest = distance.reshape(len(distance), -1).amin(1) / x.abs().max()
        self.found = torch.minimum(self.found, nearest)


def draw_images(module: nn.Module, shape: tuple[int, ...], seed: int) -> torch.Tensor:
    """Returns images at which rounding brings no value to the other side of a sign's edge."""
    images = torch.rand(_NUM_IMAGES, *shape, generator=torch.Generator().manual_seed(seed))
    margins = _Margins(_NUM_IMAGES)
    with torch.no_grad(), margins:
        module(images)
    best = margins.found.argsort(descending=True)[: max(BATCHES)]
    return images[best].contiguous()


@dataclass
class Row:
    """Results of a network at a door."""

    name: str
    door: str
    binary: str = ""
    difference: float = 0.0
    size: str = ""
    batches: str = ""
    resized: str = ""
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        cells = [self.name, self.door, self.binary, f"{self.difference:.1e}", self.size]
        return f"| {' | '.join([*cells, self.batches, self.resized, '; '.join(self.wrong)])} |"


HEADER = """| network | door | binary of expected | difference | bytes, bits / 8 | batches | \
other sizes | wrong |
| --- | --- | --- | --- | --- | --- | --- | --- |"""


def by_torch(module: nn.Module, image: torch.Tensor, options: dict) -> larq_engine.ConvertedModel:
    return larq_engine.convert_torch(module, image, open_batch=True, **options)


def _by_onnx(export: Callable[[nn.Module, torch.Tensor, str], object]) -> Callable:
    def convert(
        module: nn.Module, image: torch.Tensor, options: dict
    ) -> larq_engine.ConvertedModel:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "network.onnx")
            export(copy.deepcopy(module), image, path)
            return larq_engine.convert_onnx(path, **options)

    return convert


def _newer(module: nn.Module, image: torch.Tensor, path: str) -> None:
    batch = ({0: torch.export.Dim.DYNAMIC},)
    pair = torch.cat([image, image])
    torch.onnx.export(module, (pair,), path, dynamo=True, dynamic_shapes=batch, verbose=False)


_OPEN = {"input_names": ["x"], "dynamic_axes": {"x": {0: "batch"}}}


def _older(module: nn.Module, image: torch.Tensor, path: str) -> None:
    torch.onnx.export(module, (image,), path, dynamo=False, **_OPEN)


def _brevitas(module: nn.Module, image: torch.Tensor, path: str) -> None:
    from brevitas.export import export_qonnx

    export_qonnx(module, image, export_path=path, dynamo=False, **_OPEN)


DOORS = {
    "PyTorch": by_torch,
    "ONNX, dynamo": _by_onnx(_newer),
    "ONNX, TorchScript": _by_onnx(_older),
    "QONNX": _by_onnx(_brevitas),
}


def doors_of(form: Form) -> list[str]:
    """Returns the doors of a form: QONNX is only for Brevitas' quantizers."""
    return [door for door in DOORS if door != "QONNX" or form.quantized]


def try_network(name: str, door: str, seed: int) -> Row:
    """Converts a network and compares it at several batches and sizes."""
    form, row = FORMS[name], Row(name, door)
    module = with_random_statistics(form.make)
    images = draw_images(module, form.shape, seed)
    options = {"sign_of_zero": "+1"} if form.has_plain_signs else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporters warn
        try:
            converted = DOORS[door](module, images[:1], options)
        except Exception as error:
            row.wrong.append(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
            return row
    layers = [layer for layer in converted.report.layers if layer.became == "binary"]
    row.binary = f"{len(layers)} of {form.binary}"
    if len(layers) != form.binary:
        row.wrong.append(row.binary)
    bits = sum(layer.bytes_of_bits for layer in layers)
    row.size = f"{sum(layer.bytes_after for layer in layers)}, {bits}"
    model = larq_engine.Interpreter(converted)
    batches = []
    for batch in BATCHES:
        what = f"batch {batch}"
        if _compare(row, model, module, images[:batch], what):
            batches.append(str(batch))
    row.batches = ", ".join(batches)
    sizes = []
    for size in form.others:
        what, others = f"{size} x {size}", draw_images(module, (3, size, size), seed)
        # A file may declare that it has one size; the table says so, and that is not wrong.
        if not _takes(model, others):
            sizes.append(f"{what} refused")
        elif _compare(row, model, module, others, what):
            sizes.append(what)
    row.resized = ", ".join(sizes) or ("" if form.others else "one size")
    return row


def _takes(model: larq_engine.Interpreter, images: torch.Tensor) -> bool:
    try:
        model.resize([tuple(images.shape)])
    except ValueError:
        return False
    return True


def _compare(
    row: Row, model: larq_engine.Interpreter, module: nn.Module, images: torch.Tensor, what: str
) -> bool:
    with torch.no_grad():
        expected = module(images).numpy()
    try:
        model.resize([tuple(images.shape)])
        got = model.predict(images.numpy())
    except Exception as error:
        row.wrong.append(f"{what}: {type(error).__name__}: {' '.join(str(error).split())[:200]}")
        return False
    if got.shape != expected.shape:
        row.wrong.append(f"{what}: {got.shape} for {expected.shape}")
        return False
    off = float(np.abs(got - expected).max() / np.abs(expected).max())
    row.difference = max(row.difference, off)
    if not off <= TOLERANCE:
        row.wrong.append(f"{what}: {off:.1e} off")
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="networks whose names have this text")
    parser.add_argument("--door", default="", help="doors whose names have this text")
    parser.add_argument("--seed", type=int, default=1, help="of the images")
    options = parser.parse_args()
    # Small layers stand for large ones, as in the converter's tests.
    rules_binary._has_few_products = lambda layer: False
    print(HEADER)
    wrong = 0
    for name, form in FORMS.items():
        for door in doors_of(form):
            if options.only in name and options.door in door:
                row = try_network(name, door, options.seed)
                wrong += bool(row.wrong)
                print(row, flush=True)
    print(f"\n{wrong} rows are wrong.")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
