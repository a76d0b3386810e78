"""Turns an exception of a host into a clear ValueError.

Hosts raise RuntimeError with the plug-in's message between remarks of their own, such as the number
of a delegate node, which no user knows. The remarks are removed, and the message stays word for
word.
"""

import contextlib
import re
from collections.abc import Iterator

from larq_engine.python.operators import names_of_ours

_HOST_REMARKS = re.compile(
    r"""
      Failed\ to\ load\ delegate\ from\ [^\n]*
    | See\ instructions:\ \S+
    | Node\ number\ -?\d+\ \([^)]*\)\ failed\ to\ (?:prepare|invoke)\.?
    | XNNPack\ delegate\ failed\ to\ reshape\ runtime\.?
    | Restored\ original\ execution\ plan\ after\ delegate\ application\ failure\.?
    """,
    re.VERBOSE,
)

# The words of a host for an operator, or a version of it, that it does not have.
_NO_OPERATOR = re.compile(
    r"Didn't find op for builtin opcode '(\w+)' version '(\d+)'\."
    r"(?: An older version of this builtin might be supported\."
    r" Are you using an old TFLite binary with a newer model\?)?(?:\s*Registration failed\.)?"
)

# Text that a host adds, on the same line or a new one, after the plug-in refused operators and the
# host took them back.
_UNRESOLVED = "Encountered unresolved custom op: "
_TAKEN_BACK = tuple(_UNRESOLVED + name for name in names_of_ours())


def clean_message(message: str) -> str:
    """Returns the message without the host's remarks, one line for each remaining statement."""
    message = _NO_OPERATOR.sub(
        r"this host has no \1 of version \2, which a newer host may have", message
    )
    message = _HOST_REMARKS.sub("\n", message).replace(_UNRESOLVED, "\n" + _UNRESOLVED)
    lines = (line.strip() for line in message.splitlines())
    statements = list(dict.fromkeys(line for line in lines if line))
    causes = [line for line in statements if not line.startswith(_TAKEN_BACK)]
    return "\n".join(causes or statements)


def lacks_operator(error: BaseException | None) -> bool:
    """Tells whether a host raised this because it does not have an operator of the model."""
    return bool(_NO_OPERATOR.search(str(error)))


# Hosts have no message for failed allocations, and XNNPACK has none for shapes that do not fit.
_NO_REASON = (
    "expected shapes that the model's operators take and memory that suffices for them, got no "
    "reason from the host; check the model's shapes and the batch size"
)


@contextlib.contextmanager
def host_errors(action: str) -> Iterator[None]:
    """Turns an exception of a host in this block into a ValueError; `action` names what failed."""
    try:
        yield
    except MemoryError as error:
        raise ValueError(f"{action}: {_NO_REASON}") from error
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{action}: expected names of tensors in UTF-8, got {error.object!r}; "
            "the hosts' Python interface reads no others: rename them, or run the model from C++"
        ) from error
    except (RuntimeError, ValueError) as error:
        raise ValueError(f"{action}: {clean_message(str(error)) or _NO_REASON}") from error
