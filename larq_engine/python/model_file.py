"""Reads a model and makes sure that it is a whole TensorFlow Lite flatbuffer.

A flatbuffer is tables that point to each other by offsets. A host that follows the offsets of a
truncated or corrupted file unchecked takes the process down (tflite_runtime 2.14 does; LiteRT and
TensorFlow check, and say no more than "not a valid Flatbuffer"). So every offset is checked here
first, whatever the host. What a table *means* is for the host and the plug-in to check, with one
exception: LiteRT 2.3's XNNPACK crashes on impossible scales and zero points.
"""

import math
import os
import struct
from pathlib import Path
from typing import Any

# A field is the width in bytes of a scalar, or says what its offset points to: "string",
# "[4]" a vector of 4-byte scalars, "Tensor" a table, "[Tensor]" a vector of tables, "?Options" the
# table that the union's type, the field before it, selects. Fields after the listed ones are newer
# than every host that does not check for itself.
_Field = int | str
_TABLES: dict[str, tuple[_Field, ...]] = {
    "Model": (
        4,
        "[OperatorCode]",
        "[SubGraph]",
        "string",
        "[Buffer]",
        "[4]",
        "[Metadata]",
        "[SignatureDef]",
    ),
    "OperatorCode": (1, "string", 4, 4),
    "SubGraph": ("[Tensor]", "[4]", "[4]", "[Operator]", "string"),
    "Tensor": (
        "[4]",
        1,
        4,
        "string",
        "QuantizationParameters",
        1,
        "SparsityParameters",
        "[4]",
        1,
        "[VariantSubType]",
    ),
    "QuantizationParameters": ("[4]", "[4]", "[4]", "[8]", 1, "?QuantizationDetails", 4),
    "CustomQuantization": ("[1]",),
    "SparsityParameters": ("[4]", "[4]", "[DimensionMetadata]"),
    "DimensionMetadata": (1, 4, 1, "?SparseIndexVector", 1, "?SparseIndexVector"),
    "Int32Vector": ("[4]",),
    "Uint16Vector": ("[2]",),
    "Uint8Vector": ("[1]",),
    "VariantSubType": ("[4]", 1, 1),
    "Operator": (4, "[4]", "[4]", 1, "?BuiltinOptions", "[1]", 1, "[1]", "[4]"),
    "Buffer": ("[1]", 8, 8),
    "Metadata": ("string", 4),
    "SignatureDef": ("[TensorMap]", "[TensorMap]", "string", "string", 4),
    "TensorMap": ("string", 4),
    # Options of builtin operators: those that hold vectors. All others are scalars.
    "ConcatEmbeddingsOptions": (4, "[4]", "[4]"),
    "FullyConnectedOptions": (1, 1, 1, 1, 1, "[1]"),
    "ReshapeOptions": ("[4]",),
    "SqueezeOptions": ("[4]",),
    "VarHandleOptions": ("string", "string"),
    "BucketizeOptions": ("[4]",),
    "ScalarOptions": (),
}
_UNIONS: dict[str, dict[int, str]] = {
    "QuantizationDetails": {1: "CustomQuantization"},
    "SparseIndexVector": {1: "Int32Vector", 2: "Uint16Vector", 3: "Uint8Vector"},
    "BuiltinOptions": {
        3: "ConcatEmbeddingsOptions",
        8: "FullyConnectedOptions",
        17: "ReshapeOptions",
        30: "SqueezeOptions",
        111: "VarHandleOptions",
        115: "BucketizeOptions",
    },
}
_UNION_DEFAULT = {"BuiltinOptions": "ScalarOptions"}

# Fields by number, and the codes of the types whose quantization is checked.
_TENSOR_TYPE, _TENSOR_NAME, _TENSOR_QUANTIZATION = 1, 3, 4
_SCALE, _ZERO_POINT = 2, 3
_QUANTIZED_TYPES = {3: ("uint8", 0, 255), 9: ("int8", -128, 127)}
_SMALLEST_SCALE = 2.0**-126  # XNNPACK takes no denormal numbers.


def read_model(model: bytes | bytearray | memoryview | str | os.PathLike[str]) -> bytes:
    """Returns the bytes of a whole TensorFlow Lite model given as bytes or as the path of a file.

    Raises:
        TypeError: `model` is neither.
        FileNotFoundError: There is no such file.
        ValueError: The bytes are not a TensorFlow Lite model, or only a part of one.
    """
    if isinstance(model, (bytes, bytearray, memoryview)):
        name, content = "model", bytes(model)
    elif isinstance(model, (str, os.PathLike)):
        name, content = f"model '{os.fspath(model)}'", Path(model).read_bytes()
    else:
        raise TypeError(
            "model: expected the bytes of a .tflite file or its path, "
            f"got {type(model).__name__}; convert other models first"
        )
    try:
        _Verifier(content).verify()
    except _DamageError as damage:
        raise ValueError(f"{name} ({len(content)} bytes): {damage}") from None
    return content


class _DamageError(Exception):
    """Says what is wrong with the file, without its name."""


class _Verifier:
    def __init__(self, content: bytes) -> None:
        self._content = content
        # Tables may be shared: each is checked once, so that a small file cannot take for ever.
        self._checked: set[tuple[int, str]] = set()

    def verify(self) -> None:
        identifier = self._content[4:8]
        if identifier != b"TFL3":
            raise _DamageError(
                "expected a TensorFlow Lite flatbuffer with the identifier b'TFL3' at byte 4, "
                f"got {identifier!r}; give the content of a .tflite file"
            )
        self._check_table(self._read("I", 0, "root"), "Model")

    def _read(self, code: str, position: int, what: str) -> int:
        size = struct.calcsize(code)
        if position < 0 or position + size > len(self._content):
            raise _DamageError(
                f"expected {what} at byte {position}, got the end of the file; "
                "it is truncated or corrupted: copy or convert it again"
            )
        value: int = struct.unpack_from("<" + code, self._content, position)[0]
        return value

    def _check_table(self, start: int, kind: str) -> None:
        if (start, kind) in self._checked:
            return
        self._checked.add((start, kind))
        vtable = start - self._read("i", start, kind)
        vtable_size = self._read("H", vtable, f"the layout of {kind}")
        size = self._read("H", vtable + 2, f"the layout of {kind}")
        if vtable_size < 4 or vtable_size % 2 or size < 4:
            raise _DamageError(
                f"expected {kind} at byte {start}, got a layout of {vtable_size} bytes for a table "
                f"of {size}; it is corrupted: copy or convert it again"
            )
        self._check_span(vtable, vtable_size, f"the layout of {kind}")
        self._check_span(start, size, kind)
        union_type = 0
        slots = struct.unpack_from(f"<{vtable_size // 2 - 2}H", self._content, vtable + 4)
        for field, slot in zip(_TABLES[kind], slots, strict=False):
            if not slot:
                union_type = 0
                continue
            width = field if isinstance(field, int) else 4
            if slot < 4 or slot + width > size:
                raise _DamageError(
                    f"expected the fields of {kind} at byte {start} within its {size} bytes, "
                    f"got one at {slot}; it is corrupted: copy or convert it again"
                )
            if isinstance(field, int):
                union_type = self._content[start + slot] if width == 1 else 0
            else:
                position = start + slot
                self._check_target(position + self._read("I", position, kind), field, union_type)
        if kind == "Tensor":
            self._check_quantization(start)

    def _check_target(self, start: int, field: str, union_type: int) -> None:
        if field == "string":
            self._check_string(start)
        elif field.startswith("?"):
            kind = _UNIONS[field[1:]].get(union_type, _UNION_DEFAULT.get(field[1:]))
            if kind is not None and union_type:
                self._check_table(start, kind)
        elif field.startswith("["):
            element = field[1:-1]
            if element.isdigit():
                self._check_vector(start, int(element), "a vector")
                return
            length = self._check_vector(start, 4, f"a vector of {element}")
            offsets = struct.unpack_from(f"<{length}I", self._content, start + 4)
            for index, offset in enumerate(offsets):
                self._check_table(start + 4 + 4 * index + offset, element)
        else:
            self._check_table(start, field)

    def _check_string(self, start: int) -> None:
        end = start + 4 + self._check_vector(start, 1, "string")
        text = self._content[start + 4 : end]
        try:
            text.decode("utf-8")
        except UnicodeDecodeError:
            problem = f"{text!r}"
        else:
            problem = "no end" if self._read("B", end, "the end of a string") else ""
        if problem:
            raise _DamageError(
                f"expected a string of UTF-8 with a zero at its end at byte {start}, got {problem};"
                " it is corrupted: copy or convert it again"
            )

    def _check_vector(self, start: int, width: int, what: str) -> int:
        length = self._read("I", start, what)
        self._check_span(start + 4, length * width, what)
        return length

    def _check_span(self, start: int, size: int, what: str) -> None:
        if start < 0 or start + size > len(self._content):
            raise _DamageError(
                f"expected {what} of {size} bytes at byte {start}, got the end of the file; "
                "it is truncated or corrupted: copy or convert it again"
            )

    def _check_quantization(self, tensor: int) -> None:
        type_position = self._field(tensor, _TENSOR_TYPE)
        code = self._content[type_position] if type_position else 0
        quantization = self._field(tensor, _TENSOR_QUANTIZATION)
        if code not in _QUANTIZED_TYPES or not quantization:
            return
        kind, lowest, highest = _QUANTIZED_TYPES[code]
        quantization += self._read("I", quantization, "quantization")
        scales = self._vector(quantization, _SCALE, "f")
        zero_points = self._vector(quantization, _ZERO_POINT, "q")
        if not all(_SMALLEST_SCALE <= scale < math.inf for scale in scales):
            problem = f"positive scales, got {_some(scales)}"
        elif not all(lowest <= zero_point <= highest for zero_point in zero_points):
            problem = f"zero points of {lowest} to {highest}, got {_some(zero_points)}"
        elif scales and len(zero_points) not in (1, len(scales)):
            problem = f"{len(scales)} zero points, one for each scale, got {len(zero_points)}"
        else:
            return
        name = bytes(self._vector(tensor, _TENSOR_NAME, "B")).decode()
        raise _DamageError(
            f"{kind} tensor '{name}': expected {problem}; re-convert the model, or copy it again"
        )

    def _field(self, table: int, number: int) -> int:
        """Returns where a field of a checked table is, or 0 if it has its default."""
        vtable = table - self._read("i", table, "a table")
        slot = vtable + 4 + 2 * number
        inside = 4 + 2 * number < self._read("H", vtable, "a layout")
        offset = self._read("H", slot, "a layout") if inside else 0
        return table + offset if offset else 0

    def _vector(self, table: int, number: int, code: str) -> tuple[Any, ...]:
        """Returns the numbers of a vector in a checked table; none if the field is absent."""
        position = self._field(table, number)
        if not position:
            return ()
        start = position + self._read("I", position, "a vector")
        length = self._read("I", start, "a vector")
        return struct.unpack_from(f"<{length}{code}", self._content, start + 4)


def _some(numbers: tuple[Any, ...]) -> str:
    """One number as it is, of several the first ones."""
    text = ", ".join(map(str, numbers[:3]))
    return f"{text}..." if len(numbers) > 3 else text
