"""Finds the plug-in library and calls its C functions.

`make build` and `pip install .` put the library beside the package. LARQ_ENGINE_LIBRARY names
another one, which is how sanitizer builds are run.
"""

import ctypes
import functools
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from larq_engine.python.operators import known_op

_NAMES = {"darwin": "liblarq_engine.dylib", "win32": "larq_engine.dll"}
_NAME = _NAMES.get(sys.platform, "liblarq_engine.so")
_LIBRARY = Path(__file__).resolve().parent.parent / _NAME

# The engine's name for a step that moves a value from one device to another.
TRANSFER = "TRANSFER"

# A reason names one place and some numbers, which fit into this size.
MAX_REASON_BYTES = 1 << 12

# A line for each device fits into this size; a longer text is read again with its true size.
_FIRST_DEVICES_BYTES = 1 << 12

# A large network's profile is some 20 KB; a longer text is read again with its true size.
_FIRST_JSON_BYTES = 1 << 16


def delegate_path() -> str:
    """Returns the path of the plug-in, for a stock interpreter's `load_delegate`.

    Raises:
        FileNotFoundError: The library was not built, or LARQ_ENGINE_LIBRARY names no file.
    """
    override = os.environ.get("LARQ_ENGINE_LIBRARY")
    # The loader would not look in the working folder for a name without a folder.
    path = Path(override).absolute() if override else _LIBRARY
    if not path.is_file():
        remedy = _find_remedy(bool(override))
        raise FileNotFoundError(
            f"larq_engine plug-in: expected a file at {path}, got none; {remedy}"
        )
    return str(path)


def _find_remedy(override: bool) -> str:
    if override:
        return "unset LARQ_ENGINE_LIBRARY or let it name the built library"
    if (_LIBRARY.parent.parent / "pyproject.toml").is_file():
        return (
            "Python found the source tree, which may not be the package that you installed: run "
            "from another folder to use that, or build the library here with `make build`"
        )
    return "the installed package is not complete: install larq_engine again"


@functools.cache
def _load(path: str) -> ctypes.CDLL:
    library = ctypes.CDLL(path)
    library.larq_engine_check_model.argtypes = [
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_char_p,
        ctypes.c_size_t,
    ]
    library.larq_engine_check_model.restype = ctypes.c_int
    library.larq_engine_version.restype = ctypes.c_char_p
    for names in (library.larq_engine_kernels, library.larq_engine_gpu_kernels):
        names.argtypes, names.restype = [], ctypes.c_char_p
    library.larq_engine_usable_cpus.argtypes = []
    library.larq_engine_usable_cpus.restype = ctypes.c_int
    library.larq_engine_devices.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.larq_engine_devices.restype = ctypes.c_size_t
    for read in (library.larq_engine_memory_read, library.larq_engine_claims_read):
        read.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        read.restype = ctypes.c_size_t
    for set_input in (library.larq_engine_set_device_input, library.larq_engine_set_host_input):
        set_input.argtypes = [
            ctypes.c_void_p,
            ctypes.c_int,
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_char_p,
            ctypes.c_size_t,
        ]
        set_input.restype = ctypes.c_int
    library.larq_engine_profile_start.argtypes = [ctypes.c_void_p]
    library.larq_engine_profile_start.restype = None
    library.larq_engine_profile_read.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    library.larq_engine_profile_read.restype = ctypes.c_size_t
    return library


def check_model(content: bytes) -> str:
    """Returns the reason why a host may crash on a .tflite file; "" if there is none."""
    reason = ctypes.create_string_buffer(MAX_REASON_BYTES)
    check = _load(delegate_path()).larq_engine_check_model
    if not check(content, len(content), reason, len(reason)):
        return ""
    return reason.value.decode(errors="replace")


class Delegate:
    """The plug-in in a host's interpreter.

    Args:
        address: Where the host has the delegate.
    """

    def __init__(self, address: int) -> None:
        self._library = _load(delegate_path())
        self._address = address

    def start_profile(self) -> None:
        """Clears and starts the timing of every step."""
        self._library.larq_engine_profile_start(self._address)

    def read_profile(self) -> list[dict[str, Any]]:
        """Stops the timing and returns one record for each step, in the order of execution."""
        return steps_of(self._read(self._library.larq_engine_profile_read))

    def read_memory(self) -> list[dict[str, Any]]:
        """Returns a record for each GPU that computes."""
        devices: list[dict[str, Any]] = self._read(self._library.larq_engine_memory_read)["devices"]
        return devices

    def read_claims(self) -> list[dict[str, Any]]:
        """Returns the decision about each operator that the host handed over."""
        claims: list[dict[str, Any]] = self._read(self._library.larq_engine_claims_read)["claims"]
        return claims

    def set_device_input(self, tensor: int, address: int | None, size: int) -> None:
        """Lets the interpreter's runs read an input on the GPU, until `address` is None.

        Raises:
            ValueError: It cannot be read there; the message says why.
        """
        reason = ctypes.create_string_buffer(MAX_REASON_BYTES)
        set_input = self._library.larq_engine_set_device_input
        failed = set_input(self._address, tensor, address, size, reason, len(reason))
        if failed and address is not None:
            raise ValueError(reason.value.decode(errors="replace"))

    def set_host_input(self, tensor: int, address: int, size: int) -> bool:
        """Lets a GPU read an input at a host's address, until `set_device_input` undoes it.

        Returns:
            Whether a GPU can do so: if not, the host's tensor must have the data.
        """
        set_input = self._library.larq_engine_set_host_input
        return not set_input(self._address, tensor, address, size, None, 0)

    def _read(self, function: Callable[..., int]) -> dict[str, Any]:
        return read_json(functools.partial(function, self._address))


def steps_of(profile: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the records of a profile with the names of operators that this package uses."""
    return [step | {"op": known_op(step["op"]).name} for step in profile["steps"]]


def nodes_of(steps: Iterable[Mapping[str, Any]]) -> set[int]:
    """Returns the nodes that some steps computed, and those that the steps absorbed."""
    return {node for step in steps for node in (step["node"], *step["absorbed"])}


def version() -> str:
    """Returns the plug-in's version."""
    text: bytes = _load(delegate_path()).larq_engine_version()
    return text.decode()


def kernels() -> tuple[str, ...]:
    """Returns the names of the kernel rows that this CPU runs."""
    text: bytes = _load(delegate_path()).larq_engine_kernels()
    return tuple(text.decode().split(","))


def gpu_kernels() -> tuple[str, ...]:
    """Returns the names of the kernel rows for GPUs, whether this machine has one or not."""
    text: bytes = _load(delegate_path()).larq_engine_gpu_kernels()
    return tuple(text.decode().split(","))


def usable_cpus() -> int:
    """Returns how many CPUs this process may use: by its affinity and the quota of its groups."""
    count: int = _load(delegate_path()).larq_engine_usable_cpus()
    return count


def devices() -> str:
    """Returns a line for each device that the plug-in finds, and for what is missing."""
    find = _load(delegate_path()).larq_engine_devices
    return _read_all(find, _FIRST_DEVICES_BYTES).decode(errors="replace")


def read_json(write: Callable[[Any, int], int]) -> dict[str, Any]:
    """Returns the JSON of a function like snprintf."""
    found: dict[str, Any] = json.loads(_read_all(write, _FIRST_JSON_BYTES))
    return found


def _read_all(write: Callable[[Any, int], int], size: int) -> bytes:
    """Returns the text of a function like snprintf; `size` is the size of the first buffer."""
    while True:
        text = ctypes.create_string_buffer(size)
        needed = write(text, size)
        if needed < size:
            return text.value
        size = needed + 1
