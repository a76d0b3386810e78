"""Exports models, runs them on emulated boards, and tells what they take."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import larq_engine
from larq_engine.converter import schema
from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.macs import count_macs
from tests.micro import boards

# The board of each core; these networks do not fit into a microbit.
CORES: Mapping[str, str] = {
    "m0": "m0_large",
    **{core: core for core in ("m3", "m4", "m7", "m33", "m55", "rv32imac", "rv32imac_zbb")},
}

# The longest networks take a minute on a busy machine.
_SECONDS = 600


def count(content: bytes, core: str) -> dict[str, int]:
    """Returns what one run of a model takes, in instructions and bytes.

    `flash` is the whole program, with 3 to 4 KB that are not the model's; `constants` are weights
    and all other constants of the model.
    """
    exported = larq_engine.export_c(content)
    [given] = schema.read(content).graphs[0].inputs
    inputs = np.random.default_rng(1).integers(0, 256, _bytes(given)).astype(np.uint8)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        exported.save(folder / "model")
        elf = boards.build(folder / "model", CORES[core], folder / "built")
        flash, _ = boards.size(elf)
        run = boards.run(elf, CORES[core], inputs.tobytes(), _SECONDS)
    return {
        "instructions": run.instructions,
        "constants": exported.flash_bytes,
        "flash": flash,
        "arena": exported.arena_bytes,
        "stack": run.stack,
    }


def layers(content: bytes) -> list[tuple[Op, bytes]]:
    """Returns the operators of a network that have products, each with a model of it alone."""
    model = schema.read(content)
    found = []
    for op in model.graphs[0].ops:
        if count_macs(op):
            part = schema.part(model, _given(op), [op], op.outputs)
            found.append((op, schema.write(part)))
    return found


def neighbours(content: bytes) -> int:
    """Returns the bytes of what an operator reads and writes, of the one with most of them.

    The network's inputs and outputs are not counted, as they are not in its arena.
    """
    graph = schema.read(content).graphs[0]
    return max(sum(map(_bytes, _beside(graph, op))) for op in graph.ops)


# Operators that can write a value where they read it.
_IN_PLACE = ("ADD", "MUL", "SUB")


def _beside(graph: Graph, op: Op) -> list[Tensor]:
    """Returns the tensors that must be in memory together for an operator."""
    tensors = _given(op) if op.kind in _IN_PLACE else [*_given(op), *op.outputs]
    return [tensor for tensor in tensors if graph.is_internal(tensor)]


def _given(op: Op) -> list[Tensor]:
    """Returns the inputs that are no constants, each once."""
    tensors = dict.fromkeys(tensor for tensor in op.inputs if tensor is not None)
    return [tensor for tensor in tensors if not tensor.is_constant]


def _bytes(tensor: Tensor) -> int:
    return tensor.elements * (1 if tensor.dtype in ("INT8", "UINT8", "BOOL") else 4)


def tools() -> dict[str, str]:
    """Returns the versions of compilers and emulators."""
    commands = {boards.BOARDS[board].compile[0] for board in CORES.values()}
    commands |= {boards.BOARDS[board].emulate[0] for board in CORES.values()}
    return {command: _version(command) for command in sorted(commands)}


def _version(command: str) -> str:
    done = subprocess.run([command, "--version"], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[0]
