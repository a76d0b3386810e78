"""Exports models as C, compiles them on the PC, and runs them."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from larq_engine.converter import schema
from larq_engine.converter.graph import NUMPY_TYPES, Tensor
from larq_engine.micro.api import export_c
from larq_engine.micro.plan import bytes_of

Array = npt.NDArray[Any]

FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror")

# Faults end a program that is compiled with these.
SANITIZE = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def run(
    content: bytes,
    inputs: Sequence[Array],
    *,
    flags: Sequence[str] = (),
    arena: int | None = None,
    folder: Path,
) -> list[Array]:
    """Returns the outputs for samples, which are run one after the other.

    Args:
        content: The .tflite file.
        inputs: Arrays whose first dimension counts the samples.
        flags: More flags for the compiler.
        arena: The most bytes that a run may work in.
        folder: Where the C and the program go; it is made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    export_c(content, arena=arena).save(folder)
    graph = schema.read(content).graphs[0]
    (folder / "main.c").write_text(_main(graph.inputs, graph.outputs))
    program = folder / "program"
    sources = [str(folder / name) for name in ("main.c", "model.c")]
    _run(["gcc", *FLAGS, *flags, "-o", str(program), *sources])
    samples = zip(*inputs, strict=True)
    written = _run([str(program)], b"".join(x.tobytes() for sample in samples for x in sample))
    return _split(written, graph.outputs)


def _main(inputs: list[Tensor], outputs: list[Tensor]) -> str:
    """Returns a program that reads samples and writes results until there are no more."""
    arrays = [("in", inputs), ("out", outputs)]
    names = {role: [f"{role}{i}" for i in range(len(tensors))] for role, tensors in arrays}
    lines = ["#include <stdio.h>", '#include "model.h"', "static model_arena arena;"]
    # Each has its own size, so that a sanitizer sees what is read or written beyond it.
    for role, tensors in arrays:
        for name, tensor in zip(names[role], tensors, strict=True):
            size = bytes_of(tensor)
            lines.append(f"static unsigned char {name}[{size}] __attribute__((aligned(8)));")
    reads = " &&\n         ".join(
        f"fread({name}, {bytes_of(tensor)}, 1, stdin) == 1"
        for name, tensor in zip(names["in"], inputs, strict=True)
    )
    pointers = [f"(const void*){name}" for name in names["in"]]
    pointers += [f"(void*){name}" for name in names["out"]]
    lines += [
        "int main(void) {",
        f"  while ({reads}) {{",
        f"    model_run(&arena, {', '.join(pointers)});",
        *(
            f"    fwrite({name}, {bytes_of(tensor)}, 1, stdout);"
            for name, tensor in zip(names["out"], outputs, strict=True)
        ),
        "  }",
        "  return 0;",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _run(command: list[str], given: bytes = b"") -> bytes:
    done = subprocess.run(command, input=given, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def _split(written: bytes, tensors: list[Tensor]) -> list[Array]:
    """Returns the arrays of all samples, with samples along the first dimension."""
    found: list[list[Array]] = [[] for _ in tensors]
    at = 0
    while at < len(written):
        for arrays, tensor in zip(found, tensors, strict=True):
            shape = tensor.shape
            values = np.frombuffer(written, NUMPY_TYPES[tensor.dtype], tensor.elements, at)
            arrays.append(values.reshape(shape if shape[:1] == (1,) else (1, *shape)))
            at += bytes_of(tensor)
    return [np.concatenate(arrays) for arrays in found]
