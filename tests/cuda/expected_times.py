"""What operators are expected to take on the GPU, as the reasons of `device="auto"` tell it."""

import re

import larq_engine
from larq_engine.python import library

_REASON = re.compile(r"(\S+) us here, (\S+) us on (cpu|cuda);")


def expected_us(interpreter: larq_engine.Interpreter) -> dict[str, float]:
    """Microseconds of each operator that both devices compute; of several of a kind the last's."""
    steps = library.read_profile(interpreter._session._delegate._get_native_delegate_pointer())
    found = {}
    for step in steps:
        match = _REASON.match(step.get("reason", ""))
        if match:
            found[step["op"]] = float(match[1 if match[3] == "cpu" else 2])
    return found
