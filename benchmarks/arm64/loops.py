"""Predicts cycles of the products' inner loops by llvm-mca's models of cores."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Collection
from pathlib import Path

OBJDUMP = "aarch64-linux-gnu-objdump"
# For each core, how many instructions on vectors of 128 bits it can start in a cycle. 128
# multiply-adds take three: one combines, one counts, one adds. LLVM 14 knows the first four cores,
# LLVM 19 all of them.
CORES = {
    "cortex-a55": 1,
    "cortex-a510": 2,
    "cortex-a57": 2,
    "cortex-a72": 2,
    "neoverse-n1": 2,
    "neoverse-n2": 2,
    "neoverse-v1": 4,
    "neoverse-v2": 4,
}
ITERATIONS = 100
_TARGET = ("-mtriple=aarch64", "-mattr=+dotprod")
_BACKWARD = re.compile(r"b\.\w+\s+([0-9a-f]+).*")


def inner_loop(program: Path, function: str) -> list[str]:
    """Returns the instructions of a function's first loop, its innermost one."""
    loops = _loops(_disassemble(program, "--disassemble=" + function))
    if not loops:
        raise ValueError(f"{program}: expected a loop in {function}, found none")
    return loops[0]


def loop_of_most(archive: Path, mnemonics: Collection[str]) -> list[str]:
    """Returns the loop without jumps that has the most instructions of these names."""
    functions = _disassemble(archive, "--disassemble").split("\n\n")
    loops = [loop for function in functions for loop in _loops(function)]
    simple = [loop for loop in loops if not any(_BACKWARD.match(line) for line in loop[:-1])]
    return max(simple, key=lambda loop: sum(line.split()[0] in mnemonics for line in loop))


def _disassemble(file: Path, what: str) -> str:
    command = [OBJDUMP, what, "--no-show-raw-insn", str(file)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _loops(function: str) -> list[list[str]]:
    """Returns the instructions of each loop, in the order in which loops end."""
    lines = [
        (int(address, 16), instruction.split("//")[0].strip())
        for address, instruction in re.findall(r"^ *([0-9a-f]+):\t(.*)$", function, re.MULTILINE)
    ]
    loops = []
    for end, instruction in lines:
        jump = _BACKWARD.match(instruction)
        if jump and int(jump.group(1), 16) < end:
            begin = int(jump.group(1), 16)
            loops.append([text for address, text in lines if begin <= address <= end])
    return loops


def newest_llvm_mca() -> str:
    """Returns the newest llvm-mca on the PATH: newer ones model more cores."""
    for version in range(30, 13, -1):
        if shutil.which(f"llvm-mca-{version}"):
            return f"llvm-mca-{version}"
    return "llvm-mca"


def models(llvm_mca: str) -> set[str]:
    """Returns the cores that this llvm-mca knows."""
    answer = subprocess.run(
        [llvm_mca, "-mtriple=aarch64", "--mcpu=help"], input="", capture_output=True, text=True
    )
    return set(re.findall(r"^ +(\S+) +- ", answer.stdout + answer.stderr, re.MULTILINE))


def cycles(llvm_mca: str, core: str, loop: list[str]) -> float:
    """Returns the expected cycles of an iteration, if the CPU predicts the jump rightly."""
    answer = subprocess.run(
        [llvm_mca, *_TARGET, f"--mcpu={core}", f"-iterations={ITERATIONS}"],
        input="\n".join(_BACKWARD.sub("nop", instruction) for instruction in loop),
        check=True,
        capture_output=True,
        text=True,
    )
    total = re.search(r"Total Cycles: +(\d+)", answer.stdout)
    assert total, answer.stdout
    return int(total.group(1)) / ITERATIONS
