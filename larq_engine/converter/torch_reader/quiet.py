"""Keeps messages of torch, litert_torch and the packages that they import off the terminal."""

import contextlib
import logging
import os
import warnings
from collections.abc import Iterator

from larq_engine.converter.quiet import quiet_tensorflow

# Variables that the imports set, and the one that stops litert_torch from drawing progress.
_ENVIRONMENT = {"TF_CPP_MIN_LOG_LEVEL": None, "LITERT_TORCH_SHOW_PROGRESS": "n"}

# Libraries that warn that they are not built for other devices.
_LOGGERS = ("torch", "torchao")


@contextlib.contextmanager
def quiet_torch() -> Iterator[None]:
    """Drops log messages in this block; the user's environment is respected and restored."""
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
