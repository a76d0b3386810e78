"""Makes the plug-in an accelerator of LiteRT, as CompiledModel takes no delegates.

LiteRT looks in the folder of its runtime for accelerators by the names of their files.
"""

import atexit
import importlib
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from larq_engine.python.library import delegate_path

# The first name that LiteRT looks for. LiteRT takes its file for whatever GPU accelerator is asked
# for.
_FILE_NAME = "libLiteRtGpuAccelerator.so"


def environment() -> Any:
    """Returns LiteRT's environment in which CompiledModel computes with this engine.

    Hand it to `CompiledModel.from_file` or `from_buffer` as `environment`, with the accelerators
    GPU and CPU: LiteRT takes the engine for the GPU's accelerator. The engine computes on a GPU if
    there is one and it is faster, else on the CPU. The environment variable LARQ_ENGINE_DEVICE can
    name a device instead.

    Raises:
        ImportError: LiteRT is not installed, or is older than 2.2.
        FileNotFoundError: The plug-in was not built.
    """
    try:
        module = importlib.import_module("ai_edge_litert.environment")
    except ImportError as error:
        raise ImportError(
            f"environment: expected LiteRT 2.2 or newer, got none ({error}); install it with "
            "`pip install -U ai-edge-litert`"
        ) from error
    return module.Environment.create(runtime_path=str(_own_folder()))


def link_accelerator(folder: str | os.PathLike[str]) -> Path:
    """Puts a link to the plug-in into a folder, by the name that LiteRT looks for.

    Raises:
        FileNotFoundError: There is no such folder, or the plug-in was not built.
        ValueError: The folder has another accelerator of this name.
    """
    link, plug_in = Path(folder) / _FILE_NAME, Path(delegate_path()).resolve()
    if not link.parent.is_dir():
        raise FileNotFoundError(f"'{folder}': expected an existing folder, got none; make it first")
    if link.is_symlink() and Path(os.readlink(link)).name == plug_in.name:
        link.unlink()
    elif link.is_symlink() or link.exists():
        raise ValueError(
            f"'{link}': expected a link to {plug_in.name}, or nothing, got another accelerator; "
            "remove it, or name another folder"
        )
    link.symlink_to(plug_in)
    return link


@cache
def _own_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="larq_engine_"))
    atexit.register(_remove, folder, os.getpid())
    link_accelerator(folder)
    return folder


def _remove(folder: Path, process: int) -> None:
    # The process that made the folder removes it, and no forked process does.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
