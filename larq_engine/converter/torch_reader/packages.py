"""Imports packages that PyTorch modules need, or says how to install them."""

from typing import Any

from larq_engine.converter.doors import TORCH


def import_torch() -> Any:
    """Returns PyTorch, or raises an ImportError that says how to install it."""
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(
            f"torch: PyTorch modules need it, and it is not installed; {TORCH.install}"
        ) from error
    return torch


def import_litert_torch() -> Any:
    """Returns litert_torch without its progress display, or says how to install it."""
    try:
        import litert_torch
    except ModuleNotFoundError as error:
        if error.name != "litert_torch":
            raise
        raise ImportError(
            "litert_torch: it makes .tflite files of PyTorch modules, and it is not installed; "
            f"{TORCH.install}"
        ) from error
    return litert_torch
