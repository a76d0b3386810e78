"""Reads ONNX files into plain objects: the only module that reads them with the package `onnx`.

A file may come from anywhere. So this module checks everything that the others rely on: that the
file is whole, that each value is made once and before it is read, and that data have their sizes.
"""

import ast
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from larq_engine.converter.doors import ONNX
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import NUMPY_TYPES, Array
from larq_engine.python.model_file import read_file

OnnxSource = bytes | bytearray | memoryview | str | os.PathLike[str]

# Operators had other attributes before this opset; exporters since 2018 write newer ones.
OLDEST_OPSET = 9

STANDARD = ""
# Domain of QONNX's quantizers; older files have others.
QUANTIZERS = "qonnx.custom_op.general"
_DOMAINS = {
    "": STANDARD,
    "ai.onnx": STANDARD,
    QUANTIZERS: QUANTIZERS,
    "finn.custom_op.general": QUANTIZERS,
    "onnx.brevitas": QUANTIZERS,
}

# A flatbuffer cannot be larger than this.
MOST_BYTES = 1 << 31

_TYPE_NAMES = {np.dtype(dtype): name for name, dtype in NUMPY_TYPES.items()}


@dataclass(frozen=True)
class Node:
    """An operator as in the file; an absent optional input or output is ""."""

    kind: str
    name: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    module: str = ""  # The module of PyTorch that it comes from, if the file tells.

    @property
    def title(self) -> str:
        """Name of the operator in errors."""
        return f"{self.kind} '{self.name or next(filter(None, self.outputs), '')}'"


@dataclass(frozen=True)
class Declared:
    """An input of the model; None stands for a size that the file leaves open."""

    name: str
    dtype: str  # A name in NUMPY_TYPES.
    shape: tuple[int | None, ...]


@dataclass(frozen=True)
class OnnxModel:
    """A whole model, with its nodes in an order in which they can run."""

    name: str
    opset: int
    nodes: tuple[Node, ...]
    constants: dict[str, Array]
    inputs: tuple[Declared, ...]
    outputs: tuple[str, ...]


def read_onnx(source: OnnxSource) -> OnnxModel:
    """Reads a model given as its path or content.

    Raises:
        ImportError: The package `onnx` is not installed.
        TypeError: `source` is neither a path nor content.
        FileNotFoundError: There is no such file.
        ValueError: It is no ONNX model, a damaged one, or one of an opset that is not supported.
    """
    onnx = _import_onnx()
    name, content, folder = _read_bytes(source)
    try:
        proto = onnx.ModelProto.FromString(content)
    except Exception as error:  # protobuf's own class; its module has moved between releases
        raise ValueError(
            f"{name} ({len(content)} bytes): expected a whole ONNX model, got something else or a "
            f"part of one ({error}); export or copy it again"
        ) from error
    if not proto.ir_version or not proto.opset_import or not proto.graph.node:
        raise ValueError(
            f"{name} ({len(content)} bytes): expected an ONNX model, got a file without operators; "
            "export or copy it again"
        )
    return _Reader(onnx, name, folder).read(proto)


def _import_onnx() -> Any:
    try:
        import onnx
        import onnx.numpy_helper
    except ModuleNotFoundError as error:
        raise ImportError(
            f"reading ONNX models needs {error.name}, which is not installed; {ONNX.install}"
        ) from error
    return onnx


def _read_bytes(source: OnnxSource) -> tuple[str, bytes, Path | None]:
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        return f"model '{path}'", read_file(source), path.resolve().parent
    try:
        return "model", memoryview(source).tobytes(), None
    except TypeError:
        raise TypeError(
            "model: expected the bytes of an .onnx file or its path, got "
            f"{type(source).__name__}; of a loaded model pass model.SerializeToString()"
        ) from None


def _module(proto: Any) -> str:
    """Returns the innermost of the modules that PyTorch's newer exporter records for an operator.

    The record is a list in Python's syntax: the modules, and then PyTorch's own operator.
    """
    notes = {entry.key: entry.value for entry in proto.metadata_props}
    try:
        scopes = ast.literal_eval(notes.get("pkg.torch.onnx.name_scopes", ""))
    except (SyntaxError, ValueError):
        return ""
    is_list = isinstance(scopes, list) and len(scopes) > 1
    return str(scopes[-2]) if is_list else ""


class _Reader:
    def __init__(self, onnx: Any, name: str, folder: Path | None) -> None:
        self._onnx = onnx
        self._name = name
        self._folder = folder

    def read(self, proto: Any) -> OnnxModel:
        graph = proto.graph
        opset = self._opset(proto)
        if graph.sparse_initializer:
            raise self._error("dense initializers", "sparse ones", "export it without them")
        constants = {self._text(tensor.name): self._array(tensor) for tensor in graph.initializer}
        # Before version 4 of the format, constants were also listed as inputs.
        inputs = tuple(self._input(i) for i in graph.input if self._text(i.name) not in constants)
        nodes = tuple(map(self._node, graph.node))
        outputs = tuple(self._text(output.name) for output in graph.output)
        named = [*(tensor.name for tensor in graph.initializer), *(given.name for given in inputs)]
        self._check_order(named, nodes, outputs)
        return OnnxModel(self._text(graph.name), opset, nodes, constants, inputs, outputs)

    def _text(self, text: str | bytes) -> str:
        """Returns a name; protobuf gives bytes if the name in the file is not text."""
        if isinstance(text, bytes):
            raise self._error("names of UTF-8 text", repr(text), "it is damaged: export it again")
        return text

    def _error(self, expected: str, got: str, remedy: str) -> ValueError:
        return ValueError(f"{self._name}: expected {expected}, got {got}; {remedy}")

    def _opset(self, proto: Any) -> int:
        newest = self._onnx.defs.onnx_opset_version()
        versions = [i.version for i in proto.opset_import if _DOMAINS.get(i.domain) == STANDARD]
        if not versions:
            raise self._error("the version of its operators", "none", "export it again")
        version = int(versions[0])
        if not OLDEST_OPSET <= version <= newest:
            raise self._error(
                f"operators of opset {OLDEST_OPSET} to {newest}, the newest that the installed "
                f"onnx {self._onnx.__version__} knows",
                f"opset {version}",
                "export it with one of these, or upgrade onnx"
                if version > newest
                else "export it with one of these (onnx.version_converter brings old ones up)",
            )
        return version

    def _input(self, info: Any) -> Declared:
        if not info.type.HasField("tensor_type") or not info.type.tensor_type.HasField("shape"):
            raise self._error(
                f"input '{info.name}' to be a tensor with a known number of dimensions",
                "something else",
                "export it with the shapes of its inputs",
            )
        tensor = info.type.tensor_type
        shape = tuple(
            int(dim.dim_value) if dim.HasField("dim_value") and dim.dim_value > 0 else None
            for dim in tensor.shape.dim
        )
        return Declared(
            self._text(info.name), self._type(tensor.elem_type, f"input '{info.name}'"), shape
        )

    def _type(self, number: int, of: str) -> str:
        try:
            dtype = np.dtype(self._onnx.helper.tensor_dtype_to_np_dtype(number))
        except (KeyError, TypeError, ValueError):
            dtype = None
        known = _TYPE_NAMES.get(dtype) if dtype is not None else None
        if known is None:
            kind = self._onnx.TensorProto.DataType
            text = kind.Name(number) if number in kind.values() else str(number)
            raise self._error(
                f"{of} to be of floats, whole numbers or truth values", text, "export it in float32"
            )
        return known

    def _node(self, proto: Any) -> Node:
        domain = self._text(proto.domain)
        node = Node(
            self._text(proto.op_type),
            self._text(proto.name),
            _DOMAINS.get(domain, domain),
            tuple(map(self._text, proto.input)),
            tuple(map(self._text, proto.output)),
            module=_module(proto),
        )
        if domain not in _DOMAINS:
            raise ConversionError(
                f"{node.title}: expected an operator of ONNX or QONNX, got one of the domain "
                f"'{domain}', which the converter does not know; export the model without it"
            )
        node.attributes.update(
            (self._text(attribute.name), self._attribute(node, attribute))
            for attribute in proto.attribute
        )
        return node

    def _attribute(self, node: Node, proto: Any) -> Any:
        """Returns numbers, texts as str, tensors as arrays; None for graphs and the like."""
        kinds = self._onnx.AttributeProto
        if proto.type == kinds.TENSOR:
            return self._array(proto.t, f"attribute '{proto.name}' of {node.title}")
        if proto.type == kinds.STRING:
            return proto.s.decode("utf-8", errors="replace")
        if proto.type in (kinds.FLOAT, kinds.INT, kinds.FLOATS, kinds.INTS):
            value = self._onnx.helper.get_attribute_value(proto)
            return list(value) if proto.type in (kinds.FLOATS, kinds.INTS) else value
        return None

    def _array(self, tensor: Any, of: str = "") -> Array:
        of = of or f"tensor '{tensor.name}'"
        shape = tuple(int(size) for size in tensor.dims)
        dtype = NUMPY_TYPES[self._type(tensor.data_type, of)]
        if any(size < 0 for size in shape):
            raise self._error(
                f"{of} to have sizes", f"{list(shape)}", "it is damaged: export it again"
            )
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if size >= MOST_BYTES:
            raise self._error(
                f"{of} to have less than 2 GB, as all of a .tflite file",
                f"the shape {list(shape)}",
                "convert a smaller model",
            )
        if tensor.data_location == self._onnx.TensorProto.EXTERNAL:
            content = self._external(tensor, of, size)
            return np.frombuffer(content, np.dtype(dtype).newbyteorder("<")).reshape(shape)
        try:
            array = np.asarray(self._onnx.numpy_helper.to_array(tensor))
        except Exception as error:  # A reader of damaged bytes may raise anything.
            raise self._error(
                f"{of} to hold values for the shape {list(shape)}",
                f"other data ({error})",
                "it is damaged: export it again",
            ) from error
        if array.shape != shape:
            raise self._error(
                f"{of} to hold values for the shape {list(shape)}",
                f"{array.size} values",
                "it is damaged: export it again",
            )
        return array

    def _external(self, tensor: Any, of: str, size: int) -> bytes:
        """Reads data that the model keeps in another file, which must be in the model's folder."""
        fields = {self._text(entry.key): self._text(entry.value) for entry in tensor.external_data}
        location = fields.get("location", "")
        if self._folder is None:
            raise self._error(
                f"{of} to be in these bytes", f"data in '{location}'", "give the path of the file"
            )
        try:
            path = (self._folder / location).resolve()
            is_file = path.is_file()
        except (OSError, ValueError):  # A file cannot have such a name.
            path, is_file = self._folder, False
        if not location or self._folder not in path.parents:
            raise self._error(
                f"{of} to be in a file in the folder of the model",
                f"data in '{location}'",
                "put that file beside the model, under a name without '..'",
            )
        try:
            start, length = int(fields.get("offset", 0)), int(fields.get("length", size))
            found = path.stat().st_size - start if is_file else None
        except ValueError:
            start, length, found = 0, -1, -1
        if found is None:
            raise self._error(f"{of} in the file '{location}'", "no such file", "copy that one too")
        if length != size or start < 0 or found < size:
            raise self._error(
                f"{of} to have {size} bytes in '{location}'",
                f"{min(length, found)} from byte {start} on",
                "copy or export it again",
            )
        with path.open("rb") as file:
            file.seek(start)
            content: bytes = file.read(size)
            return content

    def _check_order(
        self, known: Iterable[str], nodes: Iterable[Node], outputs: Sequence[str]
    ) -> None:
        made: set[str] = set()
        for name in known:
            if not name or name in made:
                raise self._error(
                    "each input and initializer to have a name of its own",
                    f"'{name}'" + " twice" * bool(name),
                    "export it again",
                )
            made.add(name)
        for node in nodes:
            for name in filter(None, node.inputs):
                if name not in made:
                    raise self._error(
                        f"{node.title} to read what an earlier operator makes",
                        f"'{name}', which none does",
                        "its operators go round in a circle or are cut off: export it again",
                    )
            for name in filter(None, node.outputs):
                if name in made:
                    raise self._error(
                        f"{node.title} to make a value of its own",
                        f"'{name}', which is there already",
                        "export it again",
                    )
                made.add(name)
        missing = [name for name in outputs if name not in made]
        if missing or not outputs:
            raise self._error(
                "outputs that operators make", f"{missing or 'no output'}", "export it again"
            )
        if len(set(outputs)) < len(outputs):
            raise self._error("outputs of different names", f"{[*outputs]}", "export it again")
