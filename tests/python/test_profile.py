"""The profile says which operators ran where, and its numbers add up; no test asserts a time."""

import json
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from larq_engine.python.profile import make_table
from tests.hosts import HOSTS
from tests.kernel_rows import TAKES_FLOAT_CONVOLUTIONS
from tests.model_builder import ModelBuilder
from tests.python.test_placement import branch_model

_MODEL = Path(__file__).parents[1] / "interop" / "data" / "residual_relu_bn_add.float.tflite"


@pytest.mark.parametrize("host", HOSTS)
def test_rows_are_the_steps_and_the_host(host):
    table = larq_engine.Interpreter(_MODEL, host=host).profile(runs=7)
    # Convolutions compute the sums.
    ours = [*["CONV_2D"] * TAKES_FLOAT_CONVOLUTIONS, *["LceQuantize", "LceBconv2d"] * 3]
    assert [row.op for row in table] == [*ours, "host runtime"]
    assert table.runs == 7
    assert all(row.calls == 7 for row in table)
    assert all(row.name for row in table)
    for row in table:
        is_convolution = row.op == "LceBconv2d"
        assert row.kernel.startswith("bgemm_") == is_convolution
        assert row.kernel.startswith("floats_") == (row.op == "CONV_2D")
        assert (row.gmac_per_s is not None) == (is_convolution or row.op == "CONV_2D")
    host = table.rows[-1]
    hosts = [*["1 CONV_2D"] * (not TAKES_FLOAT_CONVOLUTIONS), "1 FULLY_CONNECTED", "1 MEAN"]
    assert sorted(host.name.split(", ")) == hosts
    assert sum(row.percent for row in table) == pytest.approx(100)
    assert sum(row.ms_per_call for row in table) == pytest.approx(table.ms_per_run)
    assert all(row.ms_per_call > 0 for row in table)
    assert [len(row.absorbed) for row in table if row.op == "LceBconv2d"] == [1, 1, 1]


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_not_fused_is_the_hosts(host):
    table = larq_engine.Interpreter(_MODEL, fuse=False, host=host).profile(runs=2)
    assert [row.op for row in table] == [*["LceQuantize", "LceBconv2d"] * 3, "host runtime"]
    assert "3 ADD" in table.rows[-1].name.split(", ")


def test_a_forced_kernel_shows():
    table = larq_engine.Interpreter(_MODEL, kernel="reference").profile(runs=1)
    assert {row.kernel for row in table if row.op == "LceBconv2d"} == {"reference"}


def test_the_environment_forces_a_kernel(monkeypatch):
    monkeypatch.setenv("LARQ_ENGINE_KERNEL", "reference")
    table = larq_engine.Interpreter(_MODEL).profile(runs=1)
    assert {row.kernel for row in table if row.op == "LceBconv2d"} == {"reference"}


@pytest.mark.parametrize("taken", [True, False])
def test_branches(taken):
    """Steps of other subgraphs have node numbers of their own, and may never run."""
    interpreter = larq_engine.Interpreter(branch_model(with_a_sum=True))
    x = np.random.default_rng(3).standard_normal((1, 4, 4, 32)).astype(np.float32)
    table = interpreter.profile([np.array([taken]), x], runs=4)
    inner = 4 if taken else 0
    assert {(row.op, row.name): row.calls for row in table} == {
        ("LceQuantize", "inner"): inner,
        ("LceDequantize", "signs"): inner,
        ("LceQuantize", "main"): 4,
        ("host runtime", "1 IF, 1 ADD"): 4,
    }
    assert all((row.ms_per_call > 0) == (row.calls > 0) for row in table)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("names", ["unlike", "absent", "alike"])
def test_operators_of_branches_are_not_taken_for_those_of_the_main_graph(host, names):
    """Node 2 is an ADD in both graphs: the plug-in runs the branch's, the host that of integers."""
    builder = ModelBuilder()
    shape, packed = (1, 4, 4, 32), (1, 4, 4, 1)
    c, x, y = builder.tensor((1,), np.bool_), builder.tensor(shape), builder.tensor(shape)
    bits, sum_ = builder.tensor(packed, np.int32, name="bits"), builder.tensor(packed, np.int32)
    one = builder.constant(np.ones(1, np.int32))
    builder.builtin("IF", [c, x], [y], thenSubgraphIndex=1, elseSubgraphIndex=1)
    builder.custom("LceQuantize", [y], [bits])
    builder.builtin("ADD", [bits, one], [sum_])
    if names == "absent":  # names of constants tell nothing
        builder.graph.tensors[one].name = None
    if names == "alike":
        builder.graph.tensors[sum_].name = b"doubled"
    branch = builder.subgraph()
    branch.interface([branch.tensor(shape)], [branch.tensor(shape, name="doubled")])
    inner, signs = branch.tensor(packed, np.int32), branch.tensor(shape)
    branch.custom("LceQuantize", [0], [inner])
    branch.custom("LceDequantize", [inner], [signs])
    branch.builtin("ADD", [signs, signs], [1])
    table = larq_engine.Interpreter(builder.finish([c, x], [sum_]), host=host).profile(runs=2)
    assert [row.op for row in table].count("ADD") == 1, "that of the branch"
    assert table.rows[-1].name == "1 IF, 1 ADD"


def test_a_convolution_that_never_ran():
    step = _STEPS[1] | {"calls": 0, "total_ns": 0}
    row = make_table([step], 1_000_000, 2, ["IF"]).rows[0]
    assert (row.calls, row.ms_per_call, row.percent, row.gmac_per_s) == (0, 0, 0, None)


def test_a_profile_can_be_repeated_and_disturbs_nothing():
    interpreter = larq_engine.Interpreter(_MODEL)
    x = np.random.default_rng(3).standard_normal((4, 16, 16, 3)).astype(np.float32)
    before = interpreter.predict(x)
    assert [interpreter.profile(runs=runs).rows[1].calls for runs in (3, 5)] == [3, 5]
    assert interpreter.profile(x, runs=2).rows[1].calls == 2
    assert interpreter.profile({"input_1": x}, runs=2).rows[1].calls == 2
    np.testing.assert_array_equal(interpreter.predict(x), before)
    assert interpreter.input_shapes == [(1, 16, 16, 3)]


_STEPS = [
    {"op": "LceQuantize", "name": "q", "layer": "q", "node": 0, "device": "cpu",
     "kernel": "", "calls": 2, "total_ns": 1_000_000, "macs": 0, "subgraph": 0, "absorbed": [],
     "absorbed_macs": 0},
    {"op": "LceBconv2d", "name": "conv/y:LceBconv2d", "layer": "conv/y", "node": 1,
     "device": "cpu", "kernel": "k", "calls": 2, "total_ns": 5_000_000, "macs": 9_000_000,
     "subgraph": 2, "absorbed": [4], "absorbed_macs": 1_000_000},
]  # fmt: skip


def test_the_table_as_text():
    table = make_table(_STEPS, 10_000_000, 2, ["ADD", "ADD", "MEAN"])
    assert str(table).splitlines() == [
        "op            layer          kernel  calls  ms/call     %  GMAC/s",
        "------------  -------------  ------  -----  -------  ----  ------",
        "LceQuantize   q                          2   0.5000  10.0",
        "LceBconv2d    conv/y         k           2   2.5000  50.0     4.0",
        "host runtime  2 ADD, 1 MEAN              2   2.0000  40.0",
        "5.00 ms per run, mean of 2 runs",
    ]


def test_the_table_as_plain_values():
    table = make_table(_STEPS, 10_000_000, 2, ["ADD"])
    assert json.loads(table.to_json()) == table.to_dict()
    assert table.to_dict()["runs"] == 2
    assert table.to_dict()["ms_per_run"] == 5.0
    assert len(table.to_dict()["rows"]) == len(table) == 3
    assert table.to_dict()["rows"][1] == {
        "op": "LceBconv2d",
        "name": "conv/y",
        "tensor": "conv/y:LceBconv2d",
        "node": 1,
        "device": "cpu",
        "kernel": "k",
        "calls": 2,
        "ms_per_call": 2.5,
        "percent": 50.0,
        "gmac_per_s": 4.0,
        "subgraph": 2,
        "absorbed": [4],
    }


def _float_model() -> bytes:
    """Builds y = relu(x + x), without anything binarized."""
    builder = ModelBuilder()
    x, doubled, y = (builder.tensor((1, 4, 4, 32)) for _ in range(3))
    builder.builtin("ADD", [x, x], [doubled])
    builder.builtin("RELU", [doubled], [y])
    return builder.finish([x], [y])


@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("host", HOSTS)
def test_a_placed_operator_runs_where_nothing_is_binarized(host, fuse):
    def ops(placement):
        interpreter = larq_engine.Interpreter(
            _float_model(), placement=placement, fuse=fuse, host=host, device="cpu"
        )
        return [row.op for row in interpreter.profile(runs=1)]

    assert ops("") == ["host runtime"]
    assert ops("0:cpu") == (["ADD", "RELU"] if fuse else ["ADD"]) + ["host runtime"]
    assert ops("0:cpu,1:cpu") == ["ADD", "RELU", "host runtime"]


def _measure(content: bytes) -> tuple[list[dict[str, object]], list[str]]:
    """Returns the plug-in's steps, and the operators that it left to the host."""
    interpreter = larq_engine.Interpreter(content, device="cpu")
    arrays = [np.ones(shape, np.float32) for shape in interpreter.input_shapes]
    steps, _, left = interpreter._session.measure(arrays, 1)
    return steps, left


def test_steps_tell_whom_they_run_with_and_what_they_stand_in_for():
    builder = ModelBuilder()
    shape = (1, 8, 8, 32)
    x, product, total, doubled = (builder.tensor(shape) for _ in range(4))
    first, second = (builder.tensor((1, 8, 8, 1), np.int32) for _ in range(2))
    factor = builder.constant(np.full(32, 2, np.float32))
    builder.builtin("MUL", [x, factor], [product])
    builder.builtin("ADD", [product, factor], [total])
    builder.custom("LceQuantize", [total], [first])
    builder.builtin("ADD", [x, x], [doubled])
    builder.custom("LceQuantize", [doubled], [second])
    steps, left = _measure(builder.finish([x], [first, second]))
    assert [(step["node"], step["group"], step["absorbed"]) for step in steps] == [
        (2, 2, [0, 1]),
        (3, 3, []),
        (4, 3, []),
    ]
    assert left == []
