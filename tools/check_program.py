"""Fails if a released program needs more than glibc 2.28: check_program.py MACHINE PROGRAM."""

import sys
from pathlib import Path

from elf import read_elf
from glibc import OLDEST, glibc_problems

MACHINES = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64", "armv7l": "ARM"}


def program_problems(machine: str, program: Path) -> list[str]:
    try:
        elf = read_elf(program)
    except ValueError as error:
        return [str(error)]
    found = glibc_problems(elf, OLDEST)
    if elf.machine != MACHINES[machine]:
        found.append(f"is for another machine than {machine}")
    if not elf.is_stripped:
        found.append("is not stripped")
    return found


if __name__ == "__main__":
    problems = program_problems(sys.argv[1], Path(sys.argv[2]))
    for problem in problems:
        print(f"error: {sys.argv[2]}: {problem}", file=sys.stderr)
    sys.exit(bool(problems))
