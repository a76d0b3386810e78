"""The contenders of the benchmarks, and the client side of peers/worker.py."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

HERE = Path(__file__).resolve().parent
WORKER = HERE / "peers" / "worker.py"
PEERS_PYTHON = HERE / "peers" / ".venv" / "bin" / "python"
_PEERS_STAMP = HERE / "peers" / ".venv" / ".setup-peers"  # the last file that their set-up writes
NO_PEERS = "the peers are not installed; run `make peers`"

# TensorFlow is quiet, and the peers have only the Keras in their TensorFlow, whatever Keras this
# process uses.
TENSORFLOW_OF_LCE = {"TF_CPP_MIN_LOG_LEVEL": "2", "TF_USE_LEGACY_KERAS": "0"}


def have_peers() -> bool:
    """Tells whether `make peers` was run to its end."""
    return _PEERS_STAMP.exists()


@dataclass(frozen=True)
class Contender:
    """One column of the table."""

    name: str
    runtime: str  # a key of RUNTIMES in peers/worker.py, or a module of web/page/engines
    model: str  # form of a case: a key of FORMS in conv_trials.py or FILES in models.py
    python: Path = Path(sys.executable)  # runs the contender's process

    @property
    def is_other_engine(self) -> bool:
        return not self.runtime.startswith(OURS.runtime)


OURS = Contender("larq_engine", "larq_engine", "binary")
OURS_BITS_FLOAT = Contender("larq_engine, bits to float", "larq_engine", "bits_float")
OURS_BITS = Contender("larq_engine, bits to bits", "larq_engine", "bits")
LCE = Contender("LCE", "lce", "lce", PEERS_PYTHON)
LCE_INDIRECT = Contender("LCE indirect", "lce_indirect", "lce", PEERS_PYTHON)
OPENVINO = Contender("OpenVINO", "openvino", "arrays", PEERS_PYTHON)
ONNX_FLOAT32 = Contender("ONNX Runtime f32", "onnxruntime", "onnx_float32", PEERS_PYTHON)
ONNX_INT8 = Contender("ONNX Runtime int8", "onnxruntime", "onnx_int8", PEERS_PYTHON)
XNNPACK_FLOAT32 = Contender("XNNPACK f32", "xnnpack", "float32")
XNNPACK_INT8 = Contender("XNNPACK int8", "xnnpack", "int8")

PEERS = (LCE, LCE_INDIRECT, XNNPACK_FLOAT32, XNNPACK_INT8)


class ContenderError(Exception):
    """A contender could not be started or failed; the text says why and what to do."""


@dataclass(frozen=True)
class Sample:
    """Times of single invocations, in nanoseconds; those of the CPU are None where unknown."""

    wall: npt.NDArray[np.float64]
    cpu: npt.NDArray[np.float64] | None


class Worker:
    """A running peers/worker.py."""

    def __init__(self, contender: Contender) -> None:
        installed = have_peers() if contender.python == PEERS_PYTHON else contender.python.exists()
        if not installed:
            raise ContenderError(NO_PEERS)
        self._folder = tempfile.TemporaryDirectory(prefix="larq_bench_")
        self._log = open(Path(self._folder.name) / "log", "w+")  # noqa: SIM115  closed in close()
        self._process = subprocess.Popen(
            [str(contender.python), str(WORKER), contender.runtime],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env={**os.environ, "PYTHONPATH": str(HERE.parent), **TENSORFLOW_OF_LCE},
        )
        assert self._process.stdin and self._process.stdout
        self._requests: IO[str] = self._process.stdin
        self._replies: IO[str] = self._process.stdout
        try:
            self.versions: dict[str, str] = self._read()["versions"]
        except ContenderError:
            self.close()
            raise

    def load(self, key: str, model: bytes | Path, threads: int) -> list[str]:
        """Loads a model; returns the names of the chosen kernels, if the contender tells them."""
        if isinstance(model, bytes):
            path = Path(self._folder.name) / f"{key}.tflite"
            path.write_bytes(model)
        else:
            path = model
        reply = self._ask({"do": "load", "key": key, "model": str(path), "threads": threads})
        kernels: list[str] = reply["kernels"]
        return kernels

    def run(self, key: str, x: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Runs a model; returns all outputs."""
        given, taken = (Path(self._folder.name) / f"{key}.{end}" for end in ("in.npy", "out.npz"))
        np.save(given, x)
        self._ask({"do": "run", "key": key, "input": str(given), "output": str(taken)})
        with np.load(taken) as arrays:
            return [arrays[name] for name in arrays.files]

    def time(self, key: str, seconds: float) -> Sample:
        reply = self._ask({"do": "time", "key": key, "seconds": seconds})
        return Sample(np.array(reply["wall_ns"], float), np.array(reply["cpu_ns"], float))

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError):  # it may have died with a request unread
            self._requests.close()  # the worker ends when its input ends
        self._process.wait()
        self._replies.close()
        self._log.close()
        self._folder.cleanup()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            self._requests.write(json.dumps(request) + "\n")
            self._requests.flush()
        except BrokenPipeError:
            pass  # it died earlier; _read says so
        return self._read()

    def _read(self) -> dict[str, Any]:
        line = self._replies.readline()
        if not line:
            status = self._process.wait()
            raise ContenderError(f"its process ended (status {status}):\n{self._tail_of_log()}")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise ContenderError(f"{reply['error']}\n{self._tail_of_log()}".strip())
        return reply

    def _tail_of_log(self) -> str:
        self._log.seek(0)
        lines = [line for line in self._log.read().splitlines() if line.strip()]
        return "\n".join(f"    {line}" for line in lines[-5:])
