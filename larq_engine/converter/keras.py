"""Keras models and SavedModels to float .tflite files, by TensorFlow's own converter.

TensorFlow itself is imported here alone, when a function needs it. What is converted is one
function with a batch of 1, traced anew: the converter then has static shapes throughout, and takes
a third of the time that it needs for all that Keras puts in a SavedModel (QuickNet: 3.1 s instead
of 9.7 s).
"""

import contextlib
import keyword
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from larq_engine.converter import schema
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.keras_checks import check_eager, check_keras_model
from larq_engine.converter.quiet import quiet_tensorflow

_SIGNATURE = "serving_default"

# The converter takes a model for quantization-aware if it has one of these; the rest it would
# quantize dynamically, binary weights with it.
_FAKE_QUANTIZATION = {
    "FakeQuantWithMinMaxArgs",
    "FakeQuantWithMinMaxVars",
    "FakeQuantWithMinMaxVarsPerChannel",
    "QuantizeAndDequantizeV2",
    "QuantizeAndDequantizeV3",
}


def keras_to_tflite(model: Any) -> bytes:
    """Converts a Keras model; a quantization-aware one comes out with int8 operators.

    Inputs and outputs have Keras' order and names, and float32 where they had it.

    Raises:
        TypeError: It is no model.
        ValueError: It is one that cannot be converted as it is.
        ConversionError: TensorFlow's converter failed.
    """
    check_keras_model(model)
    tf = import_tensorflow()
    check_eager(tf.executing_eagerly())
    what = f"model '{model.name}'"
    structure = model.save_spec()
    specs = tf.nest.flatten(structure)
    dense = [isinstance(spec, tf.TensorSpec) for spec in specs]
    if not all(dense):
        raise ConversionError(
            f"{what}: expected ordinary tensors as inputs, got {specs[dense.index(False)]}; "
            "TensorFlow Lite has no sparse or ragged ones: make them dense in front of the model"
        )
    names = _argument_names(spec.name for spec in specs)
    single = _with_batch_of_one(tf, what, dict(zip(names, specs, strict=True)))
    output_names: list[str] = []  # Known when the model was traced; tf.function sorts its result.

    def serve(**tensors: Any) -> dict[str, Any]:
        args, kwargs = tf.nest.pack_sequence_as(structure, [tensors[name] for name in names])
        outputs = model(*args, **{"training": False, **kwargs})
        flat = tf.nest.flatten(outputs)
        output_names[:] = _output_names(model, outputs, len(flat))
        return dict(zip(output_names, flat, strict=True))

    traced = tf.function(serve).get_concrete_function(**single)
    return _convert(tf, what, traced, names, output_names)


def saved_model_to_tflite(directory: str | os.PathLike[str]) -> bytes:
    """Converts the signature "serving_default" of a SavedModel.

    Raises:
        TypeError: `directory` is no path.
        OSError: There is no SavedModel.
        ConversionError: It lacks the signature or fixed sizes, or TensorFlow's converter failed.
    """
    if not isinstance(directory, (str, os.PathLike)):
        raise TypeError(
            "saved_model_dir: expected the path of a folder, got "
            f"{type(directory).__name__}; call convert_keras_model for a model in memory"
        )
    path = Path(directory)
    _check_saved_model(path)
    tf = import_tensorflow()
    check_eager(tf.executing_eagerly())
    what = f"SavedModel '{path}'"
    with _failing(what, "TensorFlow cannot load it"), quiet_tensorflow():
        loaded = tf.saved_model.load(os.fspath(path), tags=[tf.saved_model.SERVING])
    if _SIGNATURE not in loaded.signatures:
        raise ConversionError(
            f"{what}: expected the signature {_SIGNATURE!r}, got {sorted(loaded.signatures)}; save "
            f"the model with signatures={{{_SIGNATURE!r}: ...}}"
        )
    served = loaded.signatures[_SIGNATURE]
    specs = served.structured_input_signature[1]
    single = _with_batch_of_one(tf, what, specs)
    traced = tf.function(lambda **tensors: served(**tensors)).get_concrete_function(**single)
    return _convert(tf, what, traced, list(specs), sorted(served.structured_outputs))


def quantize_float_ops(content: bytes, int8_range: tuple[float, float]) -> bytes:
    """Makes int8 operators of the float ones, whose values are taken to lie in `int8_range`.

    Custom operators stay as they are, with values in float32 around them; so do ranges that are
    known already. Inputs and outputs stay float32.

    Raises:
        ConversionError: TensorFlow's quantizer failed.
    """
    import_tensorflow()
    import numpy as np
    from tensorflow.lite.python import schema_py_generated as tflite
    from tensorflow.lite.python.convert import mlir_quantize
    from tensorflow.lite.tools import flatbuffer_utils

    model = flatbuffer_utils.convert_bytearray_to_object(content)
    for subgraph in model.subgraphs:
        for tensor in subgraph.tensors:
            # Constants, too: of those the quantizer takes the ranges that they have.
            if tensor.type == tflite.TensorType.FLOAT32:
                tensor.quantization = tflite.QuantizationParametersT()
                tensor.quantization.min = np.array(int8_range[:1], np.float32)
                tensor.quantization.max = np.array(int8_range[1:], np.float32)
    with _failing("int8 range", "TensorFlow's quantizer failed"), quiet_tensorflow():
        # The second half of post-training quantization: what calibration finds is given instead.
        return bytes(mlir_quantize(flatbuffer_utils.convert_object_to_bytearray(model)))


def import_tensorflow() -> Any:
    """Returns TensorFlow, or raises ImportError that says how to install it."""
    try:
        with quiet_tensorflow():
            import tensorflow as tf
    except ModuleNotFoundError as error:
        if error.name != "tensorflow":
            raise
        raise ImportError(
            "TensorFlow: Keras models and SavedModels need it, and it is not installed; "
            'pip install ".[converter]" in the folder of larq_engine '
            "(convert_tflite works without it)"
        ) from error
    return tf


def _convert(
    tf: Any, what: str, traced: Any, inputs: Sequence[str], outputs: Sequence[str]
) -> bytes:
    """Converts a traced function whose names of inputs and outputs come in this order."""
    # Only the variables, not the model: Keras would trace all of its layers again to save them.
    holder = tf.Module()
    holder.values = list(traced.variables)
    with (
        tempfile.TemporaryDirectory() as folder,
        _failing(what, "TensorFlow's converter failed"),
        quiet_tensorflow(),
    ):
        tf.saved_model.save(holder, folder, signatures={_SIGNATURE: traced})
        converter = tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=[_SIGNATURE])
        # Which version converted it is worth no second copy of the file (XNORNet: 4 of 28 s).
        converter.exclude_conversion_metadata = True
        if _is_quantization_aware(traced.graph):
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        content = bytes(converter.convert())
    return _in_order(content, inputs, outputs)


def _is_quantization_aware(graph: Any) -> bool:
    definition = graph.as_graph_def()
    functions = [definition.node, *(function.node_def for function in definition.library.function)]
    return any(node.op in _FAKE_QUANTIZATION for nodes in functions for node in nodes)


def _in_order(content: bytes, inputs: Sequence[str], outputs: Sequence[str]) -> bytes:
    """Brings a file's inputs and outputs into this order; the converter leaves them in its own."""
    if len(inputs) == len(outputs) == 1:
        return content
    model = schema.read(content)
    [(_, subgraph, named_inputs, named_outputs)] = model.extra.signatures
    graph = model.graphs[subgraph]
    graph.inputs = _sorted_by(inputs, named_inputs)
    graph.outputs = _sorted_by(outputs, named_outputs)
    return schema.write(model)


def _sorted_by(names: Sequence[str], entries: Iterable[tuple[Any, Any]]) -> list[Any]:
    tensors = {os.fsdecode(name): tensor for name, tensor in entries}
    return [tensors[name] for name in names]


def _with_batch_of_one(tf: Any, what: str, specs: dict[str, Any]) -> dict[str, Any]:
    """Returns the specifications with a batch of 1 where the model leaves it open."""
    single = {}
    for name, spec in specs.items():
        sizes = spec.shape.as_list() if spec.shape.rank is not None else [None, None]
        if None in sizes[1:]:
            raise ConversionError(
                f"{what}: input '{name}': expected fixed sizes behind the batch, got the shape "
                f"{spec.shape}; build the model with the sizes that it is used with, as in "
                "Input((224, 224, 3))"
            )
        fixed = [1 if size is None else size for size in sizes]
        single[name] = tf.TensorSpec(fixed, spec.dtype, name=name)
    return single


def _argument_names(names: Iterable[str | None]) -> list[str]:
    """Names that Python takes for arguments, as TensorFlow makes them: a_in for "a-in"."""
    found: list[str] = []
    for number, name in enumerate(names, 1):
        usable = re.sub(r"\W", "_", name or str(number), flags=re.ASCII)
        if not usable[0].isalpha() or keyword.iskeyword(usable):
            usable = f"input_{usable.lstrip('_')}"
        found.append(f"{usable}_{number}" if usable in found else usable)
    return found


def _output_names(model: Any, outputs: Any, count: int) -> list[str]:
    """Keras' own names, or for models that have none the keys of a dictionary, or output_1..."""
    if model.output_names:
        return list(model.output_names)
    if isinstance(outputs, dict) and len(outputs) == count:
        return sorted(outputs)
    return [f"output_{number}" for number in range(1, count + 1)]


def _check_saved_model(path: Path) -> None:
    remedy = "give the folder that tf.saved_model.save or model.save(folder) wrote"
    if not path.exists():
        raise FileNotFoundError(f"SavedModel '{path}': expected a folder, got nothing; {remedy}")
    if not path.is_dir():
        raise NotADirectoryError(
            f"SavedModel '{path}': expected a folder, got a file; {remedy}, or call convert_tflite "
            "for a .tflite file"
        )
    if not any((path / name).exists() for name in ("saved_model.pb", "saved_model.pbtxt")):
        found = ", ".join(sorted(entry.name for entry in path.iterdir())[:5]) or "nothing"
        raise FileNotFoundError(
            f"SavedModel '{path}': expected saved_model.pb in the folder, got {found}; {remedy}"
        )


@contextlib.contextmanager
def _failing(what: str, failure: str) -> Iterator[None]:
    """Raises what TensorFlow raises in this block, of any type, as ConversionError."""
    try:
        yield
    except (MemoryError, OSError):
        raise
    except Exception as error:
        raise ConversionError(f"{what}: {failure}: {_essence(str(error))}") from error


_WITHOUT_OPERATOR = re.compile(r'\["\w+:", "([^"@]*)[^\n]*?\'(tf\.\w+)\' op is neither')


def _essence(message: str) -> str:
    """The part of TensorFlow's message that a user can act on; the rest is in the cause."""
    missing = dict.fromkeys(_WITHOUT_OPERATOR.findall(message))
    if missing:
        places = ", ".join(f"{kind} (in '{place}')" for place, kind in missing)
        return f"TensorFlow Lite has no operator for {places}; build these parts of other operators"
    # What follows is a dump of the graph.
    return message.split("note: see current operation")[0].strip()
