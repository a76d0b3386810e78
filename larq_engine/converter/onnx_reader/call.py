"""One operator of the model with its inputs, in the form that makers of operators use."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import Array
from larq_engine.converter.onnx_reader.file import Node
from larq_engine.converter.onnx_reader.graph_builder import GraphBuilder, Operand
from larq_engine.converter.onnx_reader.layout import Value
from larq_engine.converter.options import SignOfZero


@dataclass(frozen=True)
class Call:
    """An operator of the model for which operators of the file are to be made."""

    node: Node
    inputs: Sequence[Operand]
    opset: int
    net: GraphBuilder
    sign_of_zero: SignOfZero

    def error(self, expected: str, got: object, remedy: str) -> ConversionError:
        return ConversionError(f"{self.node.title}: expected {expected}, got {got}; {remedy}")

    # ---- Inputs ----------------------------------------------------------------------------------

    def input(self, index: int) -> Operand:
        """Returns the input, or None if it is absent."""
        return self.inputs[index] if index < len(self.inputs) else None

    def operand(self, index: int) -> Array | Value:
        """Returns an input that must be present."""
        found = self.input(index)
        if found is None:
            raise self.error(f"an input #{index}", "none", "export the model again")
        return found

    def value(self, index: int = 0) -> Value:
        """Returns an input of floats, computed or constant, as a value."""
        return self.net.value(self.floats(index))

    def floats(self, index: int) -> Array | Value:
        found = self.operand(index)
        dtype = found.tensor.dtype if isinstance(found, Value) else found.dtype.name.upper()
        if dtype != "FLOAT32":
            raise self.error(
                f"input #{index} to be float32", dtype.lower(), "export the model in float32"
            )
        return found

    def constant(self, index: int, what: str) -> Array:
        """Returns an input that must be a constant."""
        found = self.operand(index)
        if isinstance(found, Value):
            raise self.error(
                f"{what} to be a constant",
                "one that is computed when the model runs",
                "export the model with constants folded, and with fixed sizes but for the batch",
            )
        return found

    def weights(self, index: int, what: str) -> Array:
        array = self.constant(index, what)
        self.floats(index)
        return array

    def numbers(self, index: int, what: str) -> list[int] | None:
        """Returns an optional constant of whole numbers, or None if it is absent."""
        if self.input(index) is None:
            return None
        array = self.constant(index, what)
        if array.dtype.kind not in "iu" or array.ndim > 1:
            raise self.error(f"{what} to be whole numbers", array.dtype, "export the model again")
        return [int(number) for number in array.reshape(-1)]

    # ---- Attributes ------------------------------------------------------------------------------

    def integer(self, name: str, default: int = 0) -> int:
        return int(self._attribute(name, default, int))

    def number(self, name: str, default: float) -> float:
        return float(self._attribute(name, default, float))

    def text(self, name: str, default: str) -> str:
        return str(self._attribute(name, default, str))

    def integers(self, name: str) -> list[int] | None:
        found = self.node.attributes.get(name)
        if found is None:
            return None
        if isinstance(found, list) and all(type(number) is int for number in found):
            return list(found)
        raise self._wrong(name, "whole numbers", found)

    def _attribute(self, name: str, default: Any, kind: type) -> Any:
        found = self.node.attributes.get(name, default)
        if type(found) is not kind:
            raise self._wrong(name, kind.__name__, found)
        return found

    def _wrong(self, name: str, expected: str, got: object) -> ConversionError:
        return self.error(f"its {name} to be {expected}", repr(got), "export the model again")

    def axes(self, rank: int, index: int, what: str = "axes") -> list[int] | None:
        """Returns dimensions that are an attribute or, in newer operators, an input."""
        found = self.integers(what)
        if found is None:
            found = self.numbers(index, what)
        return None if found is None else [self.axis(number, rank) for number in found]

    def axis(self, number: int, rank: int) -> int:
        if not -rank <= number < rank:
            raise self.error(
                f"an axis of {rank} dimensions", number, "it is damaged: export it again"
            )
        return number % rank

    # ---- Results ---------------------------------------------------------------------------------

    def each(
        self, kind: str, *operands: Array | Value, dtype: str = "FLOAT32", options: Any = None
    ) -> Value:
        """Returns the result of an elementwise operator."""
        try:
            tensors, like = self.net.align(*operands)
        except ValueError as error:
            raise self.error(
                "shapes that fit", error, "fix the sizes, or export it again"
            ) from error
        made = self.net.op(kind, tensors, like.stored_shape, dtype, options)
        return replace(like, tensor=made)

    def rank(self, value: Value, *allowed: int) -> None:
        if len(value.shape) not in allowed:
            ranks = " or ".join(str(rank) for rank in allowed)
            raise self.error(
                f"an input of {ranks} dimensions",
                f"the shape {list(value.shape)}",
                "the converter has no other form of this operator",
            )
