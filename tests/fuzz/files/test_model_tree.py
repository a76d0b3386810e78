"""The tree writes what it read, and a change of a copy leaves the original alone."""

from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from tests.fuzz.files import model_tree
from tests.fuzz.files.seeds import make_seeds

_SEEDS = make_seeds()


def _plain(thing: Any) -> Any:
    """Returns an object of the schema as dictionaries and lists."""
    if isinstance(thing, np.ndarray):
        return thing.tolist()
    if isinstance(thing, (list, tuple)):
        return [_plain(item) for item in thing]
    if hasattr(thing, "__dict__"):
        return {key: _plain(value) for key, value in vars(thing).items()}
    return thing


def _read(content: bytes) -> Any:
    return _plain(schema.ModelT.InitFromPackedBuf(content, 0))


@pytest.mark.parametrize("name", _SEEDS)
def test_what_is_written_is_what_was_read(name):
    written = model_tree.read(_SEEDS[name]).write()
    assert _read(written) == _read(_SEEDS[name])
    assert model_tree.read(written).write() == written


def test_a_copy_can_be_changed_anywhere():
    tree = model_tree.read(_SEEDS["loop"])
    before = tree.write()
    copy = tree.copy()
    tensor = copy.edit("subgraphs", 2).edit("tensors", 1)
    tensor.shape = (1, 2, 3)
    tensor.name = b"sixteen letters."
    changed = _read(copy.write())["subgraphs"][2]["tensors"][1]
    assert (changed["shape"], changed["name"]) == ([1, 2, 3], b"sixteen letters.")
    assert tree.write() == before


def test_data_behind_the_flatbuffer():
    tree = model_tree.read(_SEEDS["convolutions"])
    number = next(n for n, buffer in enumerate(tree.buffers) if buffer.data)
    data = tree.buffers[number].data
    tree.moved_out = number, data, 3
    written = tree.write()
    buffer = _read(written)["buffers"][number]
    assert written[buffer["offset"] :] == data
    assert buffer["size"] == len(data)
