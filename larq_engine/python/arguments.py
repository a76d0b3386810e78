"""Checks what users hand to `predict`, and makes stacks of samples for every input of it.

Nothing is guessed and nothing is lost: a type is cast only if every value survives, and a wrong
shape is an error that says which shape was expected.
"""

import itertools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from larq_engine.python.device_array import DeviceArray, from_gpu, is_on_gpu
from larq_engine.python.tensors import Array, Shape, TensorInfo, join

# Data of one input.
Data = Array | DeviceArray


@dataclass(frozen=True)
class Request:
    """Samples to run: each item of `stacks` has one array for each input, samples along axis 0."""

    stacks: Iterator[list[Data]]
    samples: int | None  # None: an iterator does not know it
    named: bool  # the user gave names, and gets names


def parse(x: Any, inputs: Sequence[TensorInfo]) -> Request:
    """Accepts an array, a list or tuple of arrays, a dictionary of arrays, or samples one by one.

    Raises:
        TypeError: `x` is none of these, or data would lose something when cast to an input's type.
        ValueError: There is no data, or its number, names or shapes are not those of the inputs,
            or an input has no size yet.
    """
    for info in inputs:
        if 0 in info.shape:
            raise ValueError(
                f"input {info}: expected a shape without a dimension of 0, got {info.shape}; call "
                "Interpreter.resize first"
            )
    if isinstance(x, memoryview):  # A memoryview is iterable, but its elements may be no numbers.
        x = np.asarray(x)
    if _is_array(x) or isinstance(x, (list, tuple, Mapping)):
        stack = _check_stack(_assign(x, inputs), inputs)
        samples = stack[0].shape[0] if has_batch(inputs) else 1
        return Request(iter([stack]), samples, isinstance(x, Mapping))
    if isinstance(x, Iterable) and not isinstance(x, (str, bytes)):
        return _parse_samples(x, inputs)
    raise TypeError(
        "predict: expected an array, a list or dictionary of arrays, or an iterator of samples, "
        f"got {type(x).__name__}"
    )


def plain_arrays(x: Any, inputs: Sequence[TensorInfo]) -> list[Array] | None:
    """Returns the arrays if they need no check or cast; None if `parse` has to look at `x`."""
    arrays: list[Any]
    if type(x) is np.ndarray:
        arrays = [x]
    elif type(x) is list or type(x) is tuple:
        arrays = list(x)
    elif type(x) is dict and len(x) == len(inputs):
        arrays = [x.get(info.name) for info in inputs]
    else:
        return None
    if len(arrays) != len(inputs):
        return None
    for array, info in zip(arrays, inputs, strict=True):
        if (
            type(array) is not np.ndarray
            or array.shape != info.shape
            or array.dtype != info.dtype
            or not array.flags.c_contiguous
            or array.size == 0
        ):
            return None
    return arrays


def has_batch(inputs: Sequence[TensorInfo]) -> bool:
    """Tells whether axis 0 is a batch: all inputs have this axis, with the same length."""
    return share_batch([info.shape for info in inputs])


def share_batch(shapes: Sequence[Shape]) -> bool:
    """Tells whether axis 0 is a batch of inputs of these shapes."""
    return len({shape[:1] for shape in shapes}) == 1 and bool(shapes[0])


def _is_array(x: Any) -> bool:
    return hasattr(x, "__array__") or hasattr(x, "__dlpack__")


def _parse_samples(x: Iterable[Any], inputs: Sequence[TensorInfo]) -> Request:
    """Makes stacks of as many samples as the model's batch holds, which mostly is one."""
    if not has_batch(inputs):
        raise ValueError(
            "predict: expected an array for each input, got an iterator of samples; "
            "the inputs of this model share no batch axis"
        )
    count = operator.length_hint(x, 0) or None
    samples = iter(x)
    try:
        first = next(samples)
    except StopIteration:
        raise ValueError("predict: expected at least one sample, got an empty iterator") from None

    def stacks() -> Iterator[list[Data]]:
        remaining = itertools.chain([first], samples)
        while group := list(itertools.islice(remaining, inputs[0].shape[0])):
            rows = [[_on_host(array) for array in _assign(sample, inputs)] for sample in group]
            try:
                checked = [_check_stack(row, inputs) for row in rows]
            except ValueError as error:
                raise ValueError(
                    f"{error} (an iterator yields single samples, without the batch axis)"
                ) from None
            columns = zip(*checked, strict=True)
            yield [
                join(parts, f"input {info}") for parts, info in zip(columns, inputs, strict=True)
            ]

    return Request(stacks(), count, isinstance(first, Mapping))


def _on_host(sample: Data) -> Array:
    if isinstance(sample, DeviceArray):
        raise TypeError(
            "predict: expected samples in the host's memory from an iterator, got one on a GPU; "
            "give all samples as one array"
        )
    return sample[np.newaxis]


def _assign(x: Any, inputs: Sequence[TensorInfo]) -> list[Data]:
    """Returns one array for each input, in the order of the inputs."""
    names = ", ".join(map(str, inputs))
    if isinstance(x, Mapping):
        expected = {info.name for info in inputs}
        if set(x) != expected:
            raise ValueError(
                f"inputs: expected the names {sorted(expected)}, got {sorted(map(str, x))}; "
                "see Interpreter.input_names"
            )
        return [_as_array(x[info.name], info) for info in inputs]
    arrays = list(x) if isinstance(x, (list, tuple)) else [x]
    if len(arrays) != len(inputs):
        are_arrays = all(map(_is_array, arrays))
        remedy = "join samples with numpy.stack" if are_arrays else _as_one_array(inputs[0])
        raise ValueError(
            f"inputs: expected {len(inputs)} array(s), for {names}, got {len(arrays)}"
            f"{'' if are_arrays else ' lists or numbers'}; a list holds one array for each input: "
            f"{remedy}"
        )
    return [_as_array(array, info) for array, info in zip(arrays, inputs, strict=True)]


def _as_array(x: Any, info: TensorInfo) -> Data:
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(
            f"input {info}: expected an array, got a masked array, whose mask no model knows; "
            "choose the values behind it: x.filled(value)"
        )
    if is_on_gpu(x):
        try:
            return from_gpu(x)
        except (TypeError, ValueError) as error:
            raise type(error)(f"input {info}: {error}") from error
    if hasattr(x, "__dlpack__") and not hasattr(x, "__array__"):
        return np.from_dlpack(x)
    if isinstance(x, (list, tuple)):
        return _from_lists(x, info)
    return np.asarray(x)


def _from_lists(x: Sequence[Any], info: TensorInfo) -> Array:
    """Converts lists if their type casts safely: Python's floats do not say which type is meant."""
    try:
        array = np.asarray(x)
    except ValueError:
        array = None
    if array is None or not np.can_cast(array.dtype, info.dtype, casting="safe"):
        raise TypeError(
            f"input {info}: expected an array of {info.dtype}, got lists; {_as_one_array(info)}"
        )
    return array


def _as_one_array(info: TensorInfo) -> str:
    return f"make an array of nested lists with numpy.asarray(x, numpy.{info.dtype})"


def _check_stack(arrays: Sequence[Data], inputs: Sequence[TensorInfo]) -> list[Data]:
    batched = has_batch(inputs)
    checked = [_check(array, info, batched) for array, info in zip(arrays, inputs, strict=True)]
    if batched and len({array.shape[0] for array in checked}) > 1:
        lengths = {info.name: len(array) for array, info in zip(checked, inputs, strict=True)}
        raise ValueError(
            f"inputs: expected the same number of samples for each, got {lengths}; "
            "give every input one row per sample"
        )
    return checked


def _fits(shape: Iterable[int], pattern: Sequence[int | str]) -> bool:
    """Tells whether a shape has the sizes of a pattern of equal length; texts in it are free."""
    return all(
        isinstance(want, str) or want == got for want, got in zip(pattern, shape, strict=True)
    )


def _check(array: Data, info: TensorInfo, batched: bool) -> Data:
    """Returns the array in the input's type; if it is batched, the number of samples is free."""
    pattern = _free_dimensions(info, batched)
    wanted = f"({', '.join(map(str, pattern))}{',' if len(pattern) == 1 else ''})"
    if array.ndim != len(pattern):
        remedy = _advise_axes(array.shape, pattern)
        raise ValueError(f"input {info}: expected shape {wanted}, got {array.shape}; {remedy}")
    if array.size == 0:
        raise ValueError(
            f"input {info}: expected shape {wanted} with at least one sample, "
            f"got the empty {array.shape}"
        )
    if not _fits(array.shape, pattern):
        remedy = _advise_transpose(array.shape, pattern) or (
            "give data of that shape, or let the model take this one with Interpreter.resize"
        )
        raise ValueError(f"input {info}: expected shape {wanted}, got {array.shape}; {remedy}")
    if isinstance(array, DeviceArray):
        if array.dtype != info.dtype:
            raise TypeError(
                f"input {info}: expected {info.dtype}, got {array.dtype} in a GPU's memory, where "
                "nothing is cast; convert it there"
            )
        return array
    if not np.can_cast(array.dtype, info.dtype, casting="safe"):
        raise TypeError(
            f"input {info}: expected {info.dtype}, got {array.dtype}, which cannot be cast without "
            f"loss; convert it on purpose: x.astype(numpy.{info.dtype})"
        )
    return np.ascontiguousarray(array, dtype=info.dtype).reshape(array.shape)


def _advise_transpose(shape: Shape, pattern: Sequence[int | str]) -> str:
    """Says how to transpose images whose channels come at the other end; empty if they do not."""
    for end, order in (("last", (0, 2, 3, 1)), ("first", (0, 3, 1, 2))):
        if len(shape) == 4 and _fits(np.take(shape, order), pattern):
            return f"channels come {end}: transpose the data with {order}"
    return ""


def _advise_axes(shape: Shape, pattern: Sequence[int | str]) -> str:
    """Says what to do with data of another number of dimensions.

    It says all of it at once, so that no second error follows."""
    missing = len(pattern) - len(shape)
    if missing < 0:
        return "reshape the data"
    single = [axis for axis, want in enumerate(pattern) if want in ("N", 1)]
    for axes in itertools.combinations(single, missing):
        sizes = iter(shape)
        filled = [1 if axis in axes else next(sizes) for axis in range(len(pattern))]
        if _fits(filled, pattern):
            return _advise_new_axes(axes, pattern)
    for end, order in (("last", (1, 2, 0)), ("first", (2, 0, 1))):
        if len(pattern) == 4 and missing == 1 and _fits((1, *np.take(shape, order)), pattern):
            return (
                f"the batch axis is missing and channels come {end}: "
                f"x.transpose{order}[numpy.newaxis]"
            )
    return "reshape the data"


def _advise_new_axes(axes: Sequence[int], pattern: Sequence[int | str]) -> str:
    last = len(pattern) - 1
    names = {last: "channel" if last > 1 else "last", 0: "batch" if pattern[0] == "N" else "first"}
    forms = {
        (0,): "x[numpy.newaxis]",
        (last,): "x[..., numpy.newaxis]",
        (0, last): "x[numpy.newaxis, ..., numpy.newaxis]",
    }
    form = forms.get(tuple(axes), f"numpy.expand_dims(x, {tuple(axes)})")
    if set(axes) <= names.keys():
        words = " and the ".join(names[axis] for axis in axes)
        return f"add the {words} axis: {form}"
    return f"add the missing axes: {form}"


def _free_dimensions(info: TensorInfo, batched: bool) -> list[int | str]:
    """Returns the shape with "N" for samples, and "?" for sizes that the file leaves open."""
    pattern: list[int | str] = [
        "?" if open_ == -1 else size for size, open_ in zip(info.shape, info.signature, strict=True)
    ]
    return ["N", *pattern[1:]] if batched else pattern


def parse_shapes(shapes: Any, inputs: Sequence[TensorInfo]) -> list[Shape]:
    """Returns a valid shape for every input.

    Raises:
        TypeError: `shapes` is neither a dictionary nor a sequence.
        ValueError: There is no such input, or a shape is invalid or has another number of
            dimensions.
    """
    if isinstance(shapes, Mapping):
        unknown = set(shapes) - {info.name for info in inputs}
        if unknown:
            raise ValueError(
                f"resize: expected names out of {[info.name for info in inputs]}, "
                f"got {sorted(map(str, unknown))}; see Interpreter.input_names"
            )
        wanted = [shapes.get(info.name, info.shape) for info in inputs]
    else:
        if not isinstance(shapes, Iterable):
            raise TypeError(
                "resize: expected a list of shapes or a dictionary from input name to shape, "
                f"got {type(shapes).__name__}; as in resize({[info.shape for info in inputs]})"
            )
        wanted = list(shapes)
        if len(wanted) != len(inputs):
            raise ValueError(
                f"resize: expected {len(inputs)} shape(s), one for each input, got {len(wanted)}; "
                f"as in resize({[info.shape for info in inputs]})"
            )
    return [_check_shape(shape, info) for shape, info in zip(wanted, inputs, strict=True)]


def _check_shape(shape: Any, info: TensorInfo) -> Shape:
    try:
        sizes = tuple(operator.index(size) for size in shape)
    except TypeError:
        sizes = ()
    valid = len(sizes) == len(info.shape) and all(0 < size < 2**31 for size in sizes)
    if not valid:
        raise ValueError(
            f"resize: input {info}: expected {len(info.shape)} positive 32-bit sizes, as in "
            f"{info.shape}, got {shape!r}"
        )
    return sizes
