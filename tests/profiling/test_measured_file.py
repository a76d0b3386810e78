"""Makes profiles of what larq_benchmark_model measured.

tests/benchmark_model has the program itself, whose profile is compared with a measured one.
"""

from typing import Any

import pytest

import larq_engine
from larq_engine.batch.best_batch import best_batch
from larq_engine.command_line import main
from larq_engine.converter import schema
from larq_engine.placing.profile_file import format_profile, read_profile, write_profile
from larq_engine.placing.profile_source import as_profile
from tests.model_builder import ModelBuilder
from tests.profiling.measurements import encoded, measured_fields, step, way
from tests.profiling.models import small_model


# The converter writes the file, so that a placed model without its placement is equal byte by byte.
@pytest.fixture(scope="module")
def model() -> bytes:
    return bytes(schema.write(schema.read(small_model())))


@pytest.fixture
def fields(model: bytes) -> dict[str, Any]:
    return measured_fields(model)


@pytest.fixture
def path(tmp_path, fields):
    (tmp_path / "measured.json").write_bytes(encoded(fields))
    return tmp_path / "measured.json"


def _profile_from(tmp_path, fields, model):
    path = tmp_path / "changed.json"
    path.write_bytes(encoded(fields))
    return as_profile(path, model)


def _micros(profile):
    return {
        (m.ops, m.device, m.kernel): round(m.seconds.median * 1e6, 6) for m in profile.measurements
    }


def test_the_rows(path, model):
    profile = as_profile(path, model)
    row = "a_row"
    alone = {((1,), "cpu", None): 1, ((2,), "cpu", row): 8, ((3,), "cpu", None): 3}
    alone |= {((4,), "cpu", None): 4, ((5,), "cpu", None): 5, ((6,), "cpu", row): 8}
    together = {((1, 2, 3), "cpu", row): 23, ((4, 5), "cpu", None): 4}
    # The fused runs leave 40, 50 and 60 microseconds to the host, three quarters of it to node 0.
    fused = {((0,), "host", None): 37.5, ((7,), "host", None): 0, ((8,), "host", None): 12.5}
    of_host = {((3,), "host", None): 50, ((4,), "host", None): 0}
    assert _micros(profile) == alone | together | fused | of_host
    first = next(m for m in profile.measurements if m.ops == (0,))
    assert (first.seconds.q1, first.seconds.q3, first.seconds.runs) == pytest.approx(
        (33.75e-6, 41.25e-6, 3)
    )
    sources = {m.ops: m.source for m in profile.measurements if m.source}
    assert sources == {(7,): "part of another"}
    assert {m.threads for m in profile.measurements} == {2}
    totals = [(t.device, round(t.seconds.median * 1e6, 6)) for t in profile.totals]
    assert totals == [("cpu", 120), ("host", 400)]


def test_what_the_models_file_says(path, model):
    profile = as_profile(path, model)
    assert [op.node for op in profile.ops] == [0, 1, 2, 3, 4, 5, 6, 7, 9]
    assert [value.bytes for value in profile.values][:3] == [
        {1: 8 * 8 * 3 * 4},
        {1: 8 * 8 * 32 * 4},
        {1: 8 * 8 * 4},
    ]
    assert profile.ops[2].macs == {1: 8 * 8 * 9 * 32 * 32}
    assert profile.machine == {
        "cpu": "a CPU",
        "cores": 2,
        "system": "Linux 6",
        "architecture": "x86_64",
    }
    assert profile.devices[0].title == "larq_engine 1.2.3 on a CPU"
    format_profile(profile)  # it can be written


def test_without_a_profiler_the_hosts_operators_are_one_row(fields, model, tmp_path):
    for name in "fused", "host":
        fields["ways"][name]["host"] = {"refusal": "no profiler", "operators": []}
    rows = [m for m in _profile_from(tmp_path, fields, model).measurements if m.device == "host"]
    assert [m.ops for m in rows] == [(0, 7, 8), (0, 1, 3, 4, 5, 7, 8)]
    assert rows[0].seconds.median == pytest.approx(50e-6)
    assert rows[0].source is not None and rows[0].source.endswith("in one row: no profiler")


def test_a_host_whose_times_are_all_zero_is_divided_equally(fields, model, tmp_path):
    fields["ways"]["fused"]["host"]["operators"] = [
        {"node": node, "seconds": 0.0, "source": ""} for node in (0, 7)
    ]
    found = _micros(_profile_from(tmp_path, fields, model))
    assert found[(0,), "host", None] == found[(7,), "host", None] == 25


def _copy(device: str, size: int) -> dict[str, Any]:
    return step(1, 1, [2 + size // 1000] * 3, op="TRANSFER", device=device, bytes=size)


def test_a_gpu_has_links_and_leaves_nothing_to_the_host(fields, model, tmp_path):
    steps = [_copy("cuda", 1000), _copy("cuda", 5000), step(2, 2, [9, 9, 9], device="cuda")]
    fields["ways"]["fused"] = way([100, 100, 100], [*steps, _copy("cpu", 2000)], {0: 1.0})
    fields["ways"]["single"] = way([100, 100, 100])
    profile = _profile_from(tmp_path, fields, model)
    memories = {device.name: device.memory for device in profile.devices}
    assert memories == {"cpu": "host", "host": "host", "cuda": "cuda"}
    upload, download = profile.links
    assert (upload.source, upload.target) == ("host", "cuda") == (download.target, download.source)
    assert (upload.seconds, upload.bytes_per_second) == pytest.approx((2e-6, 1e9))
    assert download.seconds_of(2000) == pytest.approx(4e-6)
    assert {m.ops for m in profile.measurements if m.device == "cuda"} == {(2,)}
    assert _micros(profile)[(0,), "host", None] == 50  # from the runs on the host alone
    assert [total.device for total in profile.totals] == ["cuda", "host"]


def test_a_link_that_was_never_used_costs_nothing(fields, model, tmp_path):
    fields["ways"]["fused"]["steps"][0]["device"] = "cuda"
    assert [link.seconds_of(1000) for link in _profile_from(tmp_path, fields, model).links] == [
        1e-12
    ] * 2


@pytest.mark.parametrize(("kind", "size"), [("UINT32", 64), ("INT4", 8), ("BFLOAT16", 32)])
def test_values_of_types_that_the_converter_does_not_know(kind, size, tmp_path):
    """A profile in Python needs to run each operator alone, and refuses such a model."""
    builder = ModelBuilder()
    x, other, y = (builder.tensor((2, 8)) for _ in range(3))
    builder.builtin("CAST", [x], [other])
    builder.builtin("CAST", [other], [y])
    parsed = schema.read(builder.finish([x], [y]))
    parsed.graphs[0].ops[0].output.dtype = kind
    model = bytes(schema.write(parsed))
    with pytest.raises(ValueError, match="expected operators that can run alone"):
        larq_engine.profile(model)
    fields = measured_fields(model)
    fields["ways"] = dict.fromkeys(("fused", "single", "host"), way([5], host={0: 1.0, 1: 1.0}))
    profile = _profile_from(tmp_path, fields, model)
    assert [value.bytes for value in profile.values] == [{2: 64}, {2: size}, {2: 64}]
    assert [m.ops for m in profile.measurements] == [(0,), (1,)]


# ---- Where files are taken -----------------------------------------------------------------------


def test_place_takes_the_file(path, model, tmp_path):
    placed = larq_engine.place(model, path)
    assert {op.device for op in placed.placement.ops} <= {"cpu", "host"}
    assert placed == larq_engine.place(model, as_profile(path, model))
    # The model that was measured can be made again of the placed one.
    again = larq_engine.place(bytes(placed), path)
    assert again.placement.option == placed.placement.option
    files = [tmp_path / name for name in ("model.tflite", "placed.tflite")]
    files[0].write_bytes(model)
    arguments = ["place", str(files[0]), "--profile", str(path), "-o", str(files[1])]
    assert main([*arguments, "--no-verify"]) == 0
    assert files[1].read_bytes() == placed


def test_report_takes_the_file_and_the_model(path, model, tmp_path, capsys):
    file = tmp_path / "model.tflite"
    file.write_bytes(model)
    expected = str(larq_engine.report(as_profile(path, model)))
    assert str(larq_engine.report(path, model=model)) == expected
    assert str(larq_engine.report(path, model=file)) == expected
    assert main(["report", str(path), "--model", str(file)]) == 0
    assert capsys.readouterr().out.strip() == expected.strip()
    assert main(["report", str(path), "--model", str(file), "-o", str(file)]) == 1
    assert file.read_bytes() == model


def test_the_best_batch_is_the_one_that_was_measured(path, model, tmp_path):
    file = tmp_path / "model.tflite"
    file.write_bytes(model)
    assert best_batch(path, model=file) == 1


def test_a_profile_needs_no_model(path, model, tmp_path):
    profile = as_profile(path, model)
    write_profile(profile, tmp_path / "profile.json")
    assert as_profile(tmp_path / "profile.json") == profile
    assert as_profile(tmp_path / "profile.json", tmp_path / "missing.tflite") == profile


# ---- Errors --------------------------------------------------------------------------------------


def test_a_file_without_its_model(path, capsys):
    with pytest.raises(ValueError, match=r"it measured; name that \.tflite file as `model`"):
        larq_engine.report(path)
    with pytest.raises(ValueError, match="without the model that it measured"):
        best_batch(path)
    assert main(["report", str(path)]) == 1
    assert f"profile '{path}': expected a profile, got what" in capsys.readouterr().err
    with pytest.raises(ValueError, match="expected an object with the key larq_engine_profile"):
        read_profile(path)


@pytest.mark.parametrize(
    "change", [lambda m: m + b"\0" * 4, lambda m: m.replace(b"scores", b"Scores")]
)
def test_another_model(path, model, change):
    other = change(model)
    match = f"'small.tflite' of {len(model)} bytes, got another one of {len(other)} bytes"
    with pytest.raises(ValueError, match=match):
        larq_engine.place(other, path)


def _too_few_times(fields):
    fields["ways"]["fused"]["steps"][1]["nanoseconds"].pop()


def _no_runs(fields):
    fields["ways"]["host"]["nanoseconds"] = []


def _later_version(fields):
    fields["larq_engine_measurements"] = 2


def _unknown_device(fields):
    fields["ways"]["single"]["steps"][0]["device"] = "tpu"


def _missing_key(fields):
    del fields["machine"]["cpu"]


def _unknown_node(fields):
    fields["ways"]["single"]["steps"][0]["node"] = 99


def _too_long_steps(fields):
    fields["ways"]["fused"]["steps"][0]["nanoseconds"] = [10**9] * 3


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (
            _too_few_times,
            r"ways.fused.steps\[1\].nanoseconds: expected a number for each of the 3 runs",
        ),
        (_no_runs, "ways.host.nanoseconds: expected the time of at least one run"),
        (_later_version, "version 2, of a later larq_engine"),
        (_unknown_device, r"steps\[0\].device: expected cpu, cuda or cuda:N"),
        (
            _unknown_node,
            "expected operators of the model, which has 10, got number 99; measure the",
        ),
        (
            _too_long_steps,
            "ways.fused.steps: expected steps that take no longer than the whole run",
        ),
        (_missing_key, "machine.cpu: expected a text, got no such key"),
    ],
)
def test_parts_that_do_not_fit(fields, model, tmp_path, break_it, message):
    break_it(fields)
    with pytest.raises(ValueError, match=message):
        _profile_from(tmp_path, fields, model)
