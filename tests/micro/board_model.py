"""Exports a model as C and runs it on an emulated board."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from larq_engine.converter import schema
from larq_engine.converter.graph import NUMPY_TYPES, Tensor
from larq_engine.micro.api import export_c
from larq_engine.micro.plan import bytes_of
from tests.micro import boards

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Outcome:
    outputs: list[Array]
    program: Path
    run: boards.Run


def run_on(
    board: str, content: bytes, inputs: Sequence[Array], folder: Path, flags: Sequence[str] = ()
) -> Outcome:
    """Runs samples, which are along the first dimension of the inputs, one after the other."""
    graph = schema.read(content).graphs[0]
    source = folder / "model"
    folder.mkdir(parents=True, exist_ok=True)
    export_c(content).save(source)
    given, taken = _places(graph.inputs), _places(graph.outputs)
    pointers = [f"(const void*)((in) + {at})" for at in given[:-1]]
    pointers += [f"(void*)((out) + {at})" for at in taken[:-1]]
    sizes = []
    for role, tensors, places in (("IN", graph.inputs, given), ("OUT", graph.outputs, taken)):
        if len(tensors) > 1:
            sizes.append(f"-DMODEL_{role}PUT_BYTES={places[-1]}")
    call = f"model_run((arena), {', '.join(pointers)})"
    program = boards.build(source, board, folder / "built", [*flags, *sizes], call)
    samples = zip(*inputs, strict=True)
    content_in = b"".join(x.tobytes() for sample in samples for x in sample)
    done = boards.run(program, board, content_in)
    return Outcome(_split(done.outputs, graph.outputs, taken), program, done)


def _places(tensors: list[Tensor]) -> list[int]:
    """Returns where each tensor begins, and where the last one ends."""
    places = [0]
    for tensor in tensors:
        size = bytes_of(tensor)
        places.append(places[-1] + (size if len(tensors) == 1 else -(-size // 8) * 8))
    return places


def _split(written: bytes, tensors: list[Tensor], places: list[int]) -> list[Array]:
    rows = np.frombuffer(written, np.uint8).reshape(-1, places[-1])
    found = []
    for tensor, at in zip(tensors, places, strict=False):
        values = np.ascontiguousarray(rows[:, at : at + bytes_of(tensor)])
        shape = tensor.shape if tensor.shape[:1] == (1,) else (1, *tensor.shape)
        found.append(values.view(NUMPY_TYPES[tensor.dtype]).reshape(len(rows), *shape[1:]))
    return found
