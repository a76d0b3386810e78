"""Writes what tests of the package for browsers compare with: files, inputs and native results.

    python -m tests.web.make_cases FOLDER [--networks 30] [--damaged 200] [--seed 1] [--zoo FOLDER]

`cases.json` has a row for each model: its file, what describes its inputs and outputs, their data
as files of bytes, or the text with which the engine refuses the model. Results are those of the
native engine without a host.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import larq_engine
from larq_engine.converter import rules_binary
from larq_engine.python import library
from larq_engine.python.engine_model import EngineModel
from larq_engine.python.tensors import Array, TensorInfo, random_data
from tests.converter.onnx_random import ReferenceFailsError
from tests.corpus.onnx import draw
from tests.model_builder import PADDING, ModelBuilder, one_op_model, open_conv_model

_INTEROP = Path(__file__).parents[1] / "interop"
# A damaged shape can ask for more values; such a file tells nothing of the engine.
_MAX_VALUES = 1 << 22
_SAMPLES = 3  # where a file leaves the batch open


@dataclass(frozen=True)
class Case:
    """A model with inputs, or inputs to be drawn."""

    group: str
    name: str
    content: bytes
    inputs: list[Array] | None = None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--networks", type=int, default=30, help="how many random networks")
    parser.add_argument("--damaged", type=int, default=200, help="how many damaged files")
    parser.add_argument("--seed", type=int, help="of the first network; any by default")
    parser.add_argument("--zoo", type=Path, help="a folder of files to run as well")
    options = parser.parse_args()
    seed = random.randrange(1 << 31) if options.seed is None else options.seed
    options.folder.mkdir(parents=True, exist_ok=True)
    writer = _Writer(options.folder, np.random.default_rng(seed))
    zoo = sorted(options.zoo.glob("*.tflite")) if options.zoo else []
    for cases in (
        _interop(),
        (Case("zoo", path.stem, path.read_bytes()) for path in zoo),
        _interfaces(),
        _networks(seed, options.networks),
        _damaged(seed, options.damaged),
    ):
        for case in cases:
            writer.add(case)
    text = json.dumps({"seed": seed, "cases": writer.rows}, indent=1)
    (options.folder / "cases.json").write_text(text)
    print(f"{len(writer.rows)} cases for the package, seed {seed}, in {options.folder}")
    return 0


class _Writer:
    """Runs cases, and writes files with numbers as names."""

    def __init__(self, folder: Path, generator: np.random.Generator) -> None:
        self._folder = folder
        self._generator = generator
        self._files = 0
        self.rows: list[dict[str, Any]] = []

    def add(self, case: Case) -> None:
        row: dict[str, Any] = {"group": case.group, "name": case.name, "refusal": _refusal(case)}
        if not row["refusal"]:
            interpreter = larq_engine.Interpreter(case.content, host="none")
            infos = interpreter._inputs
            if sum(info.nbytes for info in infos) > _MAX_VALUES:
                return
            inputs = case.inputs or [self._draw(info) for info in infos]
            try:
                results = interpreter.predict(inputs)
            except ValueError as error:
                if case.group != "damaged":
                    raise
                row["refusal"] = str(error).partition(": ")[2]
                row["refuses_data"] = True
                results = []
            outputs = results if isinstance(results, list) else [results]
            row["inputs"] = [self._tensor(*pair) for pair in zip(infos, inputs, strict=True)]
            if outputs:
                outs = zip(interpreter._outputs, outputs, strict=True)
                row["outputs"] = [self._tensor(*pair) for pair in outs]
        row["model"] = self._write(case.content)
        self.rows.append(row)

    def _draw(self, info: TensorInfo) -> Array:
        array = random_data(info, self._generator)
        if info.signature[:1] != (-1,):
            return array
        more = [random_data(info, self._generator) for _ in range(_SAMPLES - 1)]
        return np.concatenate([array, *more])

    def _tensor(self, info: TensorInfo, array: Array) -> dict[str, Any]:
        return {
            "name": info.name,
            "dtype": str(info.dtype),
            "shape": info.signature,
            "scale": info.scale,
            "zeroPoint": info.zero_point,
            "data": self._write(np.ascontiguousarray(array).tobytes()),
        }

    def _write(self, content: bytes) -> str:
        name = f"{self._files}.bin"
        self._files += 1
        (self._folder / name).write_bytes(content)
        return name


def _refusal(case: Case) -> str:
    """Returns the engine's own text, without what Python puts before it."""
    if problem := library.check_model(case.content):
        return problem
    try:
        EngineModel(case.content, {})
    except ValueError as error:
        return str(error)
    try:
        larq_engine.Interpreter(case.content, host="none")
    except ValueError as error:
        return str(error).removeprefix("model: ")
    return ""


def _interop() -> Iterator[Case]:
    for path in sorted(_INTEROP.glob("*/*.tflite")):
        with np.load(path.with_suffix(".npz")) as recorded:
            yield Case("interop", path.stem, path.read_bytes(), [recorded["x"]])


def _networks(seed: int, count: int) -> Iterator[Case]:
    # Small layers stand for large ones, as in the converter's tests.
    rules_binary._has_few_products = lambda layer: False
    made = 0
    while made < count:
        seed += 1
        try:
            graph = draw(seed)
            if not graph.net.nodes:
                continue
            model = graph.net.finish(*graph.outputs)
            content = bytes(larq_engine.convert_onnx(model, **graph.options))
            interpreter = larq_engine.Interpreter(content, host="none")
        except (ReferenceFailsError, ValueError):
            continue
        inputs = [graph.like(np.empty(0, i.dtype), i.shape) for i in interpreter._inputs]
        yield Case("networks", f"seed {seed}", content, inputs)
        made += 1


def _damaged(seed: int, count: int) -> Iterator[Case]:
    generator = random.Random(seed)
    sources = sorted((_INTEROP / "data").glob("*.tflite"), key=lambda path: path.stat().st_size)
    contents = [path.read_bytes() for path in sources[:8]]
    for number in range(count):
        content = bytearray(generator.choice(contents))
        if number % 2:
            del content[generator.randrange(len(content)) :]
        for _ in range(generator.randrange(1, 5)):
            if content:
                content[generator.randrange(len(content))] = generator.randrange(256)
        yield Case("damaged", f"number {number}", bytes(content))


def _interfaces() -> Iterator[Case]:
    """Yields models with the forms of inputs and outputs that a program meets."""
    yield Case("interfaces", "open image", open_conv_model())
    yield Case("interfaces", "open image of no size", _window_of_any_size())
    yield Case("interfaces", "open batch that a constant fixes", _fixed_by_a_constant())
    yield Case("interfaces", "open batch", _sum_model((1, 2), (-1, 2)))
    yield Case("interfaces", "batch of 2", _sum_model((2, 2), None))
    yield Case("interfaces", "quantized", _quantized())
    images = {"shape": (1, 6, 8, 3)}
    yield Case("interfaces", "images", one_op_model("RELU", images, images))
    builder = ModelBuilder()
    x, y = builder.tensor((1, 3), name="x"), builder.tensor((1, 3), name="y")
    total, product = builder.tensor((1, 3), name="sum"), builder.tensor((1, 3), name="product")
    builder.builtin("ADD", [x, y], [total])
    builder.builtin("MUL", [x, y], [product])
    builder.signature({"left": x, "right": y}, {"total": total, "product": product})
    yield Case("interfaces", "two of each", builder.finish([x, y], [total, product]))


def _sum_model(shape: tuple[int, ...], signature: tuple[int, ...] | None) -> bytes:
    builder = ModelBuilder()
    x = builder.tensor(shape, name="x", signature=signature)
    y = builder.tensor(shape, name="y", signature=signature)
    one = builder.constant(np.array([1.5, -2.25], np.float32))
    builder.builtin("ADD", [x, one], [y])
    return builder.finish([x], [y])


def _window_of_any_size() -> bytes:
    """Returns a model that refuses the sizes that its file has where it leaves them open."""
    builder = ModelBuilder()
    x = builder.tensor((1, 1, 1, 2), name="x", signature=(1, -1, -1, 2))
    y = builder.tensor((1, 1, 1, 2), name="y", signature=(1, -1, -1, 2))
    window = {"filterHeight": 3, "filterWidth": 3, "strideH": 1, "strideW": 1}
    builder.builtin("MAX_POOL_2D", [x], [y], padding=PADDING["VALID"], **window)
    return builder.finish([x], [y])


def _fixed_by_a_constant() -> bytes:
    builder = ModelBuilder()
    x = builder.tensor((1, 2, 2), name="x", signature=(-1, 2, 2))
    y = builder.tensor((1, 4), name="y", signature=(-1, 4))
    builder.builtin("RESHAPE", [x, builder.constant(np.array([1, 4], np.int32))], [y])
    return builder.finish([x], [y])


def _quantized() -> bytes:
    builder = ModelBuilder()
    x = builder.tensor((1, 4), np.int8, name="x", scale=0.5, zero_point=3)
    y = builder.tensor((1, 4), np.float32, name="y")
    builder.builtin("DEQUANTIZE", [x], [y])
    return builder.finish([x], [y])


if __name__ == "__main__":
    sys.exit(main())
