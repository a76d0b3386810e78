"""Chooses and imports hosts: packages with TensorFlow Lite's Python interpreter.

The modules below have the same `Interpreter` and `load_delegate`, so a host is its module. None is
imported before it is needed: importing TensorFlow takes seconds.
"""

import importlib
import importlib.util
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, Protocol

from larq_engine.python import library
from larq_engine.python.errors import host_errors
from larq_engine.python.tensors import Array

# Modules of the hosts' interpreters, in the order of preference.
HOSTS: Mapping[str, str] = {
    "litert": "ai_edge_litert.interpreter",
    "tensorflow": "tensorflow.lite.python.interpreter",
    "tflite_runtime": "tflite_runtime.interpreter",
}
NO_HOST = "none"  # the engine computes all operators by itself
AUTO = "auto"  # no host if the engine computes all operators, else the first installed one
_NO_HOST_MODULE = "larq_engine.python.no_host"


class HostNodes(Protocol):
    """The interpreter behind all hosts' `_get_ops_details`.

    `_get_ops_details` also describes each tensor of each node, which takes 1.9 of the 6 ms in which
    QuickNet opens.
    """

    def NumNodes(self) -> int: ...  # noqa: N802
    def NodeName(self, index: int) -> str: ...  # noqa: N802
    def NodeInputs(self, index: int) -> Sequence[int]: ...  # noqa: N802
    def NodeOutputs(self, index: int) -> Sequence[int]: ...  # noqa: N802


class HostSignatureRunner(Protocol):
    """Methods of the function that runs a signature in a host."""

    def __call__(self, **arrays: Array) -> dict[str, Array]: ...
    def get_input_details(self) -> dict[str, dict[str, Any]]: ...
    def get_output_details(self) -> dict[str, dict[str, Any]]: ...


class HostInterpreter(Protocol):
    """Methods of a host's interpreter that this package and users of `larq_engine.tflite` call."""

    def allocate_tensors(self) -> None: ...
    def get_input_details(self) -> list[dict[str, Any]]: ...
    def get_output_details(self) -> list[dict[str, Any]]: ...
    def get_tensor_details(self) -> list[dict[str, Any]]: ...
    def resize_tensor_input(
        self, input_index: int, tensor_size: Sequence[int], strict: bool = False
    ) -> None: ...
    def tensor(self, tensor_index: int) -> Callable[[], Array]: ...
    def set_tensor(self, tensor_index: int, value: Array) -> None: ...
    def get_tensor(self, tensor_index: int) -> Array: ...
    def reset_all_variables(self) -> None: ...
    def invoke(self) -> None: ...
    def get_signature_list(self) -> dict[str, dict[str, list[str]]]: ...
    def get_signature_runner(self, signature_key: str | None = None) -> HostSignatureRunner: ...
    def _get_full_signature_list(self) -> dict[str, dict[str, dict[str, int]]]: ...

    _interpreter: HostNodes


def package_of(name: str) -> str:
    """Returns the Python package of a host."""
    return HOSTS[name].partition(".")[0]


def candidates(host: str | None) -> list[str]:
    """Returns the hosts in which to try to open a model, in this order; "none" is one of them.

    Args:
        host: What the user asks for: a host's name, "auto" or None.

    Raises:
        ValueError: There is no host of this name.
    """
    if host is not None and host != AUTO:
        _check_name(host, [AUTO, NO_HOST, *HOSTS])
        return [host]
    installed = list(itertools.islice(filter(_is_installed, HOSTS), 1))  # looks no further
    return [NO_HOST, *installed] if host == AUTO else installed or [NO_HOST]


def import_host(name: str | None) -> ModuleType:
    """Imports the host of this name, or the first installed one; "none" is the engine.

    A host that is installed but broken raises its own ImportError: trying the next host would hide
    the fault.

    Raises:
        ValueError: There is no host of this name.
        ImportError: The host, or any at all, is not installed.
    """
    if name == NO_HOST:
        return importlib.import_module(_NO_HOST_MODULE)
    if name is not None:
        _check_name(name, HOSTS)
    wanted = list(HOSTS) if name is None else [name]
    for candidate in filter(_is_installed, wanted):
        return importlib.import_module(HOSTS[candidate])
    raise ImportError(
        f"larq_engine needs a host, expected {' or '.join(wanted)}, got none; "
        f"{how_to_install(wanted[0])}"
    )


def how_to_install(name: str = next(iter(HOSTS))) -> str:
    """Returns the end of an error that says how to install a host."""
    return f"install one with `pip install {package_of(name).replace('_', '-')}`"


def _is_installed(name: str) -> bool:
    return importlib.util.find_spec(package_of(name)) is not None


def _check_name(name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise ValueError(f"host: expected one of {', '.join(known)}, got {name!r}")


def load_delegate(host: str | None = None, **options: object) -> Any:
    """Returns the plug-in as a delegate, for `experimental_delegates` of a host's own interpreter.

    Args:
        host: "litert", "tensorflow" or "tflite_runtime"; the first installed if None.
        **options: The plug-in's options, such as `num_threads=4`.

    Raises:
        ValueError: There is no host of this name, or an option or its value is unknown; the message
            names the valid ones.
        ImportError: The host is not installed.
        FileNotFoundError: The plug-in was not built.
    """
    if host in (AUTO, NO_HOST):
        raise ValueError(
            f"host: expected one of {', '.join(HOSTS)}, got {host!r}, but a delegate is for a "
            f"host's own interpreter; use larq_engine.Interpreter(..., host={host!r})"
        )
    return load_in(import_host(host), options)


def load_in(module: ModuleType, options: Mapping[str, object]) -> Any:
    """Returns the plug-in as a delegate for this host's Interpreter."""
    path = library.delegate_path()
    with host_errors("larq_engine plug-in"):
        return module.load_delegate(path, options)
