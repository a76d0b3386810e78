"""Keeps TensorFlow's log messages off the terminal.

Its C++ part writes to file descriptor 2 directly, and reads its log level when it is imported. So
later only the descriptor can be redirected.
"""

import contextlib
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator

from larq_engine.python.turns import Turns

# Lines that are dropped, in this order: information (I0521...) and warnings (W0521...) of the C++
# logger; the same as TensorFlow 2.15 to 2.20 writes them (2026-05-21 10:11:12.123456: I); the
# logger's remark on itself; the second line of the remark that names the CPU's instructions; what
# the quantizer prints; the error (E0521...) that TensorFlow for GPUs reports if there is no GPU;
# and what hosts say of every model that they open.
_COMMENTARY = re.compile(
    rb"[IW]\d{4} \d\d|\d{4}-\d\d-\d\d [\d:.]+: [IW] |WARNING: All log messages before absl"
    rb"|To enable the following instructions|fully_quantize: |E.*failed call to cuInit"
    rb"|INFO: Created TensorFlow Lite XNNPACK delegate"
)

# Two threads that redirect the descriptor at the same time could restore it in the wrong order.
_ONE_AT_A_TIME = Turns("TensorFlow")


@contextlib.contextmanager
def quiet_tensorflow() -> Iterator[None]:
    """Drops TensorFlow's log messages in this block; other lines are written when the block ends.

    If the block raises, they are lost, as the exception has the message. If TF_CPP_MIN_LOG_LEVEL is
    set, nothing is redirected, as it is the user's choice of what to see.
    """
    if "TF_CPP_MIN_LOG_LEVEL" in os.environ:
        yield
        return
    with _ONE_AT_A_TIME.take(), tempfile.TemporaryFile() as log, warnings.catch_warnings():
        # The converter warns so for every quantization-aware model, which needs no such statistics.
        warnings.filterwarnings("ignore", message="Statistics for quantized inputs were expected")
        _flush()
        terminal = os.dup(2)
        try:
            os.dup2(log.fileno(), 2)
            yield
            _flush()
        finally:
            os.dup2(terminal, 2)
            os.close(terminal)
        log.seek(0)
        kept = b"".join(line for line in log if not _COMMENTARY.match(line))
        os.write(2, kept)


def _flush() -> None:
    if sys.stderr is not None:
        sys.stderr.flush()
