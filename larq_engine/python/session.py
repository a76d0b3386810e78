"""Runs a model that is open in a host, with the plug-in: allocation, invocation, timing.

A session knows nothing of batches or of how users hand over data. Whatever the host or the plug-in
refuses is raised as ValueError. A refused resize leaves the shapes unchanged. So does a resize that
is interrupted, by Ctrl-C or by a fork: the next use opens the host's interpreter anew.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from larq_engine.python import library
from larq_engine.python.device_array import DeviceArray
from larq_engine.python.engine_model import EngineModel
from larq_engine.python.errors import host_errors
from larq_engine.python.hosts import NO_HOST, HostInterpreter
from larq_engine.python.open_model import OpenModel, open_allocated, open_in_first
from larq_engine.python.operators import known_op
from larq_engine.python.shape_checks import check_batch, check_sizes
from larq_engine.python.tensors import Array, Shape, TensorInfo, describe
from larq_engine.python.turns import computed_once

_MAIN = 0  # number of the main graph among the model's subgraphs

# Smallest input that a GPU reads in place; copying fewer bytes is faster than telling the GPU.
_LEAST_GIVEN_BYTES = 64 << 10


@dataclass(frozen=True)
class Operator:
    """An operator of the main graph, with its tensors' numbers; -1 stands for an absent one."""

    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class DeviceMemory:
    """The memory that a model takes on a GPU, in bytes.

    Attributes:
        device: The device's name in profiles.
        weights: Constants of the operators.
        activations: Values that pass between operators, for all shapes that are remembered.
        staging: Pinned memory of the host, through which data are copied.
    """

    device: str
    weights: int
    activations: int
    staging: int

    def __add__(self, other: "DeviceMemory") -> "DeviceMemory":
        return DeviceMemory(
            self.device,
            self.weights + other.weights,
            self.activations + other.activations,
            self.staging + other.staging,
        )


class InputError(ValueError):
    """An error in the data of an input, and not in the model or its shapes."""


class Session:
    """A loaded model, ready to run; `host` is the name of its host, or "none"."""

    def __init__(
        self,
        content: bytes,
        *,
        num_threads: int,
        host: str | None,
        run_threads: int | None = None,
        **options: object,
    ) -> None:
        self._content = content
        self._asked_host = host
        self._num_threads = num_threads
        self._options = options  # the plug-in's other options
        self._run_threads = run_threads  # what set_num_threads got
        self._is_closed = False
        # True if the interpreter is allocated for `_shapes`; false during a change.
        self._is_whole = False
        self.host, self._model = open_in_first(
            host, lambda name: open_allocated(lambda: self._open("model", name))
        )
        with host_errors("model"):
            self.declared_inputs = self.inputs()
            self.declared_outputs = self.outputs()
            self._states = self._find_states()
            self._check_states()
        self._shapes = tuple(info.shape for info in self.declared_inputs)
        self._input_numbers = [info.index for info in self.declared_inputs]
        self._output_numbers = [info.index for info in self.declared_outputs]
        self._is_whole = True
        self.has_gpu = bool(self.memory())  # for these shapes or others
        self._given: list[int] = []  # inputs that a GPU reads in place

    @computed_once
    def operators(self) -> list[Operator]:
        """Returns the operators of the main graph, which few uses need."""
        return self._read_operators()

    def _read_operators(self, *only: str) -> list[Operator]:
        """Returns operators of these names, or all; nodes that are delegates' count as none."""
        self._check_open()
        nodes = self._interpreter._interpreter
        names = [nodes.NodeName(number) for number in range(nodes.NumNodes())]
        return [
            Operator(
                known_op(name).name,
                tuple(map(int, nodes.NodeInputs(number))),
                tuple(map(int, nodes.NodeOutputs(number))),
            )
            for number, name in enumerate(names)
            if (name in only if only else name != "DELEGATE")
        ]

    def _find_states(self) -> list[tuple[int, int]]:
        """Returns two tensors for each state: one it is read into, one it is assigned from."""
        if self.host == NO_HOST:  # the engine alone refuses models with states
            return []
        operators = self._read_operators("READ_VARIABLE", "ASSIGN_VARIABLE")
        reads = {op.inputs[0]: op.outputs[0] for op in operators if op.name == "READ_VARIABLE"}
        return [
            (reads[op.inputs[0]], op.inputs[1])
            for op in operators
            if op.name == "ASSIGN_VARIABLE" and op.inputs[0] in reads
        ]

    @computed_once
    def declared_tensors(self) -> dict[int, TensorInfo]:
        """Returns all tensors by number, as the file declares them; few uses need them."""
        return {info.index: info for info in describe(self._declared_details, None)}

    @computed_once
    def _declared_details(self) -> list[dict[str, Any]]:
        """Returns the host's details of all tensors before their first resize.

        A resize does not update tensors inside a delegate's part of the graph.
        """
        self._check_open()
        return self._interpreter.get_tensor_details()

    def recipe(self) -> tuple[bytes, dict[str, Any]]:
        """Returns the file and the options, with which an equal session can be made."""
        self._check_open()
        options = {
            "num_threads": self._num_threads,
            "host": self._asked_host,
            "run_threads": self._run_threads,
            **self._options,
        }
        return self._content, options

    @property
    def _interpreter(self) -> HostInterpreter:
        return self._model.interpreter

    @property
    def _engine(self) -> library.Delegate | EngineModel:
        engine = self._model.engine
        assert engine is not None  # a session always has the engine's options
        return engine

    def _open(self, action: str, host: str | None = None) -> OpenModel:
        """Opens the model anew, without allocating tensors; in the chosen host if None."""
        model = OpenModel(
            self._content,
            host=host or self.host,
            num_threads=self._num_threads,
            action=action,
            options=self._options,
        )
        if self._run_threads is not None:
            model.set_num_threads(self._run_threads)
        return model

    def set_num_threads(self, threads: int) -> None:
        """Lets runs without a host use so many threads, at most those of the session."""
        self._check_open()
        self._model.set_num_threads(threads)
        self._run_threads = threads

    def _check_open(self) -> None:
        if self._is_closed:
            raise ValueError(
                "expected an open Interpreter, got one that was closed, by close() or the end of "
                "its `with` block; make another one"
            )

    def close(self) -> None:
        """Frees the model and the host's interpreter; nothing can be run any more."""
        if not self._is_closed:
            self._is_closed, self._is_whole = True, False
            del self._model, self._content

    def abandon(self) -> None:
        """Abandons a forked process's copy, which has no host threads and maybe half a run."""
        if self._is_closed:
            return
        left = ctypes.py_object(self._model)
        ctypes.pythonapi.Py_IncRef(left)  # Freeing it would wait for the host's threads.
        self._is_whole = False

    def inputs(self) -> tuple[TensorInfo, ...]:
        """Returns the inputs, with the shapes that are allocated now."""
        return describe(self._interpreter.get_input_details(), self._signature("inputs"))

    def outputs(self) -> tuple[TensorInfo, ...]:
        """Returns the outputs, with the shapes that are allocated now."""
        return describe(self._interpreter.get_output_details(), self._signature("outputs"))

    def _signature(self, side: str) -> dict[str, int] | None:
        signatures = list(self._interpreter._get_full_signature_list().values())
        return signatures[0][side] if len(signatures) == 1 else None

    def resize(self, shapes: Sequence[Shape]) -> None:
        """Allocates for these input shapes."""
        wanted = tuple(shapes)
        if self._is_whole and wanted == self._shapes:
            return
        action = self._prepare_resize(wanted)
        was_whole, self._is_whole = self._is_whole, False
        try:
            if not was_whole:
                self._model = self._open(action)
            with host_errors(action):
                self._allocate(wanted)
        except ValueError:
            # A new interpreter is opened, because tflite_runtime 2.14 crashes when it allocates
            # again after a refusal, and every host repeats an error that it reported in all later
            # errors.
            self._model = self._open("resize back")
            with host_errors("resize back"):
                self._allocate(self._shapes)
            self._is_whole = True
            raise
        self._shapes, self._is_whole = wanted, True

    def reopen(self, shapes: Sequence[Shape]) -> None:
        """Allocates for these input shapes in a new interpreter of the host.

        This is for shapes that may need more memory than there is: TensorFlow 2.21 crashes when
        memory runs out while it enlarges an allocation.
        """
        wanted = tuple(shapes)
        action = self._prepare_resize(wanted)
        check_sizes(action, self._content, self.declared_inputs, wanted)
        before = self._model, self._is_whole
        self._is_whole = False
        try:
            self._model = self._open(action)
            with host_errors(action):
                self._allocate(wanted)
            check_batch(action, self.declared_inputs, self.declared_outputs, wanted, self.outputs())
        except ValueError:
            self._model, self._is_whole = before
            raise
        self._shapes, self._is_whole = wanted, True

    def _prepare_resize(self, wanted: Sequence[Shape]) -> str:
        """Reads what a resize would destroy; returns the name of the resize for errors."""
        self._check_open()
        _ = self._declared_details
        return self._resize_action(wanted)

    def _resize_action(self, wanted: Sequence[Shape]) -> str:
        changes = [
            f"input {info} from {before} to {shape}"
            for info, before, shape in zip(self.declared_inputs, self._shapes, wanted, strict=True)
            if before != shape
        ]
        return f"resize of {', '.join(changes)}" if changes else "invoke"

    def _allocate(self, shapes: Sequence[Shape]) -> None:
        for number, shape in zip(self._input_numbers, shapes, strict=True):
            self._interpreter.resize_tensor_input(number, shape)
        self._interpreter.allocate_tensors()
        for info in self.declared_inputs:
            # A host may report success without memory; then a view of the tensor raises. Strings
            # have no memory before they are set, and a view of them can crash.
            if info.dtype.kind != "S":
                self._interpreter.tensor(info.index)()
        self._check_states()

    def _check_states(self) -> None:
        """Refuses larger states, which XNNPACK of LiteRT 2.3 would write over other memory."""
        if not self._states:
            return
        tensors = {
            info.index: info for info in describe(self._interpreter.get_tensor_details(), None)
        }
        for old, new in self._states:
            if not {old, new} <= tensors.keys():  # a host may leave out what it cannot describe
                continue
            read, assigned = tensors[old], tensors[new]
            if read.shape and -1 not in read.signature and read.shape != assigned.shape:
                raise ValueError(
                    f"expected inputs that keep a state's shape {read.shape}, got some that make "
                    f"it {assigned.shape} (tensor #{new}); give the batch that the model declares"
                )

    def run(self, arrays: Sequence[Array | DeviceArray]) -> list[Array]:
        """Runs the model once on arrays of the inputs' types and any shapes that it can take."""
        self._feed(arrays)
        try:
            with host_errors("invoke"):
                # A recurrent layer's state outlives a run, and the next arrays are other samples.
                self._interpreter.reset_all_variables()
                self._interpreter.invoke()
                return [self._interpreter.get_tensor(number) for number in self._output_numbers]
        finally:
            self._let_go()

    def _feed(self, arrays: Sequence[Array | DeviceArray]) -> None:
        """Sets the inputs. Data that a GPU can read in place stay there until `_let_go`."""
        self.resize([array.shape for array in arrays])
        try:
            for info, array in zip(self.declared_inputs, arrays, strict=True):
                if isinstance(array, DeviceArray):
                    self._read_on_gpu(info, array)
                    continue
                if self._read_from_host(info, array):
                    continue
                with host_errors("inputs"):
                    self._interpreter.set_tensor(info.index, array)
        except BaseException:  # after Ctrl-C too, the data are the caller's again
            self._let_go()
            raise

    def _read_from_host(self, info: TensorInfo, array: Array) -> bool:
        """Tells whether a GPU reads the array in place, without the host tensor's copy."""
        if not self.has_gpu or array.nbytes < _LEAST_GIVEN_BYTES:
            return False
        if not array.flags.c_contiguous or info.index in self._output_numbers:
            return False
        self._given.append(info.index)
        return self._engine.set_host_input(info.index, array.ctypes.data, array.nbytes)

    def _read_on_gpu(self, info: TensorInfo, array: DeviceArray) -> None:
        try:
            if info.index in self._output_numbers:
                raise ValueError("expected data in the host's memory, as this is an output too")
            self._given.append(info.index)
            self._engine.set_device_input(info.index, array.address, array.nbytes)
        except ValueError as error:
            raise InputError(f"input {info}: {error}") from None

    def _let_go(self) -> None:
        while self._given:
            self._engine.set_device_input(self._given[-1], None, 0)
            self._given.pop()

    def constant(self, number: int) -> Array | None:
        """Returns the value of a tensor that the file holds; None if it holds none."""
        try:
            return self._interpreter.get_tensor(number)
        except (RuntimeError, ValueError):
            return None

    def activation_bytes(self) -> int:
        """Returns the bytes of all tensors that depend on the inputs, for declared shapes."""
        numbers = set(self._input_numbers)
        for operator in self.operators:
            if not numbers.isdisjoint(operator.inputs):
                numbers.update(operator.outputs)
        tensors = self.declared_tensors
        return sum(tensors[number].nbytes for number in numbers & tensors.keys())

    def memory(self) -> list[DeviceMemory]:
        """Returns what is held on GPUs for the shapes that were allocated."""
        self.resize(self._shapes)
        return [DeviceMemory(**record) for record in self._engine.read_memory()]

    def time_runs(self, arrays: Sequence[Array | DeviceArray], seconds: float) -> list[int]:
        """Runs the model for some seconds; returns each run's nanoseconds, unprofiled."""
        self.run(arrays)  # The first run of a shape makes plans and touches memory.
        self._feed(arrays)
        times: list[int] = []
        total = 0
        try:
            with host_errors("invoke"):
                while not times or total < seconds * 1e9:
                    times.append(self._model.time_ns())
                    total += times[-1]
        finally:
            self._let_go()
        return times

    def claims(self) -> list[dict[str, Any]]:
        """Returns for each operator whether the plug-in took it, and why: see `read_claims`."""
        return self._engine.read_claims()

    def measure(
        self, arrays: Sequence[Array | DeviceArray], runs: int
    ) -> tuple[list[dict[str, Any]], int, list[str] | None]:
        """Runs the model `runs` times.

        Returns:
            The plug-in's steps, the nanoseconds of all runs together, and the names of the
            operators that the plug-in left to the host; None if there is no host.
        """
        self.run(arrays)  # The first run of a shape makes plans and touches memory.
        self._feed(arrays)
        try:
            with host_errors("invoke"):
                elapsed, steps = self._model.time_steps(runs)
        finally:
            self._let_go()
        if self.host == NO_HOST:
            return steps, elapsed, None
        taken = library.nodes_of(step for step in steps if step["subgraph"] == _MAIN)
        left = [
            op.name
            for node, op in enumerate(self.operators)
            if not known_op(op.name).is_ours and node not in taken
        ]
        return steps, elapsed, left
