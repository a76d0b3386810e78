"""Keeps what torch, litert_torch and what these import say about themselves off the terminal."""

import contextlib
import logging
import os
import warnings
from collections.abc import Iterator

from larq_engine.converter.quiet import quiet_tensorflow

# What the imports set for themselves, and how litert_torch is told not to draw its progress.
_ENVIRONMENT = {"TF_CPP_MIN_LOG_LEVEL": None, "LITERT_TORCH_SHOW_PROGRESS": "n"}

# Libraries that warn of builds of them for other devices.
_LOGGERS = ("torch", "torchao")


@contextlib.contextmanager
def quiet_torch() -> Iterator[None]:
    """Drops commentary in this block. The user's own environment counts, and is as it was then."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    before = {name: os.environ.get(name) for name in _ENVIRONMENT}
    with quiet_tensorflow(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in _ENVIRONMENT.items():
            if value is not None:
                os.environ.setdefault(name, value)
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
