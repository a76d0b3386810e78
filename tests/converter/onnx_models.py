"""Builds ONNX models in few words, evaluates them with ONNX's reference, and compares."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

import larq_engine
from larq_engine.converter.onnx_reader.reader import onnx_to_tflite
from larq_engine.converter.options import Options
from tests.converter.graphs import run_engine, run_stock

QONNX = "qonnx.custom_op.general"
OPSET = 20


class BipolarQuant(OpRun):
    """BipolarQuant with QONNX's definition."""

    op_domain = QONNX

    def _run(self, x: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray]:
        return (np.where(x >= 0, scale, -scale).astype(np.float32),)


_ROUNDINGS = {
    "ROUND": np.round,
    "HALF_EVEN": np.round,
    "CEIL": np.ceil,
    "FLOOR": np.floor,
    "ROUND_TO_ZERO": np.fix,
    "DOWN": np.fix,
}


class Quant(OpRun):
    """Quant with QONNX's definition."""

    op_domain = QONNX

    def _run(
        self,
        x: np.ndarray,
        scale: np.ndarray,
        zero_point: np.ndarray,
        bits: np.ndarray,
        narrow: int | None = None,
        rounding_mode: str | None = None,
        signed: int | None = None,
    ) -> tuple[np.ndarray]:
        num_steps = 2.0 ** float(bits) - 1 - bool(narrow)  # steps from least to largest
        largest = 2.0 ** (float(bits) - 1) - 1 if signed else num_steps
        rounding = _ROUNDINGS[(rounding_mode or "ROUND").upper()]
        quantized = rounding(np.clip(x / scale + zero_point, largest - num_steps, largest))
        return (((quantized - zero_point) * scale).astype(np.float32),)


def _sign(at_zero: float) -> list[type[OpRun]]:
    """Returns Sign with another value for 0; its class's name is the operator's."""

    class Sign(OpRun):
        def _run(self, x: np.ndarray) -> tuple[np.ndarray]:
            return (np.where(x == 0, at_zero, np.sign(x)).astype(np.float32),)

    return [Sign]


_SIGNS = {"error": [], "+1": _sign(1), "-1": _sign(-1)}


class BatchNormalization(OpRun):
    """BatchNormalization of inference; before opset 14 the evaluator's own one also trains."""

    def _run(
        self,
        x: np.ndarray,
        scale: np.ndarray,
        offset: np.ndarray,
        mean: np.ndarray,
        variance: np.ndarray,
        epsilon: float | None = None,
        momentum: float | None = None,
        training_mode: int | None = None,
    ) -> tuple[np.ndarray]:
        per_channel = (-1, *[1] * (x.ndim - 2))
        factor = (scale / np.sqrt(variance + np.float32(epsilon))).reshape(per_channel)
        return (
            ((x - mean.reshape(per_channel)) * factor + offset.reshape(per_channel)).astype(
                np.float32
            ),
        )


class OnnxNet:
    """A model under construction, in which values are names."""

    def __init__(self, opset: int = OPSET) -> None:
        self._opset = opset
        self._inputs: list[Any] = []
        self.nodes: list[Any] = []
        self._constants: list[Any] = []
        self.numbers: dict[str, np.ndarray] = {}  # the constants by their names
        # Shape and NumPy type of each input.
        self.declared: list[tuple[tuple[int | str | None, ...], Any]] = []

    def input(self, *shape: int | str | None, dtype: int = TensorProto.FLOAT) -> str:
        name = f"input_{len(self._inputs)}"
        self._inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        self.declared.append((shape, helper.tensor_dtype_to_np_dtype(dtype)))
        return name

    def constant(self, value: Any, dtype: Any = None) -> str:
        array = np.asarray(value, dtype)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        self._constants.append(numpy_helper.from_array(array, f"constant_{len(self._constants)}"))
        self.numbers[self._constants[-1].name] = array
        return str(self._constants[-1].name)

    def op(
        self, kind: str, *inputs: Any, outputs: int = 1, name: str = "", **attributes: Any
    ) -> Any:
        """Adds an operator.

        Inputs that are not names become constants, and None is an absent input.
        """
        names = ["" if x is None else x if isinstance(x, str) else self.constant(x) for x in inputs]
        made = [f"value_{len(self.nodes)}_{n}" for n in range(outputs)]
        domain = QONNX if kind in ("BipolarQuant", "Quant") else ""
        self.nodes.append(
            helper.make_node(kind, names, made, name=name, domain=domain, **attributes)
        )
        return made[0] if outputs == 1 else made

    def conv(self, x: str, weights: np.ndarray | str, bias: Any = None, **attributes: Any) -> str:
        operands = [x, weights] if bias is None else [x, weights, bias]
        return str(self.op("Conv", *operands, **attributes))

    def batch_norm(self, x: str, scale: Any, offset: Any, mean: Any, variance: Any) -> str:
        numbers = [np.asarray(number, np.float32) for number in (scale, offset, mean, variance)]
        return str(self.op("BatchNormalization", x, *numbers, epsilon=0.0))

    def bipolar(self, x: Any, scale: float = 1.0) -> str:
        return str(self.op("BipolarQuant", x, np.float32(scale)))

    def proto(self, *outputs: str, shapes: Sequence[np.ndarray] = ()) -> onnx.ModelProto:
        """Returns the model.

        With arrays for `shapes`, inputs get the sizes of these arrays in all dimensions that are
        not open.
        """
        results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "net", self._inputs, results, self._constants)
        for given, array in zip(graph.input, shapes, strict=False):
            for dim, size in zip(given.type.tensor_type.shape.dim, array.shape, strict=True):
                if dim.HasField("dim_value"):
                    dim.dim_value = size
        versions = [helper.make_opsetid("", self._opset), helper.make_opsetid(QONNX, 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=8)

    def finish(self, *outputs: str, shapes: Sequence[np.ndarray] = ()) -> bytes:
        return self.proto(*outputs, shapes=shapes).SerializeToString()


def reference(
    content: bytes, inputs: Sequence[np.ndarray], sign_of_zero: str = "error"
) -> list[np.ndarray]:
    """Returns what a model computes according to ONNX's reference evaluator."""
    model = onnx.load_from_string(content)
    names = [given.name for given in model.graph.input]
    is_old = model.opset_import[0].version < 14
    own = [BipolarQuant, Quant, *([BatchNormalization] if is_old else []), *_SIGNS[sign_of_zero]]
    evaluator = ReferenceEvaluator(model, new_ops=own)
    return evaluator.run(None, dict(zip(names, inputs, strict=True)))


def run_node(node: Any, values: dict[str, np.ndarray], opset: int) -> list[np.ndarray]:
    """Returns what one operator makes of these values, by name, according to ONNX's reference."""
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in values.items()
    ]
    results = [helper.make_empty_tensor_value_info(name) for name in node.output]
    graph = helper.make_graph([node], "node", given, results)
    versions = [helper.make_opsetid("", opset), helper.make_opsetid(QONNX, 1)]
    model = helper.make_model(graph, opset_imports=versions, ir_version=8)
    own = [BipolarQuant, Quant, *([BatchNormalization] if opset < 14 else [])]
    return ReferenceEvaluator(model, new_ops=own).run(None, values)


def float_model(content: bytes, **options: Any) -> bytes:
    """Returns the float .tflite file of a model."""
    return onnx_to_tflite(content, Options(check=False, **options)).content


def compare(
    content: bytes,
    inputs: Sequence[np.ndarray],
    tolerance: float = 0.0,
    batch: int | None = None,
    **options: Any,
) -> larq_engine.ConvertedModel:
    """Converts a model and asserts that the float and the converted file compute what ONNX says.

    Args:
        tolerance: Largest allowed error, as a share of the largest result; 0 is equal to the bit.
        batch: Batch of the inputs to a model with an open batch.
    """
    expected = reference(content, inputs, options.get("sign_of_zero", "error"))
    plain = float_model(content, **options)
    converted = larq_engine.convert_onnx(content, **options)
    for results in (run_stock(plain, inputs, batch=batch), run_engine(converted, inputs)):
        for want, have in zip(expected, results, strict=True):
            assert want.shape == have.shape
            if tolerance:
                bound = tolerance * max(1.0, float(np.abs(want).max()))
                np.testing.assert_allclose(have, want, rtol=0, atol=bound)
            else:
                np.testing.assert_array_equal(have, want)
    return converted
