"""Calls the library's C functions for whole models, which need no host (larq_engine_model.h)."""

import ctypes
import functools
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from larq_engine.python import library
from larq_engine.python.tensors import Array, Shape

# Numbers of types in .tflite files, in the order of the schema, as NumPy knows them.
DTYPES: Mapping[int, type[np.generic]] = {
    0: np.float32,
    1: np.float16,
    2: np.int32,
    3: np.uint8,
    4: np.int64,
    6: np.bool_,
    7: np.int16,
    9: np.int8,
    10: np.float64,
    12: np.uint64,
    15: np.uint32,
    16: np.uint16,
}


class _Tensor(ctypes.Structure):
    """LarqEngineTensor."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("tensor", ctypes.c_int),
        ("type", ctypes.c_int),
        ("rank", ctypes.c_int),
        ("dims", ctypes.POINTER(ctypes.c_int)),
        ("open_dims", ctypes.POINTER(ctypes.c_int)),
        ("bytes", ctypes.c_size_t),
        ("data", ctypes.c_void_p),
        ("is_constant", ctypes.c_int),
        ("scales", ctypes.c_size_t),
        ("scale", ctypes.POINTER(ctypes.c_float)),
        ("zero_point", ctypes.POINTER(ctypes.c_int)),
        ("scale_dim", ctypes.c_int),
    )

    @property
    def shape(self) -> Shape:
        return tuple(self.dims[: self.rank])

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(DTYPES[self.type])


_TEXT = (ctypes.c_char_p, ctypes.c_size_t)
_MODEL = ctypes.c_void_p
# For each function: the type of its result and those of its arguments after the model.
_FUNCTIONS: Mapping[str, tuple[Any, Sequence[Any]]] = {
    "close": (None, ()),
    "inputs": (ctypes.c_size_t, ()),
    "outputs": (ctypes.c_size_t, ()),
    "input": (_Tensor, (ctypes.c_size_t,)),
    "output": (_Tensor, (ctypes.c_size_t,)),
    "tensor": (_Tensor, (ctypes.c_int,)),
    "resize": (
        ctypes.c_int,
        (ctypes.c_size_t, ctypes.POINTER(ctypes.c_int), ctypes.c_int, *_TEXT),
    ),
    "allocate": (ctypes.c_int, _TEXT),
    "set_num_threads": (ctypes.c_int, (ctypes.c_int, *_TEXT)),
    "run": (ctypes.c_int, _TEXT),
    "signatures": (ctypes.c_size_t, _TEXT),
    "graph": (ctypes.c_size_t, _TEXT),
    "profile_start": (None, ()),
    "profile_read": (ctypes.c_size_t, _TEXT),
    "memory_read": (ctypes.c_size_t, _TEXT),
    "set_device_input": (
        ctypes.c_int,
        (ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, *_TEXT),
    ),
    "set_host_input": (
        ctypes.c_int,
        (ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, *_TEXT),
    ),
}


@functools.cache
def _load(path: str) -> ctypes.CDLL:
    loaded = ctypes.CDLL(path)
    strings = ctypes.POINTER(ctypes.c_char_p)
    opened = loaded.larq_engine_model_open
    opened.restype = _MODEL
    opened.argtypes = [
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_char_p,
        strings,
        strings,
        ctypes.c_size_t,
        *_TEXT,
    ]
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(loaded, f"larq_engine_model_{name}")
        function.restype, function.argtypes = result, [_MODEL, *arguments]
    return loaded


def _strings(texts: Sequence[str]) -> Any:
    return (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))


class _Keeper:
    """Keeps a model's memory as long as a view of it is in use, and tells the model of the view."""

    def __init__(self, model: "EngineModel") -> None:
        self._model = model


class EngineModel:
    """A model that the engine runs by itself; for profiles and inputs, see `library.Delegate`.

    Args:
        content: The bytes of a .tflite file.
        options: The engine's options, as those of a delegate.
        signature: The signature whose graph is run; the main graph if None.

    Raises:
        ValueError: The file or an option is not valid, or the engine does not compute one of the
            model's operators; the message names it.
    """

    def __init__(
        self, content: bytes, options: Mapping[str, object], signature: str | None = None
    ) -> None:
        self._library = _load(library.delegate_path())
        self._content = content  # it must live as long as the model
        self._views: weakref.WeakSet[_Keeper] = weakref.WeakSet()
        self._arrays: dict[int, Array] = {}  # of array_for_copies, for the present memory
        self._reason = ctypes.create_string_buffer(library.MAX_REASON_BYTES)
        self._model = self._library.larq_engine_model_open(
            content,
            len(content),
            None if signature is None else signature.encode(),
            _strings(list(options)),
            _strings([str(value) for value in options.values()]),
            len(options),
            self._reason,
            len(self._reason),
        )
        if not self._model:
            raise ValueError(self._reason.value.decode(errors="replace"))

    def __del__(self) -> None:
        if getattr(self, "_model", None):
            self._library.larq_engine_model_close(self._model)

    def _call(self, name: str, *arguments: Any) -> Any:
        return getattr(self._library, f"larq_engine_model_{name}")(self._model, *arguments)

    def _try(self, name: str, *arguments: Any) -> None:
        if self._call(name, *arguments, self._reason, len(self._reason)):
            raise ValueError(self._reason.value.decode(errors="replace"))

    def _read(self, name: str) -> Any:
        return library.read_json(functools.partial(self._call, name))

    def inputs(self) -> list[_Tensor]:
        return [self._call("input", number) for number in range(self._call("inputs"))]

    def outputs(self) -> list[_Tensor]:
        return [self._call("output", number) for number in range(self._call("outputs"))]

    def array(self, tensor: int) -> Array:
        """Returns a view of an input, an output or a constant, which a resize makes invalid."""
        keeper = _Keeper(self)
        view = self._view(tensor, keeper)
        self._views.add(keeper)
        return view

    def array_for_copies(self, tensor: int) -> Array:
        """Returns such a view that is not counted, so it must not outlive the caller.

        It is made once: that takes 5 us, as long as a copy of 150 KB.
        """
        if tensor not in self._arrays:
            self._arrays[tensor] = self._view(tensor, None)
        return self._arrays[tensor]

    def _view(self, tensor: int, keeper: _Keeper | None) -> Array:
        found = self._call("tensor", tensor)
        if not found.data:
            ends = {info.tensor for info in (*self.inputs(), *self.outputs())}
            remedy = (
                "allocate tensors first"
                if tensor in ends
                else "values between operators are not kept: make the tensor an output"
            )
            raise ValueError(
                f"tensor: expected an input, an output or a constant of the model with memory, "
                f"got #{tensor}; {remedy}"
            )
        memory = (ctypes.c_char * found.bytes).from_address(found.data)
        memory._keeper = keeper
        view = np.frombuffer(memory, found.dtype).reshape(found.shape)
        view.flags.writeable = not found.is_constant
        return view

    @property
    def has_views(self) -> bool:
        """Tells whether an array that `array` returned, or a part of it, is in use."""
        return bool(self._views)

    def resize(self, number: int, shape: Sequence[int]) -> None:
        if any(not -(2**31) <= size < 2**31 for size in shape):  # ctypes would cut them off
            raise ValueError(f"resize: expected sizes of 32 bits, got {list(shape)}")
        self._arrays.clear()
        self._try("resize", number, (ctypes.c_int * len(shape))(*shape), len(shape))

    def allocate(self) -> None:
        self._arrays.clear()
        self._try("allocate")

    def set_num_threads(self, threads: int) -> None:
        if not -(2**31) <= threads < 2**31:  # ctypes would cut it off
            raise ValueError(f"num_threads: expected a number of 32 bits, got {threads}")
        self._try("set_num_threads", threads)

    def run(self) -> None:
        self._try("run")

    def signatures(self) -> dict[str, Any]:
        found: dict[str, Any] = self._read("signatures")["signatures"]
        return found

    def graph(self) -> dict[str, Any]:
        found: dict[str, Any] = self._read("graph")
        return found

    def start_profile(self) -> None:
        self._call("profile_start")

    def read_profile(self) -> list[dict[str, Any]]:
        return library.steps_of(self._read("profile_read"))

    def read_memory(self) -> list[dict[str, Any]]:
        devices: list[dict[str, Any]] = self._read("memory_read")["devices"]
        return devices

    def read_claims(self) -> list[dict[str, Any]]:
        """Returns nothing: no host has handed over operators."""
        return []

    def set_device_input(self, tensor: int, address: int | None, size: int) -> None:
        arguments = (self._number(tensor), address, size, self._reason, len(self._reason))
        if self._call("set_device_input", *arguments) and address is not None:
            raise ValueError(self._reason.value.decode(errors="replace"))

    def set_host_input(self, tensor: int, address: int, size: int) -> bool:
        arguments = (self._number(tensor), address, size, self._reason, len(self._reason))
        return not self._call("set_host_input", *arguments)

    def _number(self, tensor: int) -> int:
        return [info.tensor for info in self.inputs()].index(tensor)
