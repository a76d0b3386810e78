"""A profile has every operator once for each device, and only times of right results."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

import larq_engine
from larq_engine.placing.profile_file import read_profile
from larq_engine.profiling import profiler, run_config
from larq_engine.python import library
from tests.hosts import HOSTS
from tests.kernel_rows import TAKES_FLOAT_CONVOLUTIONS
from tests.model_builder import ModelBuilder
from tests.profiling.models import KINDS, NODES, small_model


def _profile(model=None, **options):
    options = {"devices": ["cpu", "host"], "rounds": 1, **options}
    return larq_engine.profile(small_model() if model is None else model, **options)


@pytest.fixture(scope="module")
def result():
    return _profile(batch=[1, 4], threads=[1, 2])


def test_operators_and_values(result):
    profile = result.profile
    assert [op.node for op in profile.ops] == NODES, "all but the one that constants lead to"
    assert [op.op for op in profile.ops] == KINDS
    assert [value.kind for value in profile.values].count("inner") == len(profile.values) - 2
    image, scores = profile.values[0], profile.values[-1]
    assert (image.name, image.kind, scores.name, scores.kind) == (
        *("image", "input", "scores", "output"),
    )
    assert image.bytes == {1: 8 * 8 * 3 * 4, 4: 4 * 8 * 8 * 3 * 4}
    assert profile.ops[3].inputs == (profile.ops[2].outputs[0], profile.ops[0].outputs[0])
    macs = 8 * 8 * 32 * 9 * 32
    assert profile.ops[2].macs == {1: macs, 4: 4 * macs}
    assert profile.ops[-1].macs == {1: 64 * 32 * 10, 4: 4 * 64 * 32 * 10}
    assert profile.model.sha256 == hashlib.sha256(small_model()).hexdigest()
    assert profile.engine == library.version()
    assert not result.wrong


def test_every_operator_has_a_time_wherever_it_can_be_computed(result):
    singles = [m for m in result.profile.measurements if len(m.ops) == 1]
    ours = {1, 2, 5, 6}
    also_ours = {0, 3, 4, 8}
    for batch in (1, 4):
        for threads in (1, 2):

            def measured(device, batch=batch, threads=threads):
                chosen = [m for m in singles if (m.batch, m.threads) == (batch, threads)]
                return [m.ops[0] for m in chosen if m.device == device]

            assert measured("cpu") == sorted(ours | also_ours)
            assert measured("host") == [op for op in range(len(NODES)) if op not in ours]
    for measurement in result.profile.measurements:
        seconds = measurement.seconds
        assert 0 <= seconds.q1 <= seconds.median <= seconds.q3
        assert seconds.runs == (1 if measurement.cut_seconds is None else 2)
        kinds = {KINDS[op] for op in measurement.ops}
        assert (measurement.kernel or "").startswith("bgemm_") == ("LceBconv2d" in kinds)
        is_float = measurement.device == "cpu" and "CONV_2D" in kinds
        assert (measurement.kernel or "").startswith("floats_") == is_float


def test_what_the_engine_fuses(result):
    """The quantization absorbs MUL; both, and the sum before, run with the convolution."""
    runs = {(m.ops, m.device) for m in result.profile.measurements if len(m.ops) > 1}
    first = {((0, 1), "cpu")} if TAKES_FLOAT_CONVOLUTIONS else set()
    assert runs == {((2, 3, 4, 5), "cpu")} | first


def test_totals_and_what_they_are_made_of(result):
    keys = [(t.batch, t.device, t.threads) for t in result.profile.totals]
    assert sorted(keys) == sorted(
        (b, d, t) for b in (1, 4) for d in ("cpu", "host") for t in (1, 2)
    )
    measured = {
        (m.ops, m.device): m for m in result.profile.measurements if (m.batch, m.threads) == (1, 1)
    }
    for share in result.shares:
        assert share.missing == ()
        if (share.total.batch, share.total.threads, share.total.device) == (1, 1, "cpu"):
            first = [(0, 1)] if TAKES_FLOAT_CONVOLUTIONS else [(1,)]
            ours = [measured[ops, "cpu"] for ops in (*first, (2, 3, 4, 5), (6,))]
            hosts_ops = (7, 8) if TAKES_FLOAT_CONVOLUTIONS else (0, 7, 8)
            hosts = [measured[(op,), "host"] for op in hosts_ops]
            rows = [row.seconds.median for row in (*ours, *hosts)]
            assert share.rows == pytest.approx(sum(rows))
            cut = [row.seconds.median for row in ours] + [row.cut_seconds for row in hosts]
            assert share.cut == pytest.approx(sum(cut))


def test_the_file_has_it_all(result, tmp_path):
    result.save(tmp_path / "profile.json")
    assert read_profile(tmp_path / "profile.json") == result.profile


def test_it_is_placed_and_shown_as_it_is(result):
    placed = larq_engine.place(small_model(), result)
    assert [op.node for op in placed.placement.ops] == NODES
    assert "LceBconv2d" in str(larq_engine.report(result, placed.placement))


def test_the_table_moves_no_cursor(result):
    model = replace(result.profile.model, name="m\x1b[2J")
    hostile = replace(
        result, profile=replace(result.profile, model=model), wrong=("ADD 'a\x1b[2J' (node 3): x",)
    )
    assert all(line.isprintable() for line in str(hostile).split("\n"))


def test_the_table(result):
    text = str(result)
    for part in ("CONV_2D", "2-5", "LceBconv2d+ADD+MUL+LceQuantize", "noise", "diff %"):
        assert part in text
    wholes = text[text.index("whole models, ") :]
    assert "LiteRT + engine for binary operators" in wholes and " on LiteRT + " in repr(result)


def test_the_table_has_the_numbers_of_the_file(result):
    """The numbers count operators that are not measured, such as LceUnpackWeights."""
    lines = [line.split() for line in str(result).splitlines()]
    assert {line[0] for line in lines if line[1:2] == ["FULLY_CONNECTED"]} == {"9"}


def test_operators_that_run_together_have_the_name_of_what_multiplies(result):
    layer = result.profile.ops[2].layer
    assert layer != result.profile.ops[5].layer
    rows = [line.split() for line in str(result).splitlines()]
    assert {row[2] for row in rows if row[:1] == ["2-5"]} == {layer}


@pytest.mark.parametrize("host", HOSTS)
def test_hosts(host):
    profile = _profile(host=host).profile
    assert {m.device for m in profile.measurements} == {"cpu", "host"}
    assert profile.batches() == [1]


def test_all_kernels():
    profile = _profile(kernels="all").profile
    convolutions = [m for m in profile.measurements if m.ops == (2,)]
    assert sorted(m.kernel for m in convolutions) == sorted(library.kernels())
    runs = [m for m in profile.measurements if 2 in m.ops and len(m.ops) > 1]
    assert sorted(m.kernel for m in runs) == sorted(library.kernels())
    assert len([m for m in profile.measurements if m.ops == (1,)]) == 1, "it has no kernels"


def test_one_kernel_beside_the_choice():
    slow = library.kernels()[0]
    chosen = [m.kernel for m in _profile(kernels=[slow]).profile.measurements if m.ops == (2,)]
    assert slow in chosen
    assert len(chosen) == len(set(chosen)) <= 2


def test_a_wrong_result_has_no_time(monkeypatch):
    """One operator on both devices, and one run of the engine, compute something else."""
    outputs = run_config.Runner.outputs

    def wrong(runner):
        made = outputs(runner)
        if runner.cut.ops in ((0,), (2, 3, 4, 5)):
            made[0].reshape(-1)[0] += 1
        return made

    monkeypatch.setattr(run_config.Runner, "outputs", wrong)
    result = _profile()
    measured = {m.ops for m in result.profile.measurements}
    assert not measured & {(0,), (2, 3, 4, 5)}
    assert len(result.wrong) == 3
    assert any("CONV_2D" in text and "node 0" in text for text in result.wrong)
    assert "WRONG RESULT" in str(result)


def test_candidates_are_fed_with_what_the_model_computes(monkeypatch):
    """Each operator reads the outputs of those before it, and not random values."""
    fed = {}
    load = run_config.Runner._load

    def spy(runner, batch):
        if len(runner.cut.ops) == 1:
            fed[runner.cut.ops[0]] = runner._values
        load(runner, batch)

    monkeypatch.setattr(run_config.Runner, "_load", spy)
    _profile()
    signs, total = fed[2][0], fed[4][0]
    expected = np.packbits(fed[1][0] < 0, axis=-1, bitorder="little").view(np.int32)
    np.testing.assert_array_equal(signs, expected)
    np.testing.assert_array_equal(total, fed[3][0] + fed[3][1])


def test_a_batch_that_the_model_fixes():
    builder = ModelBuilder()
    x, y = builder.tensor((1, 4)), builder.tensor((4,))
    builder.builtin("RESHAPE", [x, builder.constant(np.array([4], np.int32))], [y])
    model = builder.finish([x], [y])
    with pytest.raises(ValueError, match="batch 2: expected the batch that the model fixes, 1"):
        _profile(model, batch=[2])
    assert _profile(model, batch=[1]).profile.batches() == [1]


def test_batches_are_multiples_of_the_models():
    with pytest.raises(ValueError, match=r"batch 3: expected a multiple .* 2;"):
        _profile(small_model(2), batch=[3])
    assert _profile(small_model(2), batch=4).profile.values[0].bytes == {4: 4 * 8 * 8 * 3 * 4}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"devices": ["tpu"]}, "devices: expected some of cpu, host.*, got 'tpu'"),
        ({"kernels": ["bgemm_x"]}, "kernels: expected auto, all or some of bgemm_.*got 'bgemm_x'"),
        ({"devices": "tpu"}, "devices: expected some of cpu, host.*, got 'tpu'"),
        ({"devices": "cpu,host"}, r"got 'cpu,host'; as in devices=\['cpu', 'host'\]"),
        ({"threads": "1,2"}, r"threads: expected .*, got '1,2'; as in threads=\[1, 2\]"),
        ({"threads": 0}, "threads: expected a whole number from 1 to 256, or a list of .*, got 0"),
        ({"threads": [0]}, "threads: expected a whole number from 1 to 256, .*, got 0"),
        ({"threads": []}, "threads: expected a whole number from 1 to 256, .*, got none"),
        ({"batch": [1.5]}, "batch: expected a whole number from 1 to .*, got 1.5"),
        ({"rounds": 0}, "rounds: expected a whole number from 1 on, got 0"),
        ({"seconds": "2"}, "seconds: expected a number from 0 on, got '2'"),
        ({"seconds": float("nan")}, "seconds: expected a number from 0 on, got nan"),
        ({"rounds": 1.5}, "rounds: expected a whole number from 1 on, got 1.5"),
        ({"host": "none"}, "host: expected a host to compare the engine with, got 'none'"),
        ({"host": "auto"}, "host: expected a host to compare the engine with, got 'auto'"),
        ({"host": "onnx"}, "host: expected one of .*, got 'onnx'"),
        ({"energy_sensor": "no_such_file"}, "energy 'no_such_file': expected a sensor's file"),
    ],
)
def test_what_cannot_be_meant(options, said):
    with pytest.raises(ValueError, match=said):
        _profile(**options)


def test_threads_that_do_not_run_are_not_reported(monkeypatch):
    monkeypatch.setattr(library, "usable_cpus", lambda: 2)
    with pytest.warns(
        UserWarning, match="threads: expected .*, got 64; 2 threads will run"
    ) as told:
        profile = _profile(threads=[2, 64]).profile
    assert profile.threads() == [2]
    assert {total.threads for total in profile.totals} == {2}
    assert [warning.filename for warning in told] == [__file__], "the user's line"


def test_no_more_is_open_at_a_time_than_there_is_memory_for(monkeypatch):
    builder = ModelBuilder()
    x, y = builder.tensor((1, 256)), builder.tensor((1, 256))
    weights = builder.constant(np.ones((256, 256), np.float32))
    builder.builtin("FULLY_CONNECTED", [x, weights, -1], [y])
    opened = []

    def measure(groups, *others, real=profiler.measure_groups):  # type: ignore[attr-defined]
        opened.append(sum(len(group.trials) for group in groups))
        real(groups, *others)

    monkeypatch.setattr(profiler, "measure_groups", measure)
    monkeypatch.setattr(profiler, "_MOST_BYTES", 2 * 256 * 256 * 4)
    result = _profile(builder.finish([x], [y]))
    assert max(opened) == 1, "the weights of two and their values are more"
    assert [share.missing for share in result.shares] == [(), ()]


@pytest.mark.parametrize("model", [b"", b"TFL3", small_model()[:500]])
def test_bad_models(model):
    with pytest.raises(ValueError, match="model"):
        _profile(model)


def test_an_operator_that_cannot_run_alone():
    builder = ModelBuilder()
    x, y = builder.tensor((1, 4)), builder.tensor((1, 4))
    handle = builder.tensor((), object)
    builder.builtin("VAR_HANDLE", [], [handle], sharedName="v")
    builder.builtin("ASSIGN_VARIABLE", [handle, x], [])
    builder.builtin("ADD", [x, x], [y])
    with pytest.raises(ValueError, match=r"can run alone, got VAR_HANDLE .*Interpreter.profile"):
        _profile(builder.finish([x], [y]))


def test_an_operator_with_state():
    """An operator with state gives other values in each run, so nothing can be compared."""
    builder = ModelBuilder()
    x, y, state = builder.tensor((1, 4)), builder.tensor((1, 4)), builder.tensor((1, 4))
    weights = [builder.constant(np.eye(4, dtype=np.float32)) for _ in range(2)]
    bias = builder.constant(np.zeros(4, np.float32))
    builder.graph.tensors[state].isVariable = True
    builder.builtin("RNN", [x, *weights, bias, state], [y])
    with pytest.raises(ValueError, match=r"can run alone, got RNN .*does more than make outputs"):
        _profile(builder.finish([x], [y]))
