"""Builds and runs exported models on emulated microcontrollers, by examples/micro/boards."""

import functools
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = _ROOT / "examples" / "micro" / "boards" / "Makefile"


@dataclass(frozen=True)
class Board:
    machine: str  # what the Makefile calls it

    @property
    def compile(self) -> list[str]:
        """Returns the compiler and its flags."""
        return shlex.split(_settings(self.machine)["compile"])

    @property
    def link(self) -> list[str]:
        """Returns the compiler and the flags that choose its libraries."""
        return shlex.split(_settings(self.machine)["libraries"])

    @property
    def emulate(self) -> list[str]:
        """Returns QEMU and its options, except the program."""
        return shlex.split(_settings(self.machine)["emulate"])


BOARDS = {
    "m0": Board("microbit"),
    "m0_large": Board("mps2-an385-m0"),
    "m3": Board("mps2-an385"),
    "m4": Board("mps2-an386"),
    "m7": Board("mps2-an500"),
    "m33": Board("mps2-an505"),
    "m55": Board("mps3-an547"),
    "rv32imac": Board("rv32imac"),
    "rv32imac_zbb": Board("rv32imac_zbb"),
    "rv32imafc": Board("rv32imafc"),
}


@dataclass(frozen=True)
class Run:
    outputs: bytes
    instructions: int  # of the last run, on Cortex-M in steps of up to 62
    stack: int  # bytes, of the run that wrote deepest


# ---- Tools ---------------------------------------------------------------------------------------


def require() -> None:
    """Skips the test where a tool is not installed or, if it must run, fails."""
    lacking = missing()
    if not lacking:
        return
    advice = f"not installed here: {', '.join(lacking)}; `tools/setup.sh micro` installs them"
    if os.environ.get("LARQ_ENGINE_REQUIRE_BOARDS"):
        pytest.fail(advice)
    pytest.skip(advice)


@functools.cache
def missing() -> list[str]:
    """Returns the programs and libraries that are not installed."""
    if shutil.which("make") is None:
        return ["make"]
    compilers = {board.compile[0]: board.compile for board in BOARDS.values()}
    programs = dict.fromkeys([*compilers, *(board.emulate[0] for board in BOARDS.values())])
    lacking = [program for program in programs if shutil.which(program) is None]
    for program, command in compilers.items():
        if program not in lacking and not _has_library(command):
            lacking.append(f"the C library of {program}")
    return lacking


def _has_library(compile_command: list[str]) -> bool:
    command = [*compile_command, "-E", "-x", "c", "-"]
    done = subprocess.run(command, input=b"#include <string.h>", capture_output=True, check=False)
    return done.returncode == 0


@functools.cache
def _settings(machine: str) -> dict[str, str]:
    lines = _make(f"BOARD={machine}", "settings").splitlines()
    return dict(line.split(": ", 1) for line in lines)


def _make(*arguments: str) -> str:
    return output_of(["make", "-s", "-f", str(MAKEFILE), *arguments])


def output_of(command: Sequence[str], folder: Path | None = None, seconds: float = 120) -> str:
    """Runs a command; if it fails, the error has all that it printed."""
    # Words for a make that runs these tests must not reach the one that they start.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        printed = (error.stdout or b"").decode(errors="replace")
        shown = f"{shlex.join(command)}\n{printed}"
        raise RuntimeError(f"expected an end within {seconds} s of: {shown}") from None
    if done.returncode:
        shown = f"{shlex.join(command)}\n{done.stdout}"
        raise RuntimeError(f"exit status {done.returncode} of: {shown}")
    return done.stdout


# ---- Programs ------------------------------------------------------------------------------------


def build(
    model_folder: Path,
    board: str,
    work_folder: Path,
    extra_flags: Sequence[str] = (),
    call: str | Path = "",
    program: Path | None = None,
) -> Path:
    """Builds the program that runs a model.

    Args:
        model_folder: What export-c wrote, with the prefix "model"; its path has no spaces.
        board: A name of BOARDS.
        work_folder: Where what is built goes.
        extra_flags: More flags for the compiler.
        call: C that calls the model, instead of `model_run` with one input and one output; `arena`
            points to the arena, `in` and `out` to the bytes of all inputs and outputs. Or a header
            that defines MODEL_CALL.
        program: A folder with the C of another program.

    Returns:
        The program's path. The model's object lies beside it (`model_object`).
    """
    work_folder.mkdir(parents=True, exist_ok=True)
    words = [f"BOARD={BOARDS[board].machine}", f"MODEL={model_folder}", f"OUT={work_folder}"]
    words.append(f"FLAGS={shlex.join(extra_flags)}")
    if isinstance(call, Path):
        words.append(f"CALL={call}")
    elif call:
        header = work_folder / "call.h"
        header.write_text(f"#define MODEL_CALL(arena, in, out) {call}\n")
        words.append(f"CALL={header}")
    if program is not None:
        words.append(f"PROGRAM={program}")
    _make("-B", *words, "elf")
    return work_folder / "model.elf"


def model_object(elf: Path) -> Path:
    return elf.with_name("model.c.o")


_PRINTED = re.compile(r"^instructions: (\d+)\nstack: (\d+)\n", re.MULTILINE)


def run(elf: Path, board: str, inputs: bytes, seconds: float = 120) -> Run:
    """Runs a program of `build` on one or more inputs, whose bytes follow each other."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        printed = printed_by(elf, board, inputs, folder, seconds)
        found = _PRINTED.search(printed)
        if found is None:
            raise RuntimeError(f"expected counts of instructions and of the stack, got: {printed}")
        return Run((folder / "output.bin").read_bytes(), int(found[1]), int(found[2]))


def printed_by(elf: Path, board: str, content: bytes, folder: Path, seconds: float = 120) -> str:
    """Returns what a program prints that reads `input.bin`, a file of this content."""
    (folder / "input.bin").write_bytes(content)
    return output_of([*BOARDS[board].emulate, "-kernel", str(elf.resolve())], folder, seconds)


# ---- What compilers made -------------------------------------------------------------------------

_PREFIXES = {40: "arm-none-eabi-", 243: "riscv64-unknown-elf-"}  # by the machine in an ELF header


def _binutils(name: str, file: Path, *options: str) -> str:
    with file.open("rb") as opened:
        header = opened.read(20)
    prefix = _PREFIXES[int.from_bytes(header[18:20], "little")]
    return output_of([prefix + name, *options, str(file)])


def size(elf: Path) -> tuple[int, int]:
    """Returns the bytes of flash and of RAM that a program takes, the stack not among them.

    The model is in them, its arena, one input and one output; all else that runs it takes 3 to 4 KB
    of flash and about 300 bytes of RAM.
    """
    text, data, bss = map(int, _binutils("size", elf).splitlines()[1].split()[:3])
    return text + data, data + bss


def instructions(compiled: Path) -> list[str]:
    """Returns the lines of objdump: labels of functions, and what is at which address."""
    return _binutils("objdump", compiled, "-d", "--no-show-raw-insn").splitlines()


def symbols(elf: Path) -> dict[str, str]:
    """Returns the addresses of functions; those for Thumb instructions have no odd bit."""
    rows = [line.split() for line in _binutils("objdump", elf, "-t").splitlines()]
    return {row[-1]: row[0].lstrip("0") for row in rows if len(row) > 4 and "F" in row[2]}


# Moves and loads without a type are left out: compilers keep integers in registers of floats, too.
_FLOAT_INSTRUCTION = re.compile(r"v\S*\.f(16|32|64)\b|(c\.)?f(?!ence)")
_SOFT_FLOAT = re.compile(
    r"__aeabi_(c?[fd](add|sub|rsub|mul|div|neg|cmp|2)|u?[il]2[fd]|[hfd]2)\w*"
    r"|__[a-z]+[hsdt]f\w*"
)
_LIBM = re.compile(
    r"(a?(sin|cos|tan)h?|atan2|exp|exp2|expm1|log|log2|log10|log1p|pow|sqrt|cbrt|hypot|floor|ceil"
    r"|trunc|l?l?round|l?l?rint|nearbyint|fabs|fmod|fma|fmin|fmax|fdim|ldexp|scalbl?n|frexp|modf"
    r"|copysign|nextafter|remainder|remquo|erfc?|[lt]gamma|i?logb)[fl]?"
)


def floats_in(compiled: Path) -> list[str]:
    """Returns the instructions of an object that compute with floats, and its calls that do.

    Each is "FUNCTION: INSTRUCTION" or "calls FUNCTION".
    """
    found, function = [], ""
    for line in instructions(compiled):
        if label := re.fullmatch(r"[0-9a-f]+ <(.+)>:", line):
            function = label[1]
        address, _, instruction = line.partition(":\t")
        if address.strip() and _FLOAT_INSTRUCTION.match(instruction):
            found.append(f"{function}: {' '.join(instruction.split())}")
    for line in _binutils("nm", compiled, "-u").splitlines():
        name = line.split()[-1]
        if _SOFT_FLOAT.fullmatch(name) or _LIBM.fullmatch(name):
            found.append(f"calls {name}")
    return found
