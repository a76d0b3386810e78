"""Provides the Interpreter that users see: it loads a model, predicts, resizes and profiles.

It has more than LCE's Interpreter; `larq_engine.testing` has one with LCE's signature.
"""

import operator
import os
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from larq_engine.python import arguments
from larq_engine.python.batching import BatchRunner
from larq_engine.python.model_file import ModelSource, read_model
from larq_engine.python.pipeline import LockedSession, Pipeline
from larq_engine.python.profile import ProfileTable, make_table
from larq_engine.python.progress import ProgressBar
from larq_engine.python.session import DeviceMemory, Session
from larq_engine.python.tensors import Array, Shape, TensorInfo, join, random_data
from larq_engine.python.text_table import counted, printable
from larq_engine.python.thread_count import running_threads, warn_of_fewer_threads


@dataclass(frozen=True)
class _Declared:
    """The declared inputs and outputs, and the batches that fit them."""

    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    batches: BatchRunner


# All Interpreters of the process, which must know of forks.
_interpreters: "weakref.WeakSet[Interpreter]" = weakref.WeakSet()


class Interpreter:
    """Runs a TensorFlow Lite model, its binarized operators with this engine's kernels.

    Several threads may use one Interpreter: their runs wait for each other. For parallel work make
    one for each thread. A signal handler that uses the Interpreter which it interrupts gets a
    RuntimeError. A forked process may use it too: there it opens the model anew. Pickle and
    `copy.deepcopy` make another Interpreter of the same model, options and shapes.

    `close()`, the end of its `with` block, or the end of the Interpreter frees the memory.

    Args:
        model: The path of a .tflite file, or its content, as bytes or anything with a buffer.
        num_threads: Threads for one run. If the process may use fewer CPUs, that many run, and
            there is a warning.
        kernel: "auto" for the engine's choice; "reference" or the name of a kernel for tests and
            measurements.
        fuse: Whether the plug-in also computes float operators next to the binarized ones. Results
            are the same, but for the rounding of averages, dense layers and logistic functions.
            Also "on" or "off", as in the plug-in's options.
        device: "cpu"; "cuda" or "cuda:N" for a GPU, which then computes all that it can; "auto" for
            the device that is expected to take least time, operator by operator.
            `larq_engine.about()` says whether there is a GPU. If None, what the environment
            variable LARQ_ENGINE_DEVICE says, else "cpu".
        placement: Where single operators are computed, whatever `device` says, as in
            "3:cpu,7:cuda,8:host,9:cpu:reference". The numbers are the `node` of the rows of
            `profile()`; "1/3:cuda" is a node of subgraph 1. If "", what the model's file says;
            "none" is no placement, whatever the file says.
        host: "litert", "tensorflow" or "tflite_runtime", which then computes what the engine does
            not; "none" for the engine alone; "auto" for the engine alone if it computes all
            operators, and else the first installed host. If None, the first installed host, and
            the engine alone if none is installed.

    Raises:
        ValueError: The model or an option is not valid; the message says what and where.
        TypeError: `model`, `num_threads` or `fuse` is of a type that it cannot have.
        FileNotFoundError: There is no such model, or the plug-in was not built.
        ImportError: The model needs a host, and it is not installed.
    """

    def __init__(
        self,
        model: ModelSource,
        *,
        num_threads: int = 1,
        kernel: str = "auto",
        fuse: bool | str = True,
        device: str | None = None,
        placement: str = "",
        host: str | None = None,
    ) -> None:
        threads = _whole_number(num_threads)
        if not isinstance(fuse, (bool, str)):
            raise TypeError(f"fuse: expected True, False, 'on' or 'off', got {fuse!r}")
        chosen: dict[str, Any] = {} if device is None else {"device": device}
        session = Session(
            read_model(model),
            num_threads=threads,
            host=host,
            kernel=kernel,
            fuse=fuse,
            **chosen,
            placement=placement,
        )
        warn_of_fewer_threads("num_threads", threads, stacklevel=2)
        self._locked = LockedSession(session)
        self._pipeline = Pipeline(self._locked)
        self._adopt(session.declared_inputs, session.declared_outputs)
        _interpreters.add(self)

    def _adopt(self, inputs: tuple[TensorInfo, ...], outputs: tuple[TensorInfo, ...]) -> None:
        """Takes these shapes as the declared ones; `predict` may then use other batches."""
        # One assignment replaces all: another thread may look, or Ctrl-C may come in between.
        self._declared = _Declared(inputs, outputs, BatchRunner(self._locked, inputs))

    @property
    def _session(self) -> Session:
        return self._locked.session

    @property
    def _inputs(self) -> tuple[TensorInfo, ...]:
        return self._declared.inputs

    @property
    def _outputs(self) -> tuple[TensorInfo, ...]:
        return self._declared.outputs

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (type(self), *self._session.recipe(), self.input_shapes)

    def __repr__(self) -> str:
        try:
            content, options = self._session.recipe()
        except ValueError:
            return "<closed Interpreter>"
        sides = [
            ", ".join(f"{info} {info.dtype} {info.shape}" for info in infos)
            for infos in (self._inputs, self._outputs)
        ]
        device = options.get("device", "cpu")
        asked = options["run_threads"] or options["num_threads"]
        threads = counted(running_threads(asked), "thread")
        return printable(
            f"<Interpreter of {len(content)} bytes on {device}, {threads}: {sides[0]} to "
            f"{sides[1]}>"
        )

    def __enter__(self) -> "Interpreter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the memory. Running the model is a ValueError then; closing it again is not."""
        self._locked.close()
        self._pipeline.close()

    def _after_fork(self) -> None:
        """Makes a forked process, in which it runs, open the model anew."""
        self._locked.abandon()
        self._pipeline.abandon()

    @property
    def host(self) -> str:
        """The name of the host that the model runs in; "none" if the engine runs it alone."""
        return self._session.host

    @property
    def input_names(self) -> list[str]:
        """The names in the model's signature if it has exactly one, else those of the tensors."""
        return [info.name for info in self._inputs]

    @property
    def output_names(self) -> list[str]:
        """The names in the model's signature if it has exactly one, else those of the tensors."""
        return [info.name for info in self._outputs]

    @property
    def input_types(self) -> list[np.dtype[Any]]:
        """The data type of each input."""
        return [info.dtype for info in self._inputs]

    @property
    def output_types(self) -> list[np.dtype[Any]]:
        """The data type of each output."""
        return [info.dtype for info in self._outputs]

    @property
    def input_shapes(self) -> list[Shape]:
        """The shape of each input, batch included."""
        return [info.shape for info in self._inputs]

    @property
    def output_shapes(self) -> list[Shape]:
        """The shape of each output, batch included."""
        return [info.shape for info in self._outputs]

    @property
    def input_scales(self) -> list[float | list[float] | None]:
        """The quantization scale of each input: one, one per channel, or None."""
        return [info.scale for info in self._inputs]

    @property
    def output_scales(self) -> list[float | list[float] | None]:
        """The quantization scale of each output: one, one per channel, or None."""
        return [info.scale for info in self._outputs]

    @property
    def input_zero_points(self) -> list[int | list[int] | None]:
        """The quantization zero point of each input, or None."""
        return [info.zero_point for info in self._inputs]

    @property
    def output_zero_points(self) -> list[int | list[int] | None]:
        """The quantization zero point of each output, or None."""
        return [info.zero_point for info in self._outputs]

    def predict(self, x: Any, verbose: int = 0) -> Any:
        """Runs the model on any number of samples.

        NaN are legal data, as in TensorFlow Lite. But a sign makes +1 of NaN, and int8 another
        number, so that results look like any other. If data may hold NaN, ask
        `numpy.isnan(x).any()` first, or use `larq_engine.batch.Predictor`, which refuses them.

        Args:
            x: An array with samples along axis 0; for several inputs a list or tuple of arrays, or
                a dictionary from input name to array; or an iterator that yields single samples,
                each an array, list or dictionary.
                An array may lie in the memory of the GPU that computes, if nothing but the GPU
                reads the input: it is read there. Any library with DLPack (PyTorch, CuPy) makes it.
            verbose: If 1, show a progress bar from the start; if 0, only when it takes long.

        Returns:
            One array, a list of them if the model has several outputs, or a dictionary by output
            name if the input was one.

        Raises:
            TypeError: A cast to the input's type would lose something of the data.
            ValueError: The data do not fit the inputs, or the model refused them.
        """
        declared = self._declared
        inputs, outputs = declared.inputs, declared.outputs
        # Most calls need neither checks nor batching.
        arrays = None if verbose else arguments.plain_arrays(x, inputs)
        if arrays is not None:
            results = self._locked.run(arrays)
            return _as_asked(results, outputs, isinstance(x, dict))
        request = arguments.parse(x, inputs)
        pieces: list[list[Array]] = []
        with ProgressBar(request.samples, verbose) as bar:
            for samples, piece in self._pipeline.run(declared.batches.batches(request.stacks)):
                pieces.append(piece)
                bar.update(samples)
        joined = pieces[0]
        if len(pieces) > 1:
            columns = zip(outputs, zip(*pieces, strict=True), strict=True)
            joined = [join(parts, f"output {info}") for info, parts in columns]
        return _as_asked(joined, outputs, request.named)

    def resize(self, shapes: Mapping[str, Sequence[int]] | Sequence[Sequence[int]]) -> None:
        """Gives the inputs other shapes, such as another image size.

        Args:
            shapes: A shape for each input, or a dictionary from input name to shape; an input that
                the dictionary lacks keeps its own.

        Raises:
            ValueError: A name or shape is not valid, or the model cannot take it, or the converter
                wrote into the file that it is right for its own sizes only. The shapes are then as
                before.
        """
        with self._locked.turns.take():
            self._session.reopen(arguments.parse_shapes(shapes, self._inputs))
            self._adopt(self._session.inputs(), self._session.outputs())

    def set_num_threads(self, num_threads: int) -> None:
        """Lets runs use so many threads from now on, such as fewer while others need the CPUs.

        Args:
            num_threads: 1 to the argument `num_threads` of the Interpreter, for whose memory is
                planned.

        Raises:
            ValueError: There are not so many threads, or the model runs in a host, whose threads
                cannot change.
            TypeError: It is no whole number.
        """
        threads = _whole_number(num_threads)
        for locked in self._pipeline.sessions:
            with locked.turns.take():
                locked.session.set_num_threads(threads)

    def memory(self) -> list[DeviceMemory]:
        """Tells how much memory of GPUs the model takes, also before its first run.

        Returns:
            A record for each GPU that computes, with its `device`, and in bytes its `weights`,
            `activations` and `staging` (the host's memory that copies go through). The list is
            empty if all is on the CPU. After `predict` of many batches two copies of the model are
            open, and it counts both.
        """
        total: dict[str, DeviceMemory] = {}
        for locked in self._pipeline.sessions:
            with locked.turns.take():
                records = locked.session.memory()
            for record in records:
                known = total.get(record.device)
                total[record.device] = record if known is None else known + record
        return list(total.values())

    def profile(self, inputs: Any = None, runs: int = 50) -> ProfileTable:
        """Measures each operator.

        If the model has a state, these runs change it.

        Args:
            inputs: Arrays as for `predict`, run as one batch; random data if None.
            runs: How often to run the model. The times are means.

        Returns:
            One row for each operator that the plug-in ran, and one for all that it left to the
            host, if the model runs in one.
        """
        if isinstance(runs, bool) or not isinstance(runs, int) or runs < 1:
            raise ValueError(f"runs: expected a positive integer, got {runs!r}")
        if inputs is None:
            generator = np.random.default_rng(0)
            arrays: list[arguments.Data] = [random_data(info, generator) for info in self._inputs]
        else:
            arrays = next(arguments.parse(inputs, self._inputs).stacks)
        with self._locked.turns.take():
            steps, elapsed_ns, host_ops = self._session.measure(arrays, runs)
        return make_table(steps, elapsed_ns, runs, host_ops)


def _whole_number(num_threads: Any) -> int:
    try:
        return operator.index(num_threads)
    except TypeError:
        raise TypeError(
            f"num_threads: expected a whole number, got {num_threads!r}; as in num_threads=4"
        ) from None


def _as_asked(results: list[Array], outputs: Sequence[TensorInfo], named: bool) -> Any:
    if named:
        return {info.name: array for info, array in zip(outputs, results, strict=True)}
    return results[0] if len(results) == 1 else results


def _reopen(
    kind: type[Interpreter], content: bytes, options: dict[str, Any], shapes: Sequence[Shape]
) -> Interpreter:
    """Makes the copy of an Interpreter for pickle and deepcopy."""
    copy = kind.__new__(kind)
    threads = options.pop("run_threads")
    Interpreter.__init__(copy, content, **options)
    if threads is not None:
        copy.set_num_threads(threads)
    if list(shapes) != copy.input_shapes:
        copy.resize(shapes)
    return copy


def _after_fork() -> None:
    for interpreter in list(_interpreters):
        interpreter._after_fork()


os.register_at_fork(after_in_child=_after_fork)
