"""A model as a tree that is quick to change and to write again.

The schema's own objects take a third of a millisecond to pack, however small the change. Offsets in
a flatbuffer are relative, so each node of the tree keeps the bytes that it was written to, children
included, and a change rewrites only the nodes on the way to the root. Nothing is checked: any
number fits.
"""

import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import flatbuffers
from ai_edge_litert import schema_py_generated as schema

# Bytes that a node is written to, and the place in them where the node begins. All blobs start at
# multiples of 16.
Blob = tuple[bytes, int]

_ALIGNMENT = 16
_MASKS = {"b": 0xFF, "B": 0xFF, "i": 0xFFFFFFFF, "I": 0xFFFFFFFF, "Q": 2**64 - 1, "q": 2**64 - 1}
_UNSIGNED = {"b": "B", "B": "B", "i": "I", "I": "I", "q": "Q", "Q": "Q"}
_WIDTHS = {"b": 1, "B": 1, "i": 4, "I": 4, "q": 8, "Q": 8}


def _pad(content: bytes) -> bytes:
    return content + bytes(-len(content) % _ALIGNMENT)


def pack_numbers(code: str, values: Sequence[Any]) -> bytes:
    """Returns the bytes of numbers; integers beyond the width lose their upper bits."""
    if code == "f":
        return struct.pack(f"<{len(values)}f", *values)
    mask = _MASKS[code]
    return struct.pack(f"<{len(values)}{_UNSIGNED[code]}", *[int(v) & mask for v in values])


def _vector(code: str, values: Sequence[Any] | bytes) -> Blob:
    """Writes a vector; its length is at byte 12, so that the numbers are aligned."""
    content = values if isinstance(values, bytes) else pack_numbers(code, values)
    return _pad(struct.pack("<12xI", len(values)) + content), 12


class Opaque:
    """A table that is never read, such as the options of a builtin operator."""

    __slots__ = ("blob",)

    def __init__(self, blob: Blob) -> None:
        self.blob = blob

    @classmethod
    def pack(cls, thing: Any) -> "Opaque":
        """Packs an object of the schema."""
        builder = flatbuffers.Builder(64)
        builder.Finish(thing.Pack(builder))
        content = bytes(builder.Output())
        content = bytes(-len(content) % _ALIGNMENT) + content  # aligns the end
        start = len(content) - len(bytes(builder.Output()))
        return cls((_pad(content), start + struct.unpack_from("<I", content, start)[0]))

    def with_bytes(self, position: int, content: bytes) -> "Opaque":
        """Returns a copy with other bytes at a position, counted from where the table begins."""
        blob, start = self.blob
        at = start + position
        return Opaque((blob[:at] + content + blob[at + len(content) :], start))

    def slots(self) -> list[int]:
        """Returns the places of the table's fields, counted from where it begins."""
        content, start = self.blob
        vtable = start - struct.unpack_from("<i", content, start)[0]
        size = struct.unpack_from("<H", content, vtable)[0]
        slots = struct.unpack_from(f"<{size // 2 - 2}H", content, vtable + 4)
        return [slot for slot in slots if slot]


class Tables(list["Table | Opaque"]):
    """A vector of tables, which only `Table.edit` or setting the attribute anew may change."""

    blob_cache: Blob | None = None

    @property
    def blob(self) -> Blob:
        if self.blob_cache is None:
            parts = []
            offsets = []
            end = -(-(4 + 4 * len(self)) // _ALIGNMENT) * _ALIGNMENT
            for index, table in enumerate(self):
                content, start = table.blob
                offsets.append(end + start - 4 - 4 * index)
                parts.append(content)
                end += len(content)
            head = _pad(struct.pack(f"<{len(self) + 1}I", len(self), *offsets))
            self.blob_cache = b"".join([head, *parts]), 0
        return self.blob_cache


class Table:
    """A table with `LAYOUT`'s fields in their order, each an attribute.

    A field's code is that of a scalar with its default; or "[i" for a vector of scalars, "s" for a
    string as bytes, and "T" for a child with a blob: a table or a vector of tables.
    """

    LAYOUT: tuple[tuple[str, str, int], ...] = ()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, **values: Any) -> None:
        for name, code, default in self.LAYOUT:
            setattr(self, name, default if code in _WIDTHS else None)
        for name, value in values.items():
            setattr(self, name, value)
        self.blob_cache: Blob | None = None

    def copy(self) -> Any:
        """Returns a copy that may be changed: it keeps its children's bytes, but not its own."""
        other = self.__class__.__new__(self.__class__)
        other.__dict__.update(self.__dict__)
        other.blob_cache = None
        return other

    def edit(self, name: str, index: int | None = None) -> Any:
        """Replaces a child by a copy that may be changed, and returns it."""
        child = getattr(self, name)
        if index is None:
            copied = child.copy()
        else:
            tables = Tables(child)
            copied = tables[index].copy()
            tables[index] = copied
            child = tables
        setattr(self, name, copied if index is None else child)
        return copied

    @property
    def blob(self) -> Blob:
        if self.blob_cache is None:
            self.blob_cache = self._write()
        return self.blob_cache

    def _write(self) -> Blob:
        slots = []
        inline = bytearray(4)
        children: list[tuple[int, Blob]] = []
        for name, code, default in self.LAYOUT:
            value = getattr(self, name)
            width = _WIDTHS.get(code)
            if value is None or (width and value == default):
                slots.append(0)
                continue
            if width:
                inline += bytes(-len(inline) % width)
                slots.append(len(inline))
                inline += (int(value) & _MASKS[code]).to_bytes(width, "little")
                continue
            inline += bytes(-len(inline) % 4)
            slots.append(len(inline))
            if code == "T":
                blob = value.blob
            elif code == "s":
                blob = _pad(struct.pack("<12xI", len(value)) + value + b"\0"), 12
            else:
                blob = _vector(code[1:], value)
            children.append((len(inline), blob))
            inline += bytes(4)
        vtable = struct.pack(f"<{len(slots) + 2}H", 2 * len(slots) + 4, len(inline), *slots)
        start = -(-len(vtable) // 8) * 8
        struct.pack_into("<i", inline, 0, start)
        end = -(-(start + len(inline)) // _ALIGNMENT) * _ALIGNMENT
        parts = []
        for slot, (content, entry) in children:
            struct.pack_into("<I", inline, slot, end + entry - start - slot)
            parts.append(content)
            end += len(content)
        head = vtable + bytes(start - len(vtable)) + inline
        return b"".join([_pad(bytes(head)), *parts]), start


class TensorMap(Table):
    LAYOUT = (("name", "s", 0), ("tensorIndex", "I", 0))


class Signature(Table):
    LAYOUT = (
        ("inputs", "T", 0),
        ("outputs", "T", 0),
        ("signatureKey", "s", 0),
        ("_reserved", "s", 0),
        ("subgraphIndex", "I", 0),
    )


class Metadata(Table):
    LAYOUT = (("name", "s", 0), ("buffer", "I", 0))


class Buffer(Table):
    LAYOUT = (("data", "[B", 0), ("offset", "Q", 0), ("size", "Q", 0))


class OperatorCode(Table):
    LAYOUT = (
        ("deprecatedBuiltinCode", "b", 0),
        ("customCode", "s", 0),
        ("version", "i", 1),
        ("builtinCode", "i", 0),
    )


class Operator(Table):
    LAYOUT = (
        ("opcodeIndex", "I", 0),
        ("inputs", "[i", 0),
        ("outputs", "[i", 0),
        ("builtinOptionsType", "B", 0),
        ("builtinOptions", "T", 0),
        ("customOptions", "[B", 0),
        ("customOptionsFormat", "b", 0),
        ("mutatingVariableInputs", "[B", 0),
        ("intermediates", "[i", 0),
        ("largeCustomOptionsOffset", "Q", 0),
        ("largeCustomOptionsSize", "Q", 0),
        ("builtinOptions2Type", "B", 0),
        ("builtinOptions2", "T", 0),
        ("debugMetadataIndex", "i", -1),
    )


class Quantization(Table):
    LAYOUT = (
        ("min", "[f", 0),
        ("max", "[f", 0),
        ("scale", "[f", 0),
        ("zeroPoint", "[q", 0),
        ("detailsType", "B", 0),
        ("details", "T", 0),
        ("quantizedDimension", "i", 0),
    )


class Vector(Table):
    """A table with a vector of 4-byte numbers, such as the segments of sparse data."""

    LAYOUT = (("values", "[i", 0),)


class Dimension(Table):
    LAYOUT = (
        ("format", "b", 0),
        ("denseSize", "i", 0),
        ("arraySegmentsType", "B", 0),
        ("arraySegments", "T", 0),
        ("arrayIndicesType", "B", 0),
        ("arrayIndices", "T", 0),
    )


class Sparsity(Table):
    LAYOUT = (("traversalOrder", "[i", 0), ("blockMap", "[i", 0), ("dimMetadata", "T", 0))


class Tensor(Table):
    LAYOUT = (
        ("shape", "[i", 0),
        ("type", "b", 0),
        ("buffer", "I", 0),
        ("name", "s", 0),
        ("quantization", "T", 0),
        ("isVariable", "B", 0),
        ("sparsity", "T", 0),
        ("shapeSignature", "[i", 0),
        ("hasRank", "B", 0),
        ("variantTensors", "T", 0),
        ("externalBuffer", "I", 0),
    )


class Graph(Table):
    LAYOUT = (
        ("tensors", "T", 0),
        ("inputs", "[i", 0),
        ("outputs", "[i", 0),
        ("operators", "T", 0),
        ("name", "s", 0),
        ("debugMetadataIndex", "i", -1),
    )


class Model(Table):
    LAYOUT = (
        ("version", "I", 0),
        ("operatorCodes", "T", 0),
        ("subgraphs", "T", 0),
        ("description", "s", 0),
        ("buffers", "T", 0),
        ("metadataBuffer", "[i", 0),
        ("metadata", "T", 0),
        ("signatureDefs", "T", 0),
    )

    # The number of a buffer, its data, which go behind the flatbuffer, and how far behind it they
    # go.
    moved_out: tuple[int, bytes, int] | None = None

    def write(self) -> bytes:
        """Returns the file."""
        if self.moved_out is None:
            return self._flatbuffer()
        number, data, gap = self.moved_out
        if not self.buffers or number >= len(self.buffers):
            return self._flatbuffer()
        self._point_outside(number, 2, len(data))  # place 2 changes no length
        self._point_outside(number, len(self._flatbuffer()) + gap, len(data))
        return self._flatbuffer() + bytes(gap) + data

    def _point_outside(self, number: int, place: int, size: int) -> None:
        self.blob_cache = None
        buffer = self.edit("buffers", number)
        buffer.data, buffer.offset, buffer.size = None, place, size

    def _flatbuffer(self) -> bytes:
        content, start = self.blob
        return struct.pack("<I4s8x", _ALIGNMENT + start, b"TFL3") + content


_KINDS: dict[str, type[Table]] = {
    "operatorCodes": OperatorCode,
    "subgraphs": Graph,
    "buffers": Buffer,
    "metadata": Metadata,
    "signatureDefs": Signature,
    "tensors": Tensor,
    "operators": Operator,
    "quantization": Quantization,
    "sparsity": Sparsity,
    "dimMetadata": Dimension,
}


def read(content: bytes) -> Model:
    """Returns the tree of a whole model."""
    return _convert(schema.ModelT.InitFromPackedBuf(content, 0), Model)


def _convert(thing: Any, kind: type[Table]) -> Any:
    table = kind()
    for name, code, _ in kind.LAYOUT:
        value = getattr(thing, name, None)
        if value is not None:
            setattr(table, name, _CONVERSIONS.get(code[:1], int)(name, value, kind))
    return table


def _convert_child(name: str, value: Any, kind: type[Table]) -> Any:
    child = _KINDS.get(name)
    if kind is Signature:
        child = TensorMap
    if child is None:
        return (
            Opaque.pack(value) if not isinstance(value, list) else Tables(map(Opaque.pack, value))
        )
    if isinstance(value, list):
        return Tables(_convert(item, child) for item in value)
    return _convert(value, child)


def _convert_string(_name: str, value: Any, _kind: type[Table]) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _convert_vector(name: str, value: Any, _kind: type[Table]) -> Any:
    if name in ("data", "customOptions"):
        return bytes(bytearray(value))
    return tuple(float(v) if isinstance(v, float) else v for v in map(_plain, value))


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


_CONVERSIONS: dict[str, Callable[[str, Any, type[Table]], Any]] = {
    "T": _convert_child,
    "s": _convert_string,
    "[": _convert_vector,
    **dict.fromkeys(_WIDTHS, lambda _name, value, _kind: int(value)),
}
