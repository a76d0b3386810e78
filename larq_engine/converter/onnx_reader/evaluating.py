"""Evaluates operators of constants with ONNX's own reference (`onnx.reference`).

Exporters leave such operators in a model where weights are quantized and where sizes are computed.
The reference knows all operators of ONNX, whichever a model uses.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from larq_engine.converter.graph import NUMPY_TYPES, Array
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.file import STANDARD

# Limit of the bytes of all results of a model's operators on constants: a fixed part, and a
# multiple of the bytes of the constants in the file. A quantizer has some tens of operators, each
# with as many values as the weights. A file of a few bytes must not fill the machine's memory.
_FREE_BYTES = 1 << 29
_TIMES = 64

# Operators for which the reference needs about as much memory as inputs and outputs take, and whose
# results are always the same. Other operators, such as those of later opsets, are refused.
_COMPUTED = {
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf"),
    *("Exp", "Floor", "IsInf", "IsNaN", "Log", "Neg", "Reciprocal", "Round", "Sign", "Sin"),
    *("Sinh", "Sqrt", "Tan", "Tanh"),
    *("Celu", "Clip", "Elu", "Gelu", "HardSigmoid", "HardSwish", "Hardmax", "LeakyRelu"),
    *("LogSoftmax", "Mish", "PRelu", "Relu", "Selu", "Shrink", "Sigmoid", "Softmax", "Softplus"),
    *("Softsign", "Swish", "ThresholdedRelu"),
    *("Add", "Div", "Max", "Mean", "Min", "Mod", "Mul", "Pow", "Sub", "Sum"),
    *("And", "BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Equal"),
    *("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Not", "Or", "Where", "Xor"),
    *("ArgMax", "ArgMin", "CumProd", "CumSum", "Einsum", "Gemm", "MatMul", "MatMulInteger"),
    *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean"),
    *("ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "TopK"),
    *("GlobalAveragePool", "GlobalMaxPool"),
    *("Cast", "CastLike", "DequantizeLinear", "DynamicQuantizeLinear", "QuantizeLinear"),
    *("BlackmanWindow", "Constant", "ConstantOfShape", "EyeLike", "HammingWindow", "HannWindow"),
    *("OneHot", "Range", "Shape", "Size"),
    *("CenterCropPad", "Compress", "Concat", "DepthToSpace", "Expand", "Flatten", "Gather"),
    *("GatherElements", "GatherND", "Identity", "NonZero", "Pad", "Reshape", "ReverseSequence"),
    *("Scatter", "ScatterElements", "ScatterND", "Slice", "SpaceToDepth", "Split", "Squeeze"),
    *("Tile", "Transpose", "Trilu", "Unique", "Unsqueeze"),
}

# Before these opsets, the reference's results differ from what ONNX defines.
_RIGHT_SINCE = {"Hardmax": 13, "LogSoftmax": 13, "Softmax": 13}

# The reference broadcasts these inputs to the result, and the result to them if they are larger.
_SPREAD = {"Clip": (1, 2), "Gemm": (2,), "PRelu": (1,)}
_SCALED = ("DequantizeLinear", "QuantizeLinear")

# Most products that an Einsum may add up, which take some seconds. A small file could ask for
# years.
_MOST_PRODUCTS = 1 << 33

# The number of places that these find depends on the values, and is at most the number of values.
_FINDERS = ("Compress", "NonZero", "Unique")

# Most values of a constant that sizes of results can depend on: shapes, pads, positions.
_SMALL = 64


class Evaluator:
    """Evaluates operators on constants, within limits for all operators of a model together."""

    def __init__(self, opset: int, constants: Iterable[Array]) -> None:
        self._opset = opset
        self._left = _FREE_BYTES + _TIMES * sum(array.nbytes for array in constants)

    def computes(self, kind: str, domain: str) -> bool:
        return (
            domain == STANDARD
            and kind in _COMPUTED
            and self._opset >= _RIGHT_SINCE.get(kind, 0)
            and self._schema(kind) is not None
        )

    def evaluate(self, call: Call) -> list[Array]:
        """Returns the operator's results.

        Raises:
            ConversionError: The results would be too large, or of a type that a model cannot have.
        """
        from onnx import helper
        from onnx.reference import ReferenceEvaluator

        given = enumerate(call.inputs)
        inputs = {f"input_{n}": x for n, x in given if isinstance(x, np.ndarray)}
        _check_divisor(call)
        _check_products(call)
        node = self._node(call)
        types = self._results(call, node, inputs)
        opsets = [helper.make_opsetid(STANDARD, self._opset)]
        graph = helper.make_graph(
            [node],
            "constants",
            [_info(name, array) for name, array in inputs.items()],
            [helper.make_empty_tensor_value_info(name) for name in types],
        )
        model = helper.make_model(graph, opset_imports=opsets)
        kept = {name: _read_only(array) for name, array in inputs.items()}
        found = ReferenceEvaluator(model).run(list(types), kept)
        results = [
            np.asarray(result, dtype) for result, dtype in zip(found, types.values(), strict=True)
        ]
        self._left -= sum(result.nbytes for result in results)
        return results

    def _schema(self, kind: str) -> Any:
        from onnx import defs

        try:
            return defs.get_schema(kind, self._opset, STANDARD)
        except defs.SchemaError:
            return None

    def _node(self, call: Call) -> Any:
        from onnx import helper, numpy_helper

        attributes = {}
        for name, value in call.node.attributes.items():
            if value is None:
                raise call.error(
                    f"its {name} to be numbers, a text or a tensor",
                    "something else",
                    "export the model without this operator",
                )
            is_array = isinstance(value, np.ndarray)
            attributes[name] = numpy_helper.from_array(value) if is_array else value
        names = ["" if x is None else f"input_{n}" for n, x in enumerate(call.inputs)]
        results = [name and f"result_{n}" for n, name in enumerate(call.node.outputs)]
        return helper.make_node(call.node.kind, names, results, **attributes)

    def _results(self, call: Call, node: Any, inputs: dict[str, Array]) -> dict[str, Any]:
        """Returns the NumPy types of the results, if their sizes are within the limits."""
        from onnx import helper, numpy_helper, shape_inference

        inferred = shape_inference.infer_node_outputs(
            self._schema(node.op_type),
            node,
            {name: _info(name, array).type for name, array in inputs.items()},
            {
                name: numpy_helper.from_array(np.asarray(array, order="C"))
                for name, array in inputs.items()
                if array.size <= _SMALL
            },
            opset_imports=[helper.make_opsetid(STANDARD, self._opset)],
        )
        places = max((array.size for array in inputs.values()), default=0)
        types, total = {}, 0
        for name in filter(None, node.output):
            tensor = inferred[name].tensor_type
            dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
            if dtype not in map(np.dtype, NUMPY_TYPES.values()):
                raise call.error(
                    "constants of floats, whole numbers or truth values",
                    dtype,
                    "export the model in float32",
                )
            dims = tensor.shape.dim
            sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in dims]
            is_known = tensor.HasField("shape") and None not in sizes
            if not is_known and node.op_type not in _FINDERS:
                raise call.error(
                    "constants whose sizes can be told before they are computed",
                    sizes,
                    "compute them before the export",
                )
            shape = [places if size is None else size for size in sizes]
            total += math.prod(shape) * dtype.itemsize
            self._check(call, shape, total)
            _check_spread(call, shape)
            types[name] = dtype
        return types

    def _check(self, call: Call, shape: Sequence[int], total: int) -> None:
        if any(size < 0 for size in shape) or total > self._left:
            raise call.error(
                f"constants of less than {self._left} bytes, what is left of {_FREE_BYTES} and "
                f"{_TIMES} times what the file holds",
                f"the shape {list(shape)}",
                "compute them before the export, or convert a smaller model",
            )


def _check_divisor(call: Call) -> None:
    """Refuses to divide whole numbers by 0; for floats, infinity and NaN are normal results."""
    divides = call.node.kind in ("Div", "Mod") and len(call.inputs) == 2
    divisor = call.inputs[1] if divides else None
    if isinstance(divisor, np.ndarray) and divisor.dtype.kind in "iu" and not divisor.all():
        raise call.error("a divisor", "0", "export the model again")


def _check_products(call: Call) -> None:
    """Limits the number of products in an Einsum: one for each index of all of its letters."""
    if call.node.kind != "Einsum":
        return
    sizes: dict[str, int] = {}
    letters = call.text("equation", "").replace(" ", "").split("->")[0].split(",")
    for names, x in zip(letters, call.inputs, strict=False):
        if isinstance(x, np.ndarray):
            sizes |= {names: x.size} if "." in names else dict(zip(names, x.shape, strict=False))
    if math.prod(sizes.values()) > _MOST_PRODUCTS:
        raise call.error(
            f"no more than {_MOST_PRODUCTS} products of constants",
            f"{sizes}",
            "compute them before the export",
        )


def _check_spread(call: Call, shape: Sequence[int]) -> None:
    """Refuses inputs that are larger than the result, which ONNX forbids and sizes do not show."""
    kind, inputs = call.node.kind, [np.shape(x) for x in call.inputs if isinstance(x, np.ndarray)]
    if kind in _SCALED:
        axis = call.integer("axis", 1)
        spread = [_along(axis, other, shape) for other in inputs[1:]]
    else:
        spread = [inputs[index] for index in _SPREAD.get(kind, ()) if index < len(inputs)]
    for other in spread:
        missing = len(shape) - len(other)
        within = missing >= 0 and all(
            size in (1, whole) for size, whole in zip(other, shape[missing:], strict=True)
        )
        if not within:
            raise call.error(
                f"inputs that fit its result of the shape {list(shape)}",
                f"the shape {list(other)}",
                "export the model again",
            )


def _along(axis: int, other: Sequence[int], shape: Sequence[int]) -> Sequence[int]:
    """Returns the shape of scales along an axis; blocks of scales fit within the result."""
    if len(other) != 1 or other[0] == 1 or not -len(shape) <= axis < len(shape):
        is_small = len(other) == len(shape) and all(map(int.__le__, other, shape))
        return () if is_small else other
    return (*other, *(1 for _ in shape[axis % len(shape) + 1 :]))


def _info(name: str, array: Array) -> Any:
    from onnx import helper

    dtype = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, dtype, array.shape)


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view
