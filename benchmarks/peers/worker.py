"""Runs models for the benchmarks in a process of its own.

One file serves every contender and every virtual environment, so that all of them are fed, called
and timed by the same lines.

Started as `python worker.py RUNTIME`. Reads one JSON request a line from stdin and answers each
with one JSON line; arrays travel as .npy files. Needs NumPy and the runtime, nothing of this
project unless that is the runtime.

    {"do": "load", "model": PATH, "threads": N, "key": K}  -> {"kernels": [...]}
    {"do": "run", "key": K, "input": PATH, "output": PATH}
    {"do": "time", "key": K, "seconds": S}    -> {"wall_ns": [...], "cpu_ns": [...]}
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Program(Protocol):
    """A loaded model."""

    def __call__(self, x: Array) -> Array:
        """Runs the model; returns its first output."""

    def outputs(self) -> list[Array]:
        """Returns all outputs of the last run."""


# Takes a model's path and a number of threads; returns the program, and the names of the kernels
# that it chose, if it tells them.
Loader = Callable[[str, int], tuple[Program, list[str]]]


class LceProgram:
    """A model in LCE's interpreter, which always copies all outputs."""

    def __init__(self, lite: Any) -> None:
        self._lite = lite
        self._outputs: list[Array] = []

    def __call__(self, x: Array) -> Array:
        # `Interpreter.predict` would copy the output once more.
        self._outputs = self._lite.predict([x])
        return self._outputs[0]

    def outputs(self) -> list[Array]:
        return self._outputs


def start_lce(indirect_bgemm: bool) -> tuple[Loader, dict[str, str]]:
    import tensorflow  # noqa: F401  resolves the symbols of the extension module below
    from larq_compute_engine.tflite.python import interpreter_wrapper_lite

    def load(path: str, threads: int) -> tuple[Program, list[str]]:
        # these options are fastest in LCE, whole models included
        reference_kernels, xnnpack = False, True
        with open(path, "rb") as file:
            lite = interpreter_wrapper_lite.LiteInterpreter(
                file.read(), threads, reference_kernels, indirect_bgemm, xnnpack
            )
        return LceProgram(lite), []

    return load, _versions("larq-compute-engine", "tensorflow-cpu", "numpy")


class LiteRTProgram:
    """A model in stock LiteRT: its XNNPACK takes all that the delegates do not claim."""

    def __init__(self, path: str, threads: int, delegates: list[Any]) -> None:
        from ai_edge_litert.interpreter import Interpreter

        self._lite = Interpreter(path, experimental_delegates=delegates, num_threads=threads)
        self._lite.allocate_tensors()
        self._input = self._lite.get_input_details()[0]["index"]
        self._indices = [details["index"] for details in self._lite.get_output_details()]

    def __call__(self, x: Array) -> Array:
        self._lite.set_tensor(self._input, x)
        self._lite.invoke()
        result: Array = self._lite.get_tensor(self._indices[0])
        return result

    def outputs(self) -> list[Array]:
        return [self._lite.get_tensor(index) for index in self._indices]


class OpenVinoProgram:
    """Layers of OpenVINO's BinaryConvolution-1, made of the arrays of conv_models.build_arrays.

    Images have their channels last at both ends, as the other contenders' have, and inside.
    """

    def __init__(self, path: str, threads: int) -> None:
        import openvino

        model = _binary_chain(path)
        options = {
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "INFERENCE_PRECISION_HINT": "f32",  # otherwise bfloat16 on a CPU that has it
        }
        self._request = openvino.compile_model(model, "CPU", options).create_infer_request()
        self._input = self._request.get_input_tensor(0).data

    def __call__(self, x: Array) -> Array:
        self._input[...] = x
        self._request.infer()
        return self.outputs()[0]

    def outputs(self) -> list[Array]:
        # The output is copied, as in the other programs, as the next run writes to the same memory.
        return [self._request.get_output_tensor(0).data.copy()]


def _binary_chain(path: str) -> Any:
    import openvino
    from openvino import opset1

    with np.load(path) as arrays:
        signs, multiplier, bias, layers, size = (
            arrays[name] for name in ("signs", "multiplier", "bias", "layers", "size")
        )
    _, kernel, _, in_channels = signs.shape
    bits = (signs.transpose(0, 3, 1, 2) > 0).astype(np.int32)
    # Constants of single bits are stored with the first in the highest place of a byte, but the
    # plug-in for CPUs reads them from the lowest: without the reversal, 2026.4 multiplies by other
    # numbers.
    stored = bits.reshape(-1, 8)[:, ::-1].ravel().tolist()
    weights = openvino.op.Constant(openvino.Type.u1, openvino.Shape(bits.shape), stored)

    def of_channels(values: Any, channels: int) -> Any:
        return opset1.constant(np.full((1, channels, 1, 1), values, np.float32))

    first = opset1.parameter([1, int(size), int(size), in_channels], np.float32)
    x = opset1.transpose(first, opset1.constant(np.array([0, 3, 1, 2])))
    zeros = of_channels(0, in_channels)
    ends = of_channels(0, 1), of_channels(1, 1)  # bits: 0 is -1
    pads = [kernel // 2] * 2
    for _ in range(int(layers)):
        x = opset1.fake_quantize(x, zeros, zeros, *ends, 2)
        x = opset1.binary_convolution(
            x, weights, [1, 1], pads, pads, [1, 1], "xnor-popcount", pad_value=1.0
        )
        x = opset1.multiply(x, opset1.constant(multiplier.reshape(1, -1, 1, 1)))
        x = opset1.add(x, opset1.constant(bias.reshape(1, -1, 1, 1)))
    x = opset1.transpose(x, opset1.constant(np.array([0, 2, 3, 1])))
    return openvino.Model([x], [first], "layers")


def start_openvino() -> tuple[Loader, dict[str, str]]:
    import openvino  # noqa: F401  says now, not for each model, if it is not installed

    def load(path: str, threads: int) -> tuple[Program, list[str]]:
        return OpenVinoProgram(path, threads), []

    return load, _versions("openvino", "numpy")


class OnnxProgram:
    """A model in ONNX Runtime."""

    def __init__(self, path: str, threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self._session = onnxruntime.InferenceSession(
            path, options, providers=["CPUExecutionProvider"]
        )
        self._input = self._session.get_inputs()[0].name
        self._outputs: list[Array] = []

    def __call__(self, x: Array) -> Array:
        self._outputs = self._session.run(None, {self._input: x})
        return self._outputs[0]

    def outputs(self) -> list[Array]:
        return self._outputs


def start_onnxruntime() -> tuple[Loader, dict[str, str]]:
    import onnxruntime  # noqa: F401  says now, not for each model, if it is not installed

    def load(path: str, threads: int) -> tuple[Program, list[str]]:
        return OnnxProgram(path, threads), []

    return load, _versions("onnxruntime", "tf2onnx", "numpy")


def start_xnnpack() -> tuple[Loader, dict[str, str]]:
    def load(path: str, threads: int) -> tuple[Program, list[str]]:
        return LiteRTProgram(path, threads, []), []

    return load, _versions("ai-edge-litert", "numpy")


def start_larq_engine() -> tuple[Loader, dict[str, str]]:
    import larq_engine

    larq_engine.delegate_path()  # fails now, not for each model, if it is not built

    def load(path: str, threads: int) -> tuple[Program, list[str]]:
        profile = larq_engine.Interpreter(path, num_threads=threads).profile(runs=1)
        kernels = sorted({row.kernel for row in profile if row.kernel})
        delegates = [larq_engine.load_delegate(num_threads=threads)]
        return LiteRTProgram(path, threads, delegates), kernels

    versions = _versions("ai-edge-litert", "numpy")
    return load, {**versions, "larq_engine": larq_engine.__version__}


RUNTIMES: dict[str, Callable[[], tuple[Loader, dict[str, str]]]] = {
    "larq_engine": start_larq_engine,
    "xnnpack": start_xnnpack,
    "openvino": start_openvino,
    "onnxruntime": start_onnxruntime,
    "lce": lambda: start_lce(indirect_bgemm=False),
    "lce_indirect": lambda: start_lce(indirect_bgemm=True),
}


def _versions(*packages: str) -> dict[str, str]:
    return {package: importlib.metadata.version(package) for package in packages}


class Session:
    """Answers requests; keeps the models that were loaded and their last inputs."""

    def __init__(self, load: Loader) -> None:
        self._load = load
        self._programs: dict[str, Program] = {}
        self._inputs: dict[str, Array] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        key = request["key"]
        if request["do"] == "load":
            self._programs[key], kernels = self._load(request["model"], request["threads"])
            return {"kernels": kernels}
        if request["do"] == "run":
            self._inputs[key] = np.load(request["input"])
            self._programs[key](self._inputs[key])
            np.savez(request["output"], *self._programs[key].outputs())
            return {}
        if request["do"] == "time":
            return time_program(self._programs[key], self._inputs[key], request["seconds"])
        raise ValueError(f"request {request['do']!r}: expected load, run or time")


def time_program(program: Program, x: Array, seconds: float) -> dict[str, list[int]]:
    """Calls the program once to warm caches, then for `seconds` and at least three times."""
    program(x)
    wall: list[int] = []
    cpu: list[int] = []
    end = time.perf_counter() + seconds
    while len(wall) < 3 or time.perf_counter() < end:
        cpu_start, wall_start = time.process_time_ns(), time.perf_counter_ns()
        program(x)
        wall.append(time.perf_counter_ns() - wall_start)
        cpu.append(time.process_time_ns() - cpu_start)
    return {"wall_ns": wall, "cpu_ns": cpu}


def main() -> None:
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # the runtimes' output must not mix with the answers

    def reply(answer: dict[str, Any]) -> None:
        print(json.dumps(answer), file=replies)

    try:
        load, versions = RUNTIMES[sys.argv[1]]()
    except Exception as error:  # reported to the parent, which decides
        reply({"error": f"{type(error).__name__}: {error}"})
        return
    reply({"versions": versions})
    session = Session(load)
    for line in sys.stdin:
        try:
            reply(session.answer(json.loads(line)))
        except Exception as error:  # reported to the parent, which decides
            reply({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
