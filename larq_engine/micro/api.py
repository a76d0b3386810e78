"""Exports a model as a folder of C: `export_c`."""

import operator
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from larq_engine.exporting.exported_graph import check_with_engine, made_of_operators, single_graph
from larq_engine.micro.arena import live_bytes, plan_memory
from larq_engine.micro.c_code import CCode
from larq_engine.micro.folder import MARK, folder_files
from larq_engine.micro.lowering import check_kernels, make_plan
from larq_engine.micro.plan import Plan
from larq_engine.micro.report import describe
from larq_engine.micro.stack import stack_bytes
from larq_engine.micro.strips import plan_in_strips
from larq_engine.python.model_file import ModelSource, read_model
from larq_engine.python.whole_files import write_export

_KERNELS = Path(__file__).with_name("c")
_INCLUDE = re.compile(r'^#include "(le_\w+\.h)"$', re.MULTILINE)
# A name that C, C++ and Arduino can have.
_PREFIX = re.compile(r"[a-z][a-z0-9_]{0,62}", re.IGNORECASE)

# Names that C, its headers or the written code have already.
_TAKEN = re.compile(
    "auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|"
    "inline|int|long|register|restrict|return|short|signed|sizeof|static|struct|switch|typedef|"
    "union|unsigned|void|volatile|while|main|memcpy|memset|arena|memory|input.*|output.*|le_.*|"
    "assert|complex|ctype|errno|fenv|inttypes|iso646|limits|locale|math|setjmp|signal|stdarg|"
    "stdbool|stddef|stdint|stdio|stdlib|string|tgmath|time|wchar|wctype",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ExportedC:
    """The files of a folder, and what they need of a chip.

    Attributes:
        files: Content of each file by its name.
        arena_bytes: Memory that a run works in.
        flash_bytes: Weights and other constants; the kernels' code comes on top.
        stack_bytes: The most stack that a run takes, as gcc 12 compiles it with -O1 or more.
        report: A table of the steps, as text.
    """

    files: dict[str, bytes]
    arena_bytes: int
    flash_bytes: int
    stack_bytes: int
    report: str

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes all files, or none; makes the folder if it is not there.

        Raises:
            ValueError: A file of such a name is there already that no export has written.
            OSError: It fails; the error names the file.
        """
        write_export(Path(folder), self.files, MARK)

    def __repr__(self) -> str:
        return (
            f"<ExportedC of {len(self.files)} files, {self.flash_bytes} bytes of constants, "
            f"{self.arena_bytes} of memory>"
        )


def export_c(model: ModelSource, *, prefix: str = "model", arena: int | None = None) -> ExportedC:
    """Returns a model as C99 for microcontrollers: no heap, no library, integers where it can.

    Args:
        model: The content of a .tflite file, or its path.
        prefix: Begins all names that the program sees: `model_run`, `MODEL_ARENA_BYTES`.
        arena: The most bytes of memory that a run may work in; layers are computed in strips of
            lines where that is the only way.

    Raises:
        ValueError: An operator has no kernel in C, the arena is too small, or C cannot have the
            prefix.
        FileNotFoundError: There is no such file.
    """
    _check_prefix(prefix)
    limit = _checked_limit(arena)
    content = read_model(model)
    graph = single_graph(content)
    check_kernels(graph)
    check_with_engine(content)
    whole = made_of_operators(lambda: make_plan(graph))
    plan, size = plan_memory(whole)
    if limit is not None and size > limit:
        plan, size = _in_strips(whole, limit)
    from larq_engine import __version__

    code = CCode(plan, prefix, size, content, __version__)
    flash = sum(plan.flash())
    texts = {
        f"{prefix}.h": code.header(),
        f"{prefix}.c": code.source(),
        **folder_files(plan, prefix, size, flash, __version__),
    }
    files = {name: text.encode() for name, text in texts.items()}
    files |= {name: (_KERNELS / name).read_bytes() for name in _with_includes(code.headers)}
    report = describe(plan, size, flash, sum(step.work for step in whole.steps))
    return ExportedC(files, size, flash, stack_bytes(plan), report)


def _check_prefix(prefix: str) -> None:
    if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
        raise ValueError(
            f"prefix: expected a letter, and then up to 62 letters, digits and underscores, got "
            f"{prefix!r}"
        )
    if _TAKEN.fullmatch(prefix):
        raise ValueError(
            f"prefix: expected a name that C, its headers and the kernels do not have, got "
            f"{prefix!r}; choose another, such as 'model'"
        )


def _checked_limit(arena: Any) -> int | None:
    if arena is None:
        return None
    is_number = hasattr(arena, "__index__") and not isinstance(arena, bool)
    if is_number and operator.index(arena) >= 0:
        return operator.index(arena)
    raise ValueError(f"arena: expected a number of bytes, such as 16384, got {arena!r}")


def _in_strips(plan: Plan, limit: int) -> tuple[Plan, int]:
    """Returns a plan of at most so many bytes, with layers in strips of lines.

    Raises:
        ValueError: There is none.
    """
    plan, size = plan_in_strips(plan, limit)
    if size <= limit:
        return plan, size
    live = live_bytes(plan)
    number = max(range(len(live)), key=live.__getitem__)
    step = plan.steps[number]
    raise ValueError(
        f"arena: expected at most {limit} bytes, got {size}, also with layers in strips of lines: "
        f"{step.kind} of the layer '{step.layer}' needs {live[number]} at once, for what it reads "
        "and writes and what later layers still read; take a smaller image, fewer channels there, "
        f"or a chip with more memory: {size} bytes would do"
    )


def _with_includes(headers: list[str]) -> list[str]:
    """Returns the headers and all that they include."""
    found: dict[str, None] = {}
    todo = list(headers)
    while todo:
        name = todo.pop()
        if name not in found:
            found[name] = None
            todo += _INCLUDE.findall((_KERNELS / name).read_text(encoding="utf-8"))
    return sorted(found)
