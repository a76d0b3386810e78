"""Runs files without a host, and compares the results with those of LiteRT with the plug-in.

    python -m tests.corpus.host_and_none --count 300 --seed 1
    python -m tests.corpus.host_and_none MODEL.tflite...

Files are given, or made of random ONNX graphs (see tests/corpus/onnx.py). Each file runs with one
thread and with two, at the batches 1, 3 and 17, and with larger images: integers and bits have to
be equal, floats within a share of the largest result. A size that one way refuses has to be refused
by the other. A file needs a host only for operators that the engine does not compute; the counts at
the end tell which. Any other refusal is an error.
"""

import argparse
import pathlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

import larq_engine
from larq_engine.converter import rules_binary
from larq_engine.python.tensors import TensorInfo, random_data
from tests.converter.onnx_random import ReferenceFailsError
from tests.corpus.onnx import draw
from tests.corpus.outcomes import difference, reason

Shapes = list[tuple[int, ...]]
MakeInput = Callable[[TensorInfo], np.ndarray]
_BATCHES = (1, 3, 17)
_THREADS = (1, 2)
# Both ways add the same floats, but not all in the same order; ONNX's reference is held to the same
# share.
_ROUNDING = 1e-5
_MAX_REASON = 200  # characters
_LACKS = "expected operators that the engine computes by itself"


@dataclass
class Outcome:
    """Outcomes of files.

    Attributes:
        wrong: A text about what is wrong, by files.
        refused: Numbers of files that need a host, by the reason.
        compared: Numbers of comparisons, by what was run.
    """

    wrong: dict[str, str] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    compared: Counter[str] = field(default_factory=Counter)


def compare(name: str, content: bytes, make_input: MakeInput, outcome: Outcome) -> None:
    """Compares a file's results at several sizes.

    Args:
        name: The name of the file.
        content: Its bytes.
        make_input: Makes the data of an input.
        outcome: The outcomes, to which that of the file is added.
    """
    alone = []
    for threads in _THREADS:
        try:
            alone.append(larq_engine.Interpreter(content, host="none", num_threads=threads))
        except ValueError as error:
            if _LACKS in str(error):
                outcome.refused[reason(_form(str(error)), _MAX_REASON)] += 1
            else:
                outcome.wrong[name] = f"refused without a host: {error}"
            return
    hosted = larq_engine.Interpreter(content, host="litert")
    for what, shapes in _sizes(hosted):
        if text := _difference(hosted, alone, what, shapes, make_input):
            outcome.wrong[name] = text
            return
        outcome.compared[what] += 1


def _form(error: str) -> str:
    """Returns the part of a refusal that names operators, without their numbers and shapes."""
    return re.sub(r" \(#\d+[^)]*\)", "", error)


def _sizes(interpreter: larq_engine.Interpreter) -> Iterator[tuple[str, Shapes]]:
    """Yields the sizes to compare at: the file's own, other batches, and larger images."""
    shapes = [tuple(shape) for shape in interpreter.input_shapes]
    yield "as it is", shapes
    for batch in _BATCHES:
        yield f"batch {batch}", [(batch, *shape[1:]) for shape in shapes]
    yield (
        "larger images",
        [(shape[0], *(size + 3 for size in shape[1:-1]), *shape[-1:]) for shape in shapes],
    )


def _difference(
    hosted: larq_engine.Interpreter,
    alone: Sequence[larq_engine.Interpreter],
    what: str,
    shapes: Shapes,
    make_input: MakeInput,
) -> str:
    """Returns a text on results that differ from the host's, or ""."""
    if what != "as it is":
        refusals = [_refusal(interpreter, shapes) for interpreter in (hosted, *alone)]
        if any(refusals):
            return "" if all(refusals) else f"{what}: refused by some only: {refusals}"
    inputs = [make_input(info) for info in hosted._inputs]
    expected = _predict(hosted, inputs)
    for threads, interpreter in zip(_THREADS, alone, strict=True):
        for number, (have, want) in enumerate(
            zip(_predict(interpreter, inputs), expected, strict=True)
        ):
            title = f"{what}, {threads} threads: output {number}"
            if have.dtype != want.dtype:
                return f"{title}: {have.dtype} for {want.dtype}"
            tolerance = _ROUNDING if want.dtype.kind == "f" else 0.0
            if text := difference(title, have, want, tolerance):
                return text
    return ""


def _refusal(interpreter: larq_engine.Interpreter, shapes: Shapes) -> str:
    try:
        interpreter.resize(shapes)
    except ValueError as error:
        return str(error)
    return ""


def _predict(interpreter: larq_engine.Interpreter, inputs: list[np.ndarray]) -> list[np.ndarray]:
    results = interpreter.predict(inputs)
    return results if isinstance(results, list) else [results]


def compare_graph(seed: int, outcome: Outcome) -> None:
    """Compares the file of a random ONNX graph, if there is one."""
    try:
        made = draw(seed)
        if not made.net.nodes:
            return
        content = larq_engine.convert_onnx(made.net.finish(*made.outputs), **made.options)
    except (ReferenceFailsError, larq_engine.ConversionError):
        return
    compare(
        f"seed {seed}",
        bytes(content),
        lambda info: made.like(np.empty(0, info.dtype), info.shape),
        outcome,
    )


def compare_file(path: str, outcome: Outcome) -> None:
    generator = np.random.default_rng(1)
    content = pathlib.Path(path).read_bytes()
    compare(path, content, lambda info: random_data(info, generator), outcome)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="files of models, in the place of graphs")
    parser.add_argument("--count", type=int, default=300, help="how many graphs")
    parser.add_argument("--seed", type=int, default=1, help="of the first; others follow")
    options = parser.parse_args()
    # Small layers stand for large ones, as in the converter's tests.
    rules_binary._has_few_products = lambda layer: False
    outcome = Outcome()
    for path in options.files:
        compare_file(path, outcome)
    for seed in range(options.seed, options.seed + (0 if options.files else options.count)):
        compare_graph(seed, outcome)
    for name, text in outcome.wrong.items():
        print(f"{name}: {text}")
    for title, table in (("compared", outcome.compared), ("refused", outcome.refused)):
        print(f"\n{title}:")
        for text, count in table.most_common():
            print(f"{count:8} {text}")
    return 1 if outcome.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
