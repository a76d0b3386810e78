"""The engine as its own host: an interpreter with the methods of TensorFlow Lite's.

It computes all operators of a model, or refuses the model and names those that it does not compute.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from larq_engine.python.engine_model import DTYPES, EngineModel
from larq_engine.python.tensors import Array

_NO_QUANTIZATION = (0.0, 0)


class RunError(RuntimeError, ValueError):
    """An error of a resize, an allocation or a run.

    It is of both kinds, because TensorFlow Lite raises RuntimeError and documents ValueError.
    """


class Options:
    """Options of the engine, in the place where hosts have a delegate."""

    def __init__(self, options: Mapping[str, object]) -> None:
        self.options = dict(options)


def load_delegate(_library: str, options: Mapping[str, object] | None = None) -> Options:
    """Returns the engine's options for `experimental_delegates` of this module's Interpreter."""
    return Options(options or {})


class _Nodes:
    """The operators, as the interpreter behind a host's tells them."""

    def __init__(self, operators: Sequence[Mapping[str, Any]]) -> None:
        self._operators = operators

    def NumNodes(self) -> int:  # noqa: N802
        return len(self._operators)

    def NodeName(self, index: int) -> str:  # noqa: N802
        return str(self._operators[index]["name"])

    def NodeInputs(self, index: int) -> list[int]:  # noqa: N802
        return list(self._operators[index]["inputs"])

    def NodeOutputs(self, index: int) -> list[int]:  # noqa: N802
        return list(self._operators[index]["outputs"])


class SignatureRunner:
    """Runs a signature's graph on arrays that are given by the names of its inputs.

    Args:
        interpreter: It runs the graph.
        signature: The numbers of the `inputs` and `outputs` by name.
    """

    def __init__(self, interpreter: "Interpreter", signature: Mapping[str, Any]) -> None:
        self._interpreter = interpreter
        self._inputs: Mapping[str, int] = signature["inputs"]
        self._outputs: Mapping[str, int] = signature["outputs"]

    def __call__(self, **arrays: Any) -> dict[str, Array]:
        """Returns the outputs by name; the inputs take the shapes of the arrays."""
        if arrays.keys() != self._inputs.keys():
            raise ValueError(
                f"signature: expected an array for each of {list(self._inputs)}, got some for "
                f"{list(arrays)}"
            )
        for name, array in arrays.items():
            self._interpreter.resize_tensor_input(self._inputs[name], np.shape(array))
        self._interpreter.allocate_tensors()
        for name, array in arrays.items():
            self._interpreter.set_tensor(self._inputs[name], array)
        self._interpreter.invoke()
        return {name: self._interpreter.get_tensor(n) for name, n in self._outputs.items()}

    def get_input_details(self) -> dict[str, dict[str, Any]]:
        return self._details(self._inputs)

    def get_output_details(self) -> dict[str, dict[str, Any]]:
        return self._details(self._outputs)

    def _details(self, numbers: Mapping[str, int]) -> dict[str, dict[str, Any]]:
        tensors = self._interpreter.get_tensor_details()
        return {name: tensors[number] for name, number in numbers.items()}


class Interpreter:
    """Runs a model as TensorFlow Lite's Interpreter does, without TensorFlow Lite.

    Args:
        model_content: The bytes of a .tflite file.
        num_threads: Threads for one run.
        experimental_delegates: What `load_delegate` of this module returned.
        signature: The signature whose graph is run; the main graph if None.

    Raises:
        ValueError: The engine does not compute one of the model's operators, or the file is not
            valid.
    """

    def __init__(
        self,
        model_content: bytes,
        *,
        experimental_delegates: Sequence[Options] = (),
        num_threads: int = 1,
        signature: str | None = None,
    ) -> None:
        options: dict[str, object] = {"num_threads": num_threads}
        for delegate in experimental_delegates:
            options |= delegate.options
        self._recipe = bytes(model_content), options
        self.model = EngineModel(*self._recipe, signature)
        self._numbers = {tensor.tensor: i for i, tensor in enumerate(self.model.inputs())}
        self._signatures: dict[str, Any] | None = None
        self._run_threads: int | None = None  # what set_num_threads got

    @property
    def _interpreter(self) -> _Nodes:
        return _Nodes(self.model.graph()["operators"])

    def allocate_tensors(self) -> None:
        with self._changing_memory():
            self.model.allocate()

    @contextlib.contextmanager
    def _changing_memory(self) -> Iterator[None]:
        """Makes RunErrors of errors, and refuses changes from which views would lose memory."""
        if self.model.has_views:
            raise RunError(
                "expected no array in use that a function of tensor() returned, got at least one; "
                "keep the function, and call it again after this"
            )
        try:
            yield
        except ValueError as error:
            raise RunError(str(error)) from error

    def resize_tensor_input(
        self, input_index: int, tensor_size: Sequence[int], strict: bool = False
    ) -> None:
        """Gives an input another shape; with `strict`, only where the file leaves sizes open."""
        number = self._number(input_index)
        declared = self.get_input_details()[number]["shape_signature"]
        fits = len(declared) == len(tensor_size) and all(
            open_size in (-1, size) for open_size, size in zip(declared, tensor_size, strict=True)
        )
        with self._changing_memory():
            if strict and not fits:
                raise ValueError(
                    f"resize: expected sizes for the open ones of {list(map(int, declared))}, "
                    f"got {list(tensor_size)}"
                )
            self.model.resize(number, [int(size) for size in tensor_size])

    def _number(self, tensor: int) -> int:
        if tensor not in self._numbers:
            raise ValueError(
                f"tensor: expected one of the inputs {sorted(self._numbers)}, got {tensor}"
            )
        return self._numbers[tensor]

    def set_tensor(self, tensor_index: int, value: Any) -> None:
        """Copies data of the input's shape and type into it."""
        self._number(tensor_index)
        target = self.model.array_for_copies(tensor_index)
        array = np.asarray(value)
        if array.shape != target.shape or array.dtype != target.dtype:
            raise ValueError(
                f"input #{tensor_index}: expected {target.dtype} of shape {target.shape}, got "
                f"{array.dtype} of shape {array.shape}; resize the input, or cast the data"
            )
        target[...] = array

    def get_tensor(self, tensor_index: int) -> Array:
        """Returns a copy of an input, an output or a constant."""
        return self.model.array_for_copies(tensor_index).copy()

    def tensor(self, tensor_index: int) -> Callable[[], Array]:
        """Returns a function that returns a view, which lasts until a resize."""
        return lambda: self.model.array(tensor_index)

    def set_num_threads(self, num_threads: int) -> None:
        """Lets runs use so many threads from now on, at most those of the argument."""
        self.model.set_num_threads(num_threads)
        self._run_threads = num_threads

    def invoke(self) -> None:
        with self._changing_memory():
            self.model.run()

    def reset_all_variables(self) -> None:
        """Does nothing: models with variables are refused."""

    def get_input_details(self) -> list[dict[str, Any]]:
        return [_details(tensor) for tensor in self.model.inputs()]

    def get_output_details(self) -> list[dict[str, Any]]:
        return [_details(tensor) for tensor in self.model.outputs()]

    def get_tensor_details(self, subgraph_index: int = 0) -> list[dict[str, Any]]:
        if subgraph_index:
            raise ValueError(f"subgraph_index: expected 0, the main graph, got {subgraph_index}")
        return [
            {
                "name": row["name"],
                "index": number,
                "shape": np.array(row["shape"], np.int32),
                "shape_signature": np.array(row["signature"] or row["shape"], np.int32),
                "dtype": _scalar_type(row["type"]),
                **_quantization(row["scales"], row["zero_points"], row["scale_axis"]),
            }
            for number, row in enumerate(self.model.graph()["tensors"])
        ]

    def _get_full_signature_list(self) -> dict[str, dict[str, Any]]:
        if self._signatures is None:
            self._signatures = self.model.signatures()
        return self._signatures

    def get_signature_list(self) -> dict[str, dict[str, list[str]]]:
        """Returns for each signature the names of its inputs and outputs."""
        return {
            key: {side: list(signature[side]) for side in ("inputs", "outputs")}
            for key, signature in self._get_full_signature_list().items()
        }

    def get_signature_runner(self, signature_key: str | None = None) -> SignatureRunner:
        """Returns a function that runs a signature; the only one if None."""
        known = self._get_full_signature_list()
        if signature_key is None and len(known) == 1:
            (signature_key,) = known
        if signature_key not in known:
            names = ", ".join(map(repr, known)) or "it has none"
            raise ValueError(
                f"signature_key: expected a signature of the model ({names}), got {signature_key!r}"
            )
        signature = known[signature_key]
        return SignatureRunner(self._interpreter_of(signature_key, signature["graph"]), signature)

    def _interpreter_of(self, signature: str, graph: int) -> "Interpreter":
        if graph == 0:
            return self
        content, options = self._recipe
        made = Interpreter(content, experimental_delegates=[Options(options)], signature=signature)
        if self._run_threads is not None:
            made.set_num_threads(self._run_threads)
        return made


def _scalar_type(name: str) -> type[Any]:
    """Returns NumPy's type of a name; that of bytes for a type that NumPy lacks."""
    return {np.dtype(known).name: known for known in DTYPES.values()}.get(name, np.bytes_)


def _details(tensor: Any) -> dict[str, Any]:
    shape = np.array(tensor.shape, np.int32)
    declared = np.array(tensor.open_dims[: tensor.rank], np.int32) if tensor.open_dims else shape
    scales, zero_points = tensor.scale[: tensor.scales], tensor.zero_point[: tensor.scales]
    return {
        "name": tensor.name.decode(errors="replace"),
        "index": tensor.tensor,
        "shape": shape,
        "shape_signature": declared,
        "dtype": tensor.dtype.type,
        **_quantization(scales, zero_points, tensor.scale_dim),
    }


def _quantization(scales: Sequence[float], zero_points: Sequence[int], axis: int) -> dict[str, Any]:
    single = (scales[0], zero_points[0]) if len(scales) == 1 else _NO_QUANTIZATION
    return {
        "quantization": single,
        "quantization_parameters": {
            "scales": np.array(scales, np.float32),
            "zero_points": np.array(zero_points, np.int32),
            "quantized_dimension": axis,
            "block_size": 0,
        },
        "sparsity_parameters": {},
    }
