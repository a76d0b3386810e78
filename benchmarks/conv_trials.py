"""Convolutions as the benchmarks measure them: a model in each form, and its right answer.

A time is that of one layer: some layers are fed, invoked and read together, and the time is
divided. A binary layer includes its LceQuantize, because a network that passes floats from layer to
layer pays for it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import conv_models, expected
from benchmarks.contenders import Contender
from benchmarks.interleave import Answer, Trial
from benchmarks.progress import Progress
from benchmarks.shapes import ConvShape

SEED = 2024

# A layer from bits to bits passes next to nothing and takes a tenth of a millisecond, of which a
# call from Python would be a tenth.
BITS_CHAIN = 4

Array = npt.NDArray[Any]
Layer = conv_models.Layer


@dataclass(frozen=True)
class Form:
    """One arithmetic: builds the model of a number of layers and computes its right answer."""

    build: Callable[[ConvShape, Layer, int], bytes]
    expect: Callable[[Array, Layer, int], Array]
    input_type: type[np.generic] = np.float32
    tolerance: str = "equal"
    longer: int = 1  # times as long as ConvShape.chain


_BINARY = Form(conv_models.build_binary, expected.expect_binary)

FORMS = {
    "binary": _BINARY,
    "lce": _BINARY,
    "arrays": Form(conv_models.build_arrays, expected.expect_binary),
    "bits": Form(
        conv_models.build_bits, expected.expect_bits, input_type=np.int32, longer=BITS_CHAIN
    ),
    "bits_float": Form(
        conv_models.build_bits_float, expected.expect_bits_float, input_type=np.int32
    ),
    "float32": Form(
        conv_models.build_float32,
        expected.expect_float32,
        tolerance=f"to {expected.FLOAT_TOLERANCE:.0e}",
    ),
    "int8": Form(conv_models.build_int8, expected.expect_int8, input_type=np.int8),
}


def make_trials(
    shapes: Sequence[ConvShape], contenders: Sequence[Contender], progress: Progress
) -> Iterator[Trial]:
    for seed, shape in enumerate(shapes, start=SEED):
        layer = conv_models.make_layer(shape, seed)
        groups: dict[Form, list[Contender]] = {}
        for contender in contenders:
            groups.setdefault(FORMS[contender.model], []).append(contender)
        for form, group in groups.items():
            progress.say(f"checking {shape}", f"{group[0].model}: NumPy")
            layers = form.longer * shape.chain
            model, x = form.build(shape, layer, layers), make_input(shape, form)
            check = make_check(x, form.expect(x, layer, layers))
            for contender in group:
                yield Trial(
                    contender, shape, functools.partial(bytes, model), check, form.tolerance, layers
                )


def make_input(shape: ConvShape, form: Form) -> Array:
    rng = np.random.default_rng(SEED)
    dims = [1, shape.size, shape.size, shape.channels]
    if form.input_type == np.float32:
        return rng.uniform(-1, 1, dims).astype(np.float32)
    if form.input_type == np.int32:
        dims[3] //= 32
    kind: Any = form.input_type
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max, dims, kind, endpoint=True)


def make_check(x: Array, right: Array) -> Callable[[Answer], str | None]:
    def find_error(answer: Answer) -> str | None:
        errors = (expected.find_error(output, right) for output in answer(x))
        return next((error for error in errors if error), None)

    return find_error
