"""Converts Keras models and SavedModels to float .tflite files with TensorFlow's own converter.

TensorFlow is imported only in this file, when a function needs it. It converts one function, which
is traced anew with a batch of 1. So all shapes are static, and the conversion takes a third of the
time that everything that Keras puts in a SavedModel takes (QuickNet: 3.1 s instead of 9.7 s).
"""

import contextlib
import keyword
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from larq_engine.converter import keras_rewrites, schema
from larq_engine.converter.doors import KERAS
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.keras_checks import check_eager, check_keras_model
from larq_engine.converter.keras_code import refuse_code
from larq_engine.converter.keras_graph_code import find_graph_code
from larq_engine.converter.keras_metrics import without_metrics
from larq_engine.converter.options import SIGNATURE
from larq_engine.converter.quiet import quiet_tensorflow
from larq_engine.python.model_kinds import is_saved_model

# The converter takes a model for quantization-aware if it has one of these operators. It would
# quantize everything else dynamically, binary weights included.
_FAKE_QUANTIZATION = {
    "FakeQuantWithMinMaxArgs",
    "FakeQuantWithMinMaxVars",
    "FakeQuantWithMinMaxVarsPerChannel",
    "QuantizeAndDequantizeV2",
    "QuantizeAndDequantizeV3",
}


def keras_to_tflite(model: Any) -> bytes:
    """Converts a model of Keras 2; if it is quantization-aware, its operators become int8.

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
    names = _input_names(structure, [spec.name for spec in specs])

    def serve(*tensors: Any) -> dict[str, Any]:
        args, kwargs = tf.nest.pack_sequence_as(structure, tensors)
        outputs = model(*args, **{"training": False, **kwargs})
        flat = tf.nest.flatten(outputs)
        return dict(zip(_output_names(model, outputs, len(flat)), flat, strict=True))

    with without_metrics(model):
        served = _trace(tf, what, SIGNATURE, dict(zip(names, specs, strict=True)), serve)
    return _convert(tf, what, [served])


def saved_model_to_tflite(
    directory: str | os.PathLike[str],
    signature_keys: Sequence[str] | None = None,
    *,
    unsafe: bool = False,
) -> bytes:
    """Converts signatures of a SavedModel, "serving_default" if none are named.

    Python functions in it are refused before it is loaded, unless `unsafe` is True.

    Raises:
        TypeError: `directory` is no path.
        OSError: There is no SavedModel.
        ConversionError: It holds code, lacks a signature or fixed sizes, or TensorFlow's
            converter failed.
    """
    if not isinstance(directory, (str, os.PathLike)):
        raise TypeError(
            "saved_model_dir: expected the path of a folder, got "
            f"{type(directory).__name__}; call convert_keras_model for a model in memory"
        )
    keys = [SIGNATURE] if signature_keys is None else signature_keys
    path = Path(directory)
    _check_saved_model(path)
    what = f"SavedModel '{path}'"
    import_tensorflow()
    if not unsafe:
        with failing(what, "TensorFlow cannot read it"), quiet_tensorflow():
            found = list(find_graph_code(path))
        refuse_code(what, found)
    return signatures_to_tflite(what, path, keys)


def signatures_to_tflite(
    what: str,
    path: Path,
    keys: Sequence[str],
    input_names: Sequence[str] = (),
    output_names: Mapping[str, str] | None = None,
) -> bytes:
    """Converts signatures of a SavedModel, which errors call `what`.

    A SavedModel keeps no order of inputs and outputs. Inputs come in the order of `input_names`,
    and others follow in the order of their names. The same holds for outputs and `output_names`, a
    map from the signature's names to the names in the file.
    """
    tf = import_tensorflow()
    check_eager(tf.executing_eagerly())
    with failing(what, "TensorFlow cannot load it"), quiet_tensorflow():
        loaded = tf.saved_model.load(os.fspath(path), tags=[tf.saved_model.SERVING])
    missing = [key for key in keys if key not in loaded.signatures]
    if missing:
        raise ConversionError(
            f"{what}: expected the signature {missing[0]!r}, got {sorted(loaded.signatures)}; "
            "name those to convert with signature_keys, or save the model with "
            f"signatures={{{missing[0]!r}: ...}}"
        )
    order = {_usable(name): number for number, name in enumerate(input_names)}
    names = output_names or {}
    return _convert(
        tf, what, [_serve_signature(tf, what, key, loaded, order, names) for key in keys]
    )


def _serve_signature(
    tf: Any,
    what: str,
    key: str,
    loaded: Any,
    order: Mapping[str, int],
    names: Mapping[str, str],
) -> "_Signature":
    function = loaded.signatures[key]
    found = function.structured_input_signature[1]
    last = len(order)
    specs = {
        name: found[name]
        for name in sorted(found, key=lambda name: (order.get(_usable(name), last), name))
    }
    outputs = [name for name in names if name in function.structured_outputs]
    outputs += sorted(function.structured_outputs.keys() - names.keys())

    def serve(*tensors: Any) -> dict[str, Any]:
        results = function(**dict(zip(specs, tensors, strict=True)))
        return {names.get(name, name): results[name] for name in outputs}

    return _trace(tf, what, key, specs, serve)


def quantize_float_ops(content: bytes, int8_range: tuple[float, float]) -> bytes:
    """Makes int8 operators of float ones, whose values are assumed to lie in `int8_range`.

    Custom operators stay as they are and compute in float32. Ranges that are known already stay,
    too. Inputs and outputs stay float32.

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
            # Constants get the range too; the quantizer takes their own range instead.
            if tensor.type == tflite.TensorType.FLOAT32:
                tensor.quantization = tflite.QuantizationParametersT()
                tensor.quantization.min = np.array(int8_range[:1], np.float32)
                tensor.quantization.max = np.array(int8_range[1:], np.float32)
    with failing("int8 range", "TensorFlow's quantizer failed"), quiet_tensorflow():
        # This is the second half of post-training quantization; ranges are given, not calibrated.
        return bytes(mlir_quantize(flatbuffer_utils.convert_object_to_bytearray(model)))


def import_tensorflow() -> Any:
    """Returns TensorFlow, or raises an ImportError that says how to install it."""
    try:
        with quiet_tensorflow():
            import tensorflow as tf
    except ModuleNotFoundError as error:
        if error.name != "tensorflow":
            raise
        raise ImportError(
            "TensorFlow: Keras models and SavedModels need it, and it is not installed; "
            f"{KERAS.install} (convert_tflite works without it)"
        ) from error
    return tf


@dataclass(frozen=True)
class _Signature:
    """A traced function, with the names and the order that its inputs and outputs have for callers.

    TensorFlow's own names, `arguments` and `results`, may differ from these.
    """

    key: str
    traced: Any
    arguments: list[str]
    inputs: list[str]
    results: list[str]
    outputs: list[str]

    @property
    def is_as_converted(self) -> bool:
        """Tells whether the names and the order in TensorFlow are the same as for callers."""
        renamed = (self.arguments, self.results) != (self.inputs, self.outputs)
        return not renamed and len(self.inputs) == len(self.outputs) == 1


def _trace(
    tf: Any, what: str, key: str, specs: dict[str, Any], serve: Callable[..., dict[str, Any]]
) -> _Signature:
    """Traces a function of tensors with a batch of 1; it returns tensors by their names."""
    arguments = _argument_names(specs)
    single = _with_batch_of_one(tf, what, specs, arguments)

    names: list[str] = []  # Filled by the trace; TensorFlow sorts the results.

    def renamed(**tensors: Any) -> dict[str, Any]:
        outputs = serve(*(tensors[name] for name in arguments))
        names[:] = outputs
        return dict(zip(_argument_names(names), outputs.values(), strict=True))

    traced = tf.function(renamed).get_concrete_function(**single)
    return _Signature(key, traced, arguments, list(specs), _argument_names(names), names)


def _convert(tf: Any, what: str, signatures: Sequence[_Signature]) -> bytes:
    # The module holds only the variables, as Keras would trace all layers again to save the model.
    holder = tf.Module()
    holder.values = [variable for served in signatures for variable in served.traced.variables]
    traced = {served.key: served.traced for served in signatures}
    with (
        tempfile.TemporaryDirectory() as folder,
        failing(what, "TensorFlow's converter failed"),
        quiet_tensorflow(),
    ):
        tf.saved_model.save(holder, folder, signatures=traced)
        keras_rewrites.prepare(folder)
        converter = tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=list(traced))
        # The metadata (the converter's version) costs a copy of the file (XNORNet: 4 of 28 s).
        converter.exclude_conversion_metadata = True
        if any(_is_quantization_aware(function.graph) for function in traced.values()):
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        content = bytes(converter.convert())
    return _with_names(content, signatures)


def _is_quantization_aware(graph: Any) -> bool:
    definition = graph.as_graph_def()
    functions = [definition.node, *(function.node_def for function in definition.library.function)]
    return any(node.op in _FAKE_QUANTIZATION for nodes in functions for node in nodes)


def _with_names(content: bytes, signatures: Sequence[_Signature]) -> bytes:
    """Restores the names and order of inputs and outputs, which the converter changes."""
    if len(signatures) == 1 and signatures[0].is_as_converted:
        return content
    model = schema.read(content)
    found = {os.fsdecode(key): rest for key, *rest in model.extra.signatures}
    model.extra.signatures = []
    for served in signatures:
        subgraph, inputs, outputs = found[served.key]
        graph = model.graphs[subgraph]
        graph.inputs = _sorted_by(served.arguments, inputs)
        graph.outputs = _sorted_by(served.results, outputs)
        named_inputs = list(zip(served.inputs, graph.inputs, strict=True))
        named_outputs = list(zip(served.outputs, graph.outputs, strict=True))
        model.extra.signatures.append((served.key, subgraph, named_inputs, named_outputs))
    return schema.write(model)


def _sorted_by(names: Sequence[str], entries: Iterable[tuple[Any, Any]]) -> list[Any]:
    tensors = {os.fsdecode(name): tensor for name, tensor in entries}
    return [tensors[name] for name in names]


def _with_batch_of_one(
    tf: Any, what: str, specs: dict[str, Any], arguments: Sequence[str]
) -> dict[str, Any]:
    """Returns the arguments' specifications, with a batch of 1 where the model leaves it open."""
    single = {}
    for argument, (name, spec) in zip(arguments, specs.items(), strict=True):
        sizes = spec.shape.as_list() if spec.shape.rank is not None else [None, None]
        if None in sizes[1:]:
            raise ConversionError(
                f"{what}: input '{name}': expected fixed sizes behind the batch, got the shape "
                f"{spec.shape}; build the model with the sizes that it is used with, as in "
                "Input((224, 224, 3))"
            )
        fixed = [1 if size is None else size for size in sizes]
        single[argument] = tf.TensorSpec(fixed, spec.dtype, name=argument)
    return single


def _input_names(structure: Any, names: Sequence[str | None]) -> list[str]:
    """Returns the keys of a dictionary of inputs, else names as TensorFlow makes them.

    TensorFlow makes a_in of "a-in".
    """
    args, kwargs = structure
    if len(args) == 1 and not kwargs and _is_flat(args[0], len(names)):
        return sorted(args[0])
    found: list[str] = []
    for number, name in enumerate(names, 1):
        usable = _usable(name or str(number))
        found.append(f"{usable}_{number}" if usable in found else usable)
    return found


def _argument_names(names: Iterable[str]) -> list[str]:
    """Returns names for arguments that TensorFlow takes: not "self", different in lower case."""
    found: list[str] = []
    for name in names:
        usable = _usable(name)
        while usable.lower() in ("self", *(other.lower() for other in found)):
            usable += "_"
        found.append(usable)
    return found


def _usable(name: str) -> str:
    usable = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not usable[:1].isalpha() or keyword.iskeyword(usable):
        usable = f"input_{usable.lstrip('_')}"
    return usable


def _is_flat(structure: Any, count: int) -> bool:
    """Tells whether it is a dictionary of `count` tensors, which TensorFlow sorts by name."""
    if not isinstance(structure, dict) or len(structure) != count:
        return False
    return all(isinstance(key, str) for key in structure)


def _output_names(model: Any, outputs: Any, count: int) -> list[str]:
    """Returns the keys of a dictionary of outputs, else Keras' own names, or output_1 and so on."""
    if _is_flat(outputs, count):
        return sorted(outputs)
    if model.output_names:
        return list(model.output_names)
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
    if not is_saved_model(path):
        found = ", ".join(sorted(entry.name for entry in path.iterdir())[:5]) or "nothing"
        raise FileNotFoundError(
            f"SavedModel '{path}': expected saved_model.pb in the folder, got {found}; {remedy}"
        )


@contextlib.contextmanager
def failing(what: str, failure: str) -> Iterator[None]:
    """Raises every error of TensorFlow in this block as a ConversionError."""
    try:
        yield
    except (MemoryError, OSError):
        raise
    except Exception as error:
        raise ConversionError(f"{what}: {failure}: {_essence(str(error))}") from error


_WITHOUT_OPERATOR = re.compile(r'\["\w+:", "([^"@]*)[^\n]*?\'(tf\.\w+)\' op is neither')
# A recurrent layer of Keras keeps in such a list what each round of its loop gives.
_LIST_OF_A_LOOP = re.compile(
    r'\["TensorListReserve:", "([^"@]*)/[^\n]*?\'tf\.TensorListReserve\' op requires ([^\n]*)'
)


def _essence(message: str) -> str:
    """Returns the part of TensorFlow's message that a user can act on; the cause has the rest."""
    missing = dict.fromkeys(_WITHOUT_OPERATOR.findall(message))
    if missing:
        places = ", ".join(f"{kind} (in '{place}')" for place, kind in missing)
        return f"TensorFlow Lite has no operator for {places}; build these parts of other operators"
    lists = dict(_LIST_OF_A_LOOP.findall(message))
    if lists:
        found = ", ".join(f"the list of '{place}' requires {what}" for place, what in lists.items())
        return (
            f"{found}; build a recurrent layer with unroll=True, as in LSTM(units, unroll=True), "
            "which takes the same weights; give a tf.TensorArray of your own its element_shape"
        )
    # A dump of the graph follows this note.
    return message.split("note: see current operation")[0].strip()
