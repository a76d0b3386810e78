"""Constants that a condition hands to its branches can be seen in them."""

import numpy as np
import pytest

from larq_engine.converter import schema
from tests.converter.graphs import Net, Value, convert, edges, run_engine, run_stock, signs

_SHAPE = (1, 5, 5, 8)


def _condition(rng: np.random.Generator, *, given_out: bool = False) -> bytes:
    """Builds two branches with a kernel each and a shared one, all from the main graph."""
    net = Net()
    x = net.input(*_SHAPE)
    mean = net.op("MEAN", x, np.array([0, 1, 2, 3]), shape=())
    condition = net.op("GREATER", mean, 0.0, dtype=np.bool_)
    kernels = [signs(rng, 4, 3, 3, 8) for _ in range(3)]
    shape = (1, 3, 3, 4)
    for own in (0, 1):
        branch = Net()
        branch.builder = net.builder.subgraph()
        u, *given = [branch.input(*s) for s in (_SHAPE, *(k.shape for k in kernels))]
        s = branch.sign(u)
        y = branch.op("SUB", branch.conv(s, given[own]), branch.conv(s, given[2]))
        branch.builder.interface(
            [value.number for value in (u, *given)],
            [y.number, given[0].number] if given_out else [y.number],
        )
    options = {"thenSubgraphIndex": 1, "elseSubgraphIndex": 2}
    outputs = [Value(net.builder.tensor(s), s) for s in ((shape, kernels[0].shape))]
    outputs = outputs[: 1 + given_out]
    inputs = [condition, x, *map(net.constant, kernels)]
    net.builder.builtin("IF", [v.number for v in inputs], [v.number for v in outputs], **options)
    return net.finish(*outputs)


def test_kernels_handed_to_branches_are_binary(rng):
    content = _condition(rng)
    converted = convert(content).content
    main, *branches = schema.read(converted).graphs
    assert [len(op.inputs) for op in main.ops if op.kind == "IF"] == [2]
    for branch in branches:
        assert [op.kind for op in branch.ops].count("LceBconv2d") == 2
    assert len(converted) < len(content) / 2
    for offset in (-5, 5):
        x = [edges(rng, *_SHAPE) + np.float32(offset)]
        np.testing.assert_array_equal(run_engine(converted, x), run_stock(content, x))


def test_what_a_branch_gives_out_again_stays_its_input(rng):
    content = _condition(rng, given_out=True)
    main, *branches = schema.read(convert(content).content).graphs
    assert [len(op.inputs) for op in main.ops if op.kind == "IF"] == [3]
    assert [len(branch.inputs) for branch in branches] == [2, 2]


@pytest.mark.parametrize("caller", ["signature", "operator"])
def test_branches_that_others_run_keep_their_inputs(rng, caller):
    model = schema.read(_condition(rng))
    (op,) = [op for op in model.graphs[0].ops if op.kind == "IF"]
    if caller == "signature":
        model.extra.signatures.append(("own", 1, [], []))
    else:
        op.options.elseSubgraphIndex = 1
    converted = schema.read(convert(schema.write(model)).content)
    assert len(converted.graphs[1].inputs) == 4
