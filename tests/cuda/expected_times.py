"""Times that operators are expected to take on the GPU, from the reasons of `device="auto"`."""

import re

import larq_engine

_REASON = re.compile(r"(\S+) us here, (\S+) us on (cpu|cuda);")


def expected_us(interpreter: larq_engine.Interpreter) -> dict[str, float]:
    """Returns microseconds of operators that both devices compute; of a kind, those of the last."""
    steps = interpreter._session._model.engine.read_profile()
    found = {}
    for step in steps:
        match = _REASON.match(step.get("reason", ""))
        if match:
            found[step["op"]] = float(match[1 if match[3] == "cpu" else 2])
    return found
