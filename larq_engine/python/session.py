"""One host interpreter with the plug-in applied: allocation, invocation, timing.

It knows nothing of batches or of how users hand over data. Whatever the host or the plug-in
refuses leaves as ValueError, and a refused resize leaves the shapes as they were.
"""

import time
from collections.abc import Sequence
from typing import Any

from larq_engine.python import host, library
from larq_engine.python.errors import host_errors
from larq_engine.python.tensors import Array, Shape, TensorInfo, describe


class Session:
    """A loaded model, ready to run."""

    def __init__(self, model: bytes, *, num_threads: int, kernel: str, runtime: str | None) -> None:
        module = host.import_runtime(runtime)
        self._delegate = host.load_delegate(runtime, num_threads=num_threads, kernel=kernel)
        with host_errors("model"):
            self._interpreter: host.HostInterpreter = module.Interpreter(
                model_content=model,
                num_threads=num_threads,
                experimental_delegates=[self._delegate],
            )
            self._interpreter.allocate_tensors()
        inputs = self.inputs()
        self._shapes = tuple(info.shape for info in inputs)
        self._input_numbers = [info.index for info in inputs]
        self._output_numbers = [info.index for info in self.outputs()]

    def inputs(self) -> tuple[TensorInfo, ...]:
        """The inputs, with the shapes that are allocated now."""
        return describe(self._interpreter.get_input_details(), self._signature("inputs"))

    def outputs(self) -> tuple[TensorInfo, ...]:
        """The outputs, with the shapes that are allocated now."""
        return describe(self._interpreter.get_output_details(), self._signature("outputs"))

    def _signature(self, side: str) -> dict[str, int] | None:
        signatures = list(self._interpreter._get_full_signature_list().values())
        return signatures[0][side] if len(signatures) == 1 else None

    def resize(self, shapes: Sequence[Shape]) -> None:
        """Allocates for these input shapes."""
        wanted = tuple(shapes)
        if wanted == self._shapes:
            return
        try:
            with host_errors(f"resize to {', '.join(map(str, wanted))}"):
                self._allocate(wanted)
        except ValueError:
            with host_errors("resize back"):
                self._allocate(self._shapes)
            raise
        self._shapes = wanted

    def _allocate(self, shapes: Sequence[Shape]) -> None:
        for number, shape in zip(self._input_numbers, shapes, strict=True):
            self._interpreter.resize_tensor_input(number, shape)
        self._interpreter.allocate_tensors()

    def run(self, arrays: Sequence[Array]) -> list[Array]:
        """Runs the model once on arrays of the inputs' types, and of any shapes it can take."""
        self._feed(arrays)
        with host_errors("invoke"):
            self._interpreter.invoke()
            return [self._interpreter.get_tensor(number) for number in self._output_numbers]

    def _feed(self, arrays: Sequence[Array]) -> None:
        self.resize([array.shape for array in arrays])
        with host_errors("inputs"):
            for number, array in zip(self._input_numbers, arrays, strict=True):
                self._interpreter.set_tensor(number, array)

    def reset_state(self) -> None:
        """Clears what a recurrent model remembers."""
        self._interpreter.reset_all_variables()

    def measure(
        self, arrays: Sequence[Array], runs: int
    ) -> tuple[list[dict[str, Any]], int, list[str]]:
        """Runs the model `runs` times.

        Returns:
            The plug-in's steps, the nanoseconds of all runs together, and the names of the
            operators that the plug-in left to the host.
        """
        self.run(arrays)  # The first run of a shape makes plans and touches memory.
        pointer: int = self._delegate._get_native_delegate_pointer()
        library.start_profile(pointer)
        elapsed = 0
        with host_errors("invoke"):
            for _ in range(runs):
                start = time.perf_counter_ns()
                self._interpreter.invoke()
                elapsed += time.perf_counter_ns() - start
        steps = library.read_profile(pointer)
        ours = {step["node"] for step in steps}
        left = [
            node["op_name"]
            for node in self._interpreter._get_ops_details()
            # The nodes that delegates put in place of others are no operators of the model.
            if node["index"] not in ours and node["op_name"] != "DELEGATE"
        ]
        return steps, elapsed, left
