"""Proves how deep the stack of a model gets, from what the compiler says of its frames.

gcc writes a call graph with frames of a file that it compiles (`-fcallgraph-info=su`). Functions
of libraries are not in it: their frames are read from the linked program's instructions.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.micro import boards


@dataclass
class Function:
    frame: int = 0
    calls: set[str] = field(default_factory=set)
    unbounded: str = ""  # what lowers the stack by nobody knows how much


def deepest(model_folder: Path, board: str, level: str, work_folder: Path) -> tuple[int, list[str]]:
    """Returns the most bytes that a run of a model takes, and the functions on that path.

    Args:
        model_folder: What export-c wrote, with the prefix "model".
        board: A name of `boards.BOARDS`.
        level: How the compiler optimizes, such as "-O2".
        work_folder: Where what is built goes.

    Raises:
        ValueError: There is no bound: a function calls itself or by a pointer, or the size of its
            frame is not constant.
    """
    work_folder.mkdir(parents=True, exist_ok=True)
    compiled, program = work_folder / "model.o", work_folder / "model.elf"
    compiler = [*boards.BOARDS[board].compile, level]
    graph = ["-fcallgraph-info=su", "-c", str(model_folder / "model.c")]
    boards.output_of([*compiler, *graph, "-o", str(compiled)])
    # It never runs, so that any places of its parts do.
    places = ["-nostdlib", "-Wl,-e,model_run", "-Wl,--gc-sections", "-T", "/dev/null"]
    link = [*boards.BOARDS[board].link, *places, str(compiled), "-lc", "-lgcc"]
    boards.output_of([*link, "-o", str(program)])
    return _deepest("model_run", _functions(compiled.with_suffix(".ci"), program), {}, ())


def _functions(graph: Path, program: Path) -> dict[str, Function]:
    compiled, linked = _compiled(graph), _linked(program)
    for name, function in compiled.items():
        # Instructions of all paths together lower the stack as much as the frame, or more.
        if name in linked and linked[name].frame < function.frame:
            raise ValueError(f"{name}: expected {function.frame} bytes, got {linked[name].frame}")
    return {**linked, **compiled}


def _deepest(
    name: str,
    functions: dict[str, Function],
    known: dict[str, tuple[int, list[str]]],
    above: tuple[str, ...],
) -> tuple[int, list[str]]:
    if name in above:
        raise ValueError(f"{name}: expected no recursion, got {' > '.join([*above, name])}")
    if name not in functions:
        return 0, []  # the compiler needed it and then did not: else it would be in the program
    if name not in known:
        function = functions[name]
        if function.unbounded:
            raise ValueError(
                f"{name}: expected frames and calls that are known, got {function.unbounded}"
            )
        below = [_deepest(call, functions, known, (*above, name)) for call in function.calls]
        most, path = max(below, default=(0, []))
        known[name] = function.frame + most, [f"{name} {function.frame}", *path]
    return known[name]


# ---- What the compiler says ----------------------------------------------------------------------

_NODE = re.compile(r'^node: \{ title: "(?:[^":]*:)?([^"]+)" label: "([^"]*)"', re.MULTILINE)
_EDGE = re.compile(
    r'^edge: \{ sourcename: "(?:[^":]*:)?([^"]+)" targetname: "(?:[^":]*:)?([^"]+)"', re.MULTILINE
)
_BY_POINTER = "__indirect_call"
_FRAME = re.compile(r"\\n(\d+) bytes \(([^)]+)\)")


def _compiled(graph: Path) -> dict[str, Function]:
    """Returns the functions of a file."""
    text = graph.read_text()
    functions = {}
    for name, label in _NODE.findall(text):
        if found := _FRAME.search(label):
            functions[name] = Function(int(found[1]))
            if found[2] != "static":
                functions[name].unbounded = f"a frame that is {found[2]}"
    for caller, called in _EDGE.findall(text):
        functions[caller].calls.add(called)
        if called == _BY_POINTER:
            functions[caller].unbounded = "a call by a pointer"
    return functions


# ---- What instructions say -----------------------------------------------------------------------

_LABEL = re.compile(r"^[0-9a-f]+ <(.+)>:$")
_JUMP = re.compile(r"\b[0-9a-f]+ <([^+>]+)>$")
_ENDS = re.compile(r"(bx|b|b\.n|b\.w|ret|j|jr|mret|udf|ebreak)\b|(pop|ldmia\.w)\t.*\bpc\b")
_PUSHES = re.compile(r"(?:push|stmdb|vpush)(?:\.w)?\t(?:sp!, )?\{(.+)\}")
_LOWERS = re.compile(
    r"sub(?:\.w)?\t(?:sp, )?sp, #(\d+)|add[iw]?\tsp,sp,-(\d+)|strd?(?:\.w)?\t.*\[sp, #-(\d+)\]!"
)
_RAISES = re.compile(
    r"(pop|ldmia|vpop|ldr|ldrd)(\.w)?\t|add(\.w)?\t(sp, )?sp, #\d+|add[iw]?\tsp,sp,\d+"
)
_WRITES = re.compile(r"\tsp\b|\[sp[^\]]*\]!|\[sp\], ")
_CALLS_REGISTER = re.compile(r"blx\t[a-z]|jalr\t")


def _linked(program: Path) -> dict[str, Function]:
    """Returns all functions of a program.

    Each instruction that lowers the stack pointer counts once, although not all may be on one path.
    """
    functions: dict[str, Function] = {}
    at: dict[str, str] = {}
    name, ended = "", True
    for line in boards.instructions(program):
        if label := _LABEL.match(line):
            if not ended:
                functions[name].calls.add(label[1])
            name = label[1]
            functions[name] = Function()
            at[line.split()[0].lstrip("0")] = name
            ended = False
        elif name and "\t" in line:
            instruction = line.split("\t", 1)[1].split("\t@")[0].split(" # ")[0].strip()
            if instruction.startswith((".", "nop")) or not instruction:
                continue
            _read(functions[name], name, instruction)
            ended = bool(_ENDS.match(instruction))
    for symbol, address in boards.symbols(program).items():
        if symbol not in functions and address in at:
            functions[symbol] = functions[at[address]]
    return functions


def _read(function: Function, name: str, instruction: str) -> None:
    if pushed := _PUSHES.match(instruction):
        function.frame += sum(map(_register_bytes, pushed[1].split(", ")))
    elif lowered := _LOWERS.match(instruction):
        function.frame += int(next(filter(None, lowered.groups())))
    elif _CALLS_REGISTER.match(instruction) or (
        _WRITES.search(instruction) and not _RAISES.match(instruction)
    ):
        function.unbounded = f"`{instruction}`"
    if (jump := _JUMP.search(instruction)) and jump[1] != name:
        function.calls.add(jump[1])


def _register_bytes(name: str) -> int:
    first, _, last = name.partition("-")
    count = int(last[1:]) - int(first[1:]) + 1 if last else 1
    return count * (8 if first.startswith("d") else 4)
