"""The data set that a user gives: its samples are checked and become batches of arrays."""

import itertools
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.archives import check_archive
from larq_engine.converter.graph import NUMPY_TYPES, Array, Model
from larq_engine.python import arguments
from larq_engine.python.tensors import TensorInfo

_FORMS = (
    "a function that returns samples, or an iterable of them: each a list with an array for every "
    "input, or a dictionary from input name to array; or a dictionary from signature to such "
    "samples"
)


class Samples:
    """The samples for each graph that a caller can run; they can be iterated several times.

    Args:
        source: The `representative_dataset` of `convert_keras_model`.
        model: The model whose inputs the samples are for.

    Raises:
        TypeError: It is no data set.
        ValueError: It does not fit the model's signatures.
    """

    def __init__(self, source: Any, model: Model) -> None:
        graphs = schema.runnable_graphs(model)
        keys = dict(schema.signature_graphs(model))
        if isinstance(source, Mapping) and not keys:
            raise ValueError(
                "representative_dataset: expected an iterable of samples, as the model names no "
                f"signature, got a dictionary of {sorted(map(str, source))}; give a list with a "
                "dictionary for each sample"
            )
        if isinstance(source, Mapping):
            unknown = sorted(map(str, set(source) - set(keys)))
            missing = sorted(key for key in keys if key not in source)
            if unknown or missing:
                raise ValueError(
                    f"representative_dataset: expected a dictionary from each of the model's "
                    f"signatures {sorted(keys)} to samples, got {sorted(map(str, source))}; give "
                    "one for each, or for a single signature an iterable of samples"
                )
            self._sources = {keys[key]: _again(samples) for key, samples in source.items()}
        elif len(graphs) > 1:
            raise ValueError(
                f"representative_dataset: expected a dictionary from each of the model's "
                f"signatures {sorted(keys)} to samples, got {type(source).__name__}; give samples "
                "for each"
            )
        else:
            self._sources = {graphs[0]: _again(source)}
        self._inputs = {number: _input_infos(model, number) for number in self._sources}

    @property
    def graphs(self) -> list[int]:
        """The numbers of the graphs that have samples."""
        return list(self._sources)

    def batches(self, number: int) -> Iterator[list[Array]]:
        """Yields the samples for a graph, with an array for each of its inputs."""
        inputs = self._inputs[number]
        position = -1
        for position, sample in enumerate(self._sources[number]()):
            try:
                yield _check(sample, inputs)
            except (TypeError, ValueError) as error:
                raise type(error)(f"representative_dataset: sample #{position}: {error}") from None
        if position < 0:
            raise ValueError(
                "representative_dataset: expected at least one sample, got none; a function must "
                "return a new iterator each time that it is called"
            )


def from_file(path: Any) -> Any:
    """Returns samples along axis 0 of a .npy file, or of a .npz file with an array per input.

    Raises:
        ValueError: It is something else, or the arrays have different numbers of samples.
    """
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                check_archive(archive, os.path.getsize(path))
        loaded = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise
    except Exception as error:  # A reader of other files may raise anything.
        raise _unreadable(path, error) from error
    if isinstance(loaded, np.ndarray):
        return loaded
    with loaded:
        try:
            arrays = {name: loaded[name] for name in loaded.files}
        except Exception as error:
            raise _unreadable(path, error) from error
    lengths = {name: len(array) if array.ndim else 0 for name, array in arrays.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(
            f"representative_dataset '{path}': expected arrays with the same number of samples "
            f"along axis 0, got {lengths}"
        )
    count = next(iter(lengths.values()))
    return [{name: array[n] for name, array in arrays.items()} for n in range(count)]


def _unreadable(path: Any, error: Exception) -> ValueError:
    reason = str(error) or type(error).__name__
    return ValueError(
        f"representative_dataset '{path}': expected a .npy or .npz file of numbers, got one that "
        f"numpy.load cannot read ({reason})"
    )


def _again(source: Any) -> Callable[[], Iterable[Any]]:
    """Returns a function that gives the samples each time that it is called."""
    if callable(source):
        return lambda: _iterable(source())
    samples = _iterable(source)
    if isinstance(samples, Iterator):
        samples = list(samples)  # An iterator could be used only once.
    return lambda: samples


def _iterable(source: Any) -> Iterable[Any]:
    # Arrays without a dimension have an Iterable type, but cannot be iterated.
    is_number = isinstance(source, np.ndarray) and not source.ndim
    if is_number or not isinstance(source, Iterable) or isinstance(source, (str, bytes)):
        got = "an array of no dimension" if is_number else type(source).__name__
        raise TypeError(f"representative_dataset: expected {_FORMS}; got {got}")
    return source


def _input_infos(model: Model, number: int) -> tuple[TensorInfo, ...]:
    """Returns a graph's inputs, with their names for callers."""
    graph = model.graphs[number]
    named = schema.signature_inputs(model, number)
    for tensor in graph.inputs:
        if tensor.dtype not in NUMPY_TYPES:
            raise ValueError(
                f"representative_dataset: expected a model whose inputs are numbers, got the input "
                f"'{tensor.name}' of {tensor.dtype.lower()}; convert it without samples"
            )
    names = [named.get(tensor, tensor.name) for tensor in graph.inputs]
    return tuple(
        TensorInfo(
            name,
            position,
            position,
            tensor.shape,
            tensor.signature or tensor.shape,
            np.dtype(NUMPY_TYPES[tensor.dtype]),
            (),
            (),
        )
        for position, (name, tensor) in enumerate(zip(names, graph.inputs, strict=True))
    )


def _check(sample: Any, inputs: Sequence[TensorInfo]) -> list[Array]:
    """Returns a sample as arrays, with a batch axis if the model has one."""
    if isinstance(sample, (str, bytes)) or not (
        isinstance(sample, (list, tuple, Mapping)) or hasattr(sample, "__array__")
    ):
        raise TypeError(
            "expected a list of arrays or a dictionary from input name to array, got "
            f"{type(sample).__name__}"
        )
    if isinstance(sample, Mapping):
        sample = {
            name: _with_batch(array, [info for info in inputs if info.name == name])
            for name, array in sample.items()
        }
    elif isinstance(sample, (list, tuple)):
        sample = [
            _with_batch(array, [info] if info else [])
            for array, info in itertools.zip_longest(sample, inputs)
            if array is not None
        ]
    else:
        sample = [_with_batch(sample, inputs[:1])]
    (stack,) = arguments.parse(sample, inputs).stacks
    arrays = [np.asarray(array) for array in stack]
    for array, info in zip(arrays, inputs, strict=True):
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"input {info}: expected finite numbers, got NaN or infinity")
    return arrays


def _with_batch(array: Any, infos: Sequence[TensorInfo]) -> Any:
    """Returns a single sample as a batch of one."""
    found = np.asarray(array)
    if infos and arguments.has_batch(infos) and found.ndim + 1 == len(infos[0].shape):
        return found[np.newaxis]
    return found
