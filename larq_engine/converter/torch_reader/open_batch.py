"""Opens the batch of a file that was made twice, with two sizes of the batch.

Numbers that are equal in both files do not depend on the batch. Numbers that differ do: they are
rewritten so that they hold for every batch, or refused. So this works for all operators.
"""

from collections.abc import Sequence

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.bits import has_same_data, has_same_options
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import Array, Graph, Op, Tensor

_REMEDY = "open_batch=False leaves the batch as it is in the example inputs"

# Operators that broadcast sizes of 1 to every size.
_BROADCASTING = (
    *("ADD", "BATCH_MATMUL", "DIV", "MAXIMUM", "MINIMUM", "MUL", "POW", "SELECT_V2", "SUB"),
    *("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL"),
    *("LOGICAL_AND", "LOGICAL_OR", "SQUARED_DIFFERENCE"),
)

# For each operator, the input that gives the sizes of an output.
_SIZES = {"BROADCAST_TO": 1, "FILL": 0, "RESHAPE": 1, "TRANSPOSE_CONV": 0}


def open_batch(graph: Graph, other: Graph, batches: tuple[int, int], what: str) -> None:
    """Opens the batch of `graph`.

    Args:
        graph: The graph to change.
        other: A graph of the same module, made with another batch.
        batches: The batch of `graph`, and the batch of `other`.
        what: The name of the module in errors.

    Raises:
        ConversionError: The graphs have different operators, or one contains the batch in a form
            that is not supported.
    """
    kinds, other_kinds = ([op.kind for op in made.ops] for made in (graph, other))
    if kinds != other_kinds:
        raise ConversionError(
            f"open_batch: {what}: expected the same operators for a batch of {batches[1]} as for "
            f"one of {batches[0]}, got others; {_REMEDY}"
        )
    _Opening(graph, other, batches, what).run()


class _Opening:
    def __init__(self, graph: Graph, other: Graph, batches: tuple[int, int], what: str) -> None:
        self._graph = graph
        self._batches = batches
        self._what = what
        self._pairs = list(zip(graph.ops, other.ops, strict=True))
        self._ends = list(zip(graph.inputs, other.inputs, strict=True))
        self._batch_now: Tensor | None = None
        self._made: list[Op] = []

    def run(self) -> None:
        signatures = [(x, self._signature(x, y, x.name)) for x, y in self._ends]
        for op, twin in self._pairs:
            signatures += [
                (x, self._signature(x, y, f"{op.kind} '{op.name}'"))
                for x, y in zip(op.outputs, twin.outputs, strict=True)
            ]
        for op, twin in self._pairs:
            self._open(op, twin)
        for tensor, sizes in signatures:
            if sizes is not None:
                tensor.shape = tuple(each + fixed for each, fixed in sizes)
                tensor.signature = tuple(-1 if each else fixed for each, fixed in sizes)
        self._graph.sort()

    def _signature(self, x: Tensor, y: Tensor, where: str) -> list[tuple[int, int]] | None:
        """Returns each size as a number per sample and a fixed rest; None if all are fixed."""
        if x.shape == y.shape:
            return None
        first, second = self._batches
        sizes = []
        for a, b in zip(x.shape, y.shape, strict=True):
            each, rest = divmod(a - b, first - second)
            fixed = a - each * first
            if rest or each < 0 or fixed < 0:
                raise self._error(where, f"sizes of {a} and {b}")
            sizes.append((each, fixed))
        return sizes

    def _open(self, op: Op, twin: Op) -> None:
        title = f"{op.kind} '{op.name}'"
        if op.kind != "RESHAPE" and not has_same_options(op, twin):
            raise self._error(title, "options that depend on the batch")
        for index, (x, y) in enumerate(zip(op.inputs, twin.inputs, strict=True)):
            if x is None or y is None or x.data is None or y.data is None:
                continue
            if has_same_data(x.data, y.data):
                continue
            if _SIZES.get(op.kind) == index:
                self._open_sizes(op, index, x.data, y.data)
            else:
                self._open_constant(op, index, x, y)

    def _open_sizes(self, op: Op, index: int, x: Array, y: Array) -> None:
        if x.shape != y.shape:
            raise self._error(f"{op.kind} '{op.name}'", "shapes that depend on the batch")
        differ = np.flatnonzero(x != y)
        if op.kind == "RESHAPE" and len(differ) == 1 and (x >= 0).all():
            sizes = x.astype(np.int32)
            sizes[differ] = -1
            self._set_input(op, index, lce_ops.constant(sizes))
            op.options = None
            return
        self._set_input(op, index, self._sizes_now(op, x, y))

    def _open_constant(self, op: Op, index: int, x: Tensor, y: Tensor) -> None:
        """Opens a constant that has a row for each sample, if all rows are equal."""
        title = f"{op.kind} '{op.name}'"
        assert x.data is not None and y.data is not None
        axes = [n for n, (a, b) in enumerate(zip(x.shape, y.shape, strict=False)) if a != b]
        fits = len(x.shape) == len(y.shape) and all(
            (x.shape[axis], y.shape[axis]) == self._batches for axis in axes
        )
        if not fits or not axes:
            raise self._error(title, "numbers that depend on the batch")
        rows = [_first(data, axes) for data in (x.data, y.data)]
        alike = np.array_equal(rows[0], rows[1], equal_nan=_is_float(x)) and all(
            np.array_equal(np.broadcast_to(row, t.shape), t.data, equal_nan=_is_float(x))
            for row, t in zip(rows, (x, y), strict=True)
            if t.data is not None
        )
        if not alike:
            raise self._error(title, "a constant with other numbers for each sample")
        row = Tensor(x.name, rows[0].shape, x.dtype, np.ascontiguousarray(rows[0]))
        if op.kind in _BROADCASTING and self._others_have(op, index, x, axes):
            self._set_input(op, index, row)
            return
        made = x.like(f"{op.name}/each")
        sizes = self._sizes_now(op, np.array(x.shape), np.array(y.shape))
        options = schema.make_options("BroadcastToOptions")
        self._graph.add(
            [Op("BROADCAST_TO", [row, sizes], [made], options, version=2, layer=op.layer)]
        )
        made.shape = rows[0].shape
        made.signature = tuple(-1 if axis in axes else size for axis, size in enumerate(x.shape))
        self._set_input(op, index, made)

    def _others_have(self, op: Op, index: int, x: Tensor, axes: Sequence[int]) -> bool:
        """Tells whether another input gives the result the same sizes."""
        from_behind = [axis - len(x.shape) for axis in axes]
        return any(
            t is not None
            and n != index
            and t.data is None
            and all(-axis <= len(t.shape) and t.shape[axis] > 1 for axis in from_behind)
            for n, t in enumerate(op.inputs)
        )

    def _sizes_now(self, op: Op, x: Array, y: Array) -> Tensor:
        """Returns sizes that depend on the batch, computed when the model runs."""
        first, second = self._batches
        parts: list[Tensor | None] = []
        for number, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
            if a == b:
                parts.append(lce_ops.constant(np.array([a], np.int32)))
                continue
            if a % first or b % second or a // first != b // second:
                raise self._error(f"{op.kind} '{op.name}'", f"sizes of {a} and {b}")
            size = self._batch()
            if a != first:
                each = lce_ops.constant(np.array([a // first], np.int32))
                size = self._number(
                    "MUL", "MulOptions", [size, each], f"{op.name}/size_{number}", op.layer
                )
            parts.append(size)
        made = Tensor(f"{op.name}/sizes", (len(parts),), "INT32")
        options = schema.make_options("ConcatenationOptions", axis=0)
        self._graph.add([Op("CONCATENATION", parts, [made], options, layer=op.layer)])
        return made

    def _batch(self) -> Tensor:
        """Returns the number of samples, computed when the model runs."""
        if self._batch_now is None:
            x = self._graph.inputs[0]
            sizes = Tensor(f"{x.name}/sizes", (len(x.shape),), "INT32")
            options = schema.make_options("ShapeOptions", outType=schema.type_number("INT32"))
            self._graph.add([Op("SHAPE", [x], [sizes], options)])
            begin, count = (lce_ops.constant(np.array([n], np.int32)) for n in (0, 1))
            self._batch_now = self._number(
                "SLICE", "SliceOptions", [sizes, begin, count], f"{x.name}/batch", ""
            )
        return self._batch_now

    def _number(
        self, kind: str, options: str, inputs: Sequence[Tensor | None], name: str, layer: str
    ) -> Tensor:
        made = Tensor(name, (1,), "INT32")
        self._graph.add([Op(kind, list(inputs), [made], schema.make_options(options), layer=layer)])
        return made

    def _set_input(self, op: Op, index: int, tensor: Tensor) -> None:
        old = op.inputs[index]
        assert old is not None
        old.consumers.remove(op)
        op.inputs[index] = tensor
        tensor.consumers.append(op)

    def _error(self, where: str, got: str) -> ConversionError:
        return ConversionError(
            f"open_batch: {self._what}: {where}: expected what holds for every batch, got {got} "
            f"(made with batches of {self._batches[0]} and {self._batches[1]}); {_REMEDY}"
        )


def _first(data: Array, axes: Sequence[int]) -> Array:
    """Returns the data with only the first entry along these dimensions."""
    return data[tuple(slice(0, 1) if axis in axes else slice(None) for axis in range(data.ndim))]


def _is_float(tensor: Tensor) -> bool:
    return tensor.dtype.startswith("FLOAT")
