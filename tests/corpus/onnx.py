"""Random ONNX graphs through `convert_onnx` and the engine, compared with ONNX's reference.

    python -m tests.corpus.onnx --count 20000 --seed 1

A graph is right if all of its outputs are what `onnx.reference` computes: with the batch that it
was drawn with, with another batch if that is open, and with images of another size, for which it is
converted again if the graph is one of that size as well. The resized file must be right, too, if it
does not refuse that size. The counts at the end tell what was right, wrong, and refused by which
reason.
"""

import argparse
import contextlib
import gc
import sys
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

import larq_engine
from larq_engine.converter import rules_binary
from tests.converter.onnx_models import reference
from tests.converter.onnx_random import RandomNet, ReferenceFailsError, random_model
from tests.converter.onnx_random_networks import random_network
from tests.corpus.outcomes import blames_converter, difference, reason

# Largest error of operators that round, as a share of the largest result.
_ROUNDING = 1e-5
_MAX_REASON = 150  # characters


@dataclass
class Outcome:
    """Outcome of a graph.

    Attributes:
        wrong: A text about what is wrong, or "".
        refused: The reason of a refusal, or "".
        compared: Numbers of comparisons, by the kind of file that was run.
        layers: Numbers of layers, by what they became.
    """

    wrong: str = ""
    refused: str = ""
    compared: Counter[str] = field(default_factory=Counter)
    layers: Counter[str] = field(default_factory=Counter)


def draw(seed: int) -> RandomNet:
    """Draws a graph: two of three are networks; the third is of any operators."""
    return random_model(seed) if seed % 3 == 0 else random_network(seed)


def try_graph(seed: int) -> Outcome:
    """Draws, converts and compares a graph."""
    outcome = Outcome()
    try:
        made = draw(seed)
    except ReferenceFailsError:
        outcome.refused = "ONNX's reference cannot compute it"
        return outcome
    if not made.net.nodes:
        outcome.refused = "no operator was drawn"
        return outcome
    content = made.net.finish(*made.outputs)
    try:
        converted = larq_engine.convert_onnx(content, **made.options)
    except larq_engine.ConversionError as error:
        if blames_converter(error):
            outcome.wrong = f"converting it: {error}"
        else:
            outcome.refused = reason(str(error), _MAX_REASON)
        return outcome
    except Exception as error:
        outcome.wrong = f"converting it: {type(error).__name__}: {error}"
        return outcome
    outcome.layers.update(
        f"{layer.became}" + (f": {reason(layer.reason, _MAX_REASON)}" if layer.reason else "")
        for layer in converted.report.layers
    )
    try:
        _compare(made, content, converted, outcome)
    except Exception as error:
        outcome.wrong = f"running it: {type(error).__name__}: {error}"
    return outcome


def _compare(made: RandomNet, content: bytes, converted: bytes, outcome: Outcome) -> None:
    interpreter = larq_engine.Interpreter(converted)
    tolerance = _ROUNDING if made.rounds else 0.0
    runs = [("its own inputs", made.inputs)]
    if made.opens:
        batch = int(made.rng.choice([1, 2, 9]))
        runs.append(("another batch", [made.like(x, (batch, *x.shape[1:])) for x in made.inputs]))
    for what, inputs in runs:
        outcome.wrong = outcome.wrong or _difference(
            reference(content, inputs), interpreter.predict(inputs), tolerance, what
        )
        outcome.compared[what] += 1
    if not outcome.wrong and min(x.ndim for x in made.inputs) > 2:
        _compare_resized(made, content, interpreter, outcome)


def _compare_resized(
    made: RandomNet, content: bytes, interpreter: larq_engine.Interpreter, outcome: Outcome
) -> None:
    more = made.rng.integers(1, 4, 8).tolist()
    inputs = [
        made.like(x, (*x.shape[:2], *[s + n for s, n in zip(x.shape[2:], more, strict=False)]))
        for x in made.inputs
    ]
    try:
        expected = reference(content, inputs)
    except Exception:  # constants of the graph may allow only one size
        return
    if any(x.shape[:1] != inputs[0].shape[:1] for x in expected):
        return  # a Reshape took pixels for samples
    # Means over another number of pixels are rounded.
    rounds = made.rounds or any(
        "Mean" in n.op_type or "Average" in n.op_type for n in made.net.nodes
    )
    tolerance = _ROUNDING if rounds else 0.0
    try:
        content = made.net.finish(*made.outputs, shapes=inputs)
        again = larq_engine.convert_onnx(content, **made.options)
    except larq_engine.ConversionError as error:
        if not blames_converter(error):
            outcome.compared["another size: refused"] += 1
            return
        raise
    results = larq_engine.Interpreter(again).predict(inputs)
    outcome.wrong = _difference(expected, results, tolerance, "another size")
    outcome.compared["another size"] += 1
    try:
        interpreter.resize([x.shape for x in inputs])
        results = interpreter.predict(inputs)
    except ValueError:
        outcome.compared["a file resized: refused"] += 1
        return
    outcome.wrong = outcome.wrong or _difference(expected, results, tolerance, "a file resized")
    outcome.compared["a file resized"] += 1


def _difference(
    expected: list[np.ndarray], results: np.ndarray | list[np.ndarray], tolerance: float, what: str
) -> str:
    found = results if isinstance(results, list) else [results]
    for number, (want, have) in enumerate(zip(expected, found, strict=True)):
        if text := difference(f"{what}: output {number}", have, want, tolerance):
            return text
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="how many graphs")
    parser.add_argument("--seed", type=int, default=1, help="of the first; others follow")
    options = parser.parse_args()
    # Small layers stand for large ones, as in the converter's tests.
    rules_binary._has_few_products = lambda layer: False
    gc.freeze()
    counts: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    compared: Counter[str] = Counter()
    layers: Counter[str] = Counter()
    with contextlib.suppress(KeyboardInterrupt):  # the counts so far are printed
        for seed in range(options.seed, options.seed + options.count):
            outcome = try_graph(seed)
            kind = "wrong" if outcome.wrong else "refused" if outcome.refused else "right"
            counts[kind] += 1
            compared.update(outcome.compared)
            layers.update(outcome.layers)
            if outcome.refused:
                refused[outcome.refused] += 1
            if outcome.wrong:
                print(f"seed {seed}: {outcome.wrong}", flush=True)
    print(f"{counts.total()} graphs from seed {options.seed}: {dict(counts)}")
    for title, table in (("compared", compared), ("refused", refused), ("layers", layers)):
        print(f"\n{title}:")
        for text, count in table.most_common():
            print(f"{count:8} {text}")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
