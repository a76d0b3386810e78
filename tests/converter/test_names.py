"""Names of inner values are cut, at scopes where they have any; inputs and outputs keep theirs."""

import numpy as np
import pytest

from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.names import shorten_names


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("model/conv/Conv2D", "model/conv/Conv2D"),
        ("model/norm/Add;model/conv/Conv2D;", "model/conv/Conv2D"),
        ("a_model_with_a_long_name/a_block_with_a_long_name/conv/Conv2D", None),
        ("n" * 60, "n" * 50),
    ],
)
def test_inner_names(name, short):
    x, y, z = (Tensor(text, (1,), "FLOAT32") for text in ("x" * 70, name, "z" * 70))
    constant = Tensor("weights", (1,), "FLOAT32", data=np.zeros(1, np.float32))
    graph = Graph("main", [x], [z], [Op("NEG", [x], [y]), Op("ADD", [y, constant], [z])])
    shorten_names(graph)
    assert y.name == (short or "a_block_with_a_long_name/conv/Conv2D")
    assert constant.name == ""
    assert (x.name, z.name) == ("x" * 70, "z" * 70)
