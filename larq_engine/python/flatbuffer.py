"""The structure of a TensorFlow Lite flatbuffer: checks it, and then reads from it.

A flatbuffer is tables that point to each other by offsets. A host that follows the offsets of a
truncated or corrupted file unchecked takes the process down (tflite_runtime 2.14 does; LiteRT and
TensorFlow check, and say no more than "not a valid Flatbuffer"). So every offset is checked here
first, whatever the host.
"""

import struct
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
    "Operator": (4, "[4]", "[4]", 1, "?BuiltinOptions", "[1]", 1, "[1]", "[4]", 8, 8),
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

# Tables with data outside the flatbuffer: the field of the data's first byte in the file, before
# that of their size. No host checks these; 0 and 1 mean that there are none.
_OUTSIDE_DATA = {"Buffer": 1, "Operator": 9}

# Each element of a vector and each byte of a string is visited once or twice, which is less than
# once for each byte of the file; the rest is room for vectors that a writer shared. Without a limit
# a small file whose vectors overlap takes for ever.
_MAX_VISITS_PER_BYTE = 4


class DamageError(Exception):
    """Says what is wrong with a file, without its name."""


class Flatbuffer:
    """A model's bytes. A position is where a table or field starts, from the first byte."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._checked: set[tuple[int, str]] = set()  # Tables may be shared; once is enough.
        self._visits_left = _MAX_VISITS_PER_BYTE * len(content)

    def check(self) -> int:
        """Returns the position of the model's table after following every offset once.

        Raises:
            DamageError: Something is not where an offset says.
        """
        identifier = self._content[4:8]
        if identifier != b"TFL3":
            raise DamageError(
                "expected a TensorFlow Lite flatbuffer with the identifier b'TFL3' at byte 4, "
                f"got {identifier!r}; give the content of a .tflite file"
            )
        root = self._read("I", 0, "root")
        self._check_table(root, "Model")
        return root

    def scalar(self, table: int, number: int, code: str) -> int:
        """Returns a number in a checked table, 0 if the field is absent."""
        position = self._field(table, number)
        return self._read(code, position, "a field") if position else 0

    def table(self, table: int, number: int) -> int:
        """Returns the position of the table in a field, 0 if the field is absent."""
        position = self._field(table, number)
        return position + self._read("I", position, "a table") if position else 0

    def tables(self, table: int, number: int) -> list[int]:
        """Returns the positions of the tables in a vector."""
        position = self._field(table, number)
        start = position + self._read("I", position, "a vector") if position else 0
        offsets = self.vector(table, number, "I")
        return [start + 4 + 4 * index + offset for index, offset in enumerate(offsets)]

    def vector(self, table: int, number: int, code: str) -> tuple[Any, ...]:
        """Returns the numbers of a vector in a checked table; none if the field is absent."""
        position = self._field(table, number)
        if not position:
            return ()
        start = position + self._read("I", position, "a vector")
        length = self._read("I", start, "a vector")
        self._visit(length, start)
        return struct.unpack_from(f"<{length}{code}", self._content, start + 4)

    def string(self, table: int, number: int) -> str:
        """Returns the text in a field, empty if the field is absent."""
        return bytes(self.vector(table, number, "B")).decode()

    def _field(self, table: int, number: int) -> int:
        """Returns where a field of a checked table is, or 0 if it has its default."""
        vtable = table - self._read("i", table, "a table")
        slot = vtable + 4 + 2 * number
        inside = 4 + 2 * number < self._read("H", vtable, "a layout")
        offset = self._read("H", slot, "a layout") if inside else 0
        return table + offset if offset else 0

    def _read(self, code: str, position: int, what: str) -> int:
        size = struct.calcsize(code)
        if position < 0 or position + size > len(self._content):
            raise DamageError(
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
            raise DamageError(
                f"expected {kind} at byte {start}, got a layout of {vtable_size} bytes for a table "
                f"of {size}; it is corrupted: copy or convert it again"
            )
        self._check_span(vtable, vtable_size, f"the layout of {kind}")
        self._check_span(start, size, kind)
        union_type = 0
        fields = _TABLES[kind][: vtable_size // 2 - 2]
        slots = struct.unpack_from(f"<{len(fields)}H", self._content, vtable + 4)
        for field, slot in zip(fields, slots, strict=True):
            if not slot:
                union_type = 0
                continue
            width = field if isinstance(field, int) else 4
            if slot < 4 or slot + width > size:
                raise DamageError(
                    f"expected the fields of {kind} at byte {start} within its {size} bytes, "
                    f"got one at {slot}; it is corrupted: copy or convert it again"
                )
            if isinstance(field, int):
                union_type = self._content[start + slot] if width == 1 else 0
            else:
                position = start + slot
                self._check_target(position + self._read("I", position, kind), field, union_type)
        if kind in _OUTSIDE_DATA:
            self._check_outside_data(start, _OUTSIDE_DATA[kind])

    def _check_outside_data(self, table: int, number: int) -> None:
        offset, size = self.scalar(table, number, "Q"), self.scalar(table, number + 1, "Q")
        if offset > 1 and offset + size > len(self._content):
            raise DamageError(
                f"expected data of {size} bytes at byte {offset}, got a file of "
                f"{len(self._content)}; it is truncated or corrupted: copy or convert it again"
            )

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
            self._visit(length, start)
            offsets = struct.unpack_from(f"<{length}I", self._content, start + 4)
            for index, offset in enumerate(offsets):
                self._check_table(start + 4 + 4 * index + offset, element)
        else:
            self._check_table(start, field)

    def _check_string(self, start: int) -> None:
        length = self._check_vector(start, 1, "string")
        self._visit(length, start)
        end = start + 4 + length
        text = self._content[start + 4 : end]
        try:
            text.decode("utf-8")
        except UnicodeDecodeError:
            problem = f"{text[:20]!r}"
        else:
            problem = "no end" if self._read("B", end, "the end of a string") else ""
        if problem:
            raise DamageError(
                f"expected a string of UTF-8 with a zero at its end at byte {start}, got {problem};"
                " it is corrupted: copy or convert it again"
            )

    def _visit(self, elements: int, start: int) -> None:
        self._visits_left -= elements
        if self._visits_left < 0:
            raise DamageError(
                f"expected vectors that do not overlap, got one more of {elements} elements at "
                f"byte {start}; it is corrupted: copy or convert it again"
            )

    def _check_vector(self, start: int, width: int, what: str) -> int:
        length = self._read("I", start, what)
        self._check_span(start + 4, length * width, what)
        return length

    def _check_span(self, start: int, size: int, what: str) -> None:
        if start < 0 or start + size > len(self._content):
            raise DamageError(
                f"expected {what} of {size} bytes at byte {start}, got the end of the file; "
                "it is truncated or corrupted: copy or convert it again"
            )
