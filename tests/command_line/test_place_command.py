"""`larq-engine place` makes a placed model of a model and a profile, or writes nothing."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from larq_engine.command_line import main
from larq_engine.converter import schema
from larq_engine.converter.example import example_model
from larq_engine.placing.placed_file import METADATA, identity, output_channels, read_placement
from larq_engine.placing.profile_file import parse_profile, write_profile
from larq_engine.profiling import turns
from larq_engine.profiling.machine import cpu_name
from tests.kernel_rows import KERNELS
from tests.placing.profiles import encoded, profile_of, profile_with_gpu

# A placement with this kernel is verified; the reference kernel would take half a minute.
_FAST = KERNELS[-1]


@pytest.fixture(scope="module")
def model() -> bytes:
    return bytes(example_model())


@pytest.fixture
def files(tmp_path: Path, model: bytes) -> tuple[Path, Path, Path]:
    """Returns the model, its profile, and the path to write to."""
    (tmp_path / "model.tflite").write_bytes(model)
    write_profile(parse_profile(encoded(profile_of(model))), tmp_path / "profile.json")
    return tmp_path / "model.tflite", tmp_path / "profile.json", tmp_path / "placed.tflite"


def _place(files: tuple[Path, Path, Path], *more: str) -> int:
    model, profile, placed = files
    return main(["place", str(model), "--profile", str(profile), "-o", str(placed), *more])


def test_writes_the_placement_into_the_model_and_beside_it(
    files: tuple[Path, Path, Path], model: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _place(files) == 0
    shown = capsys.readouterr().out
    placed = files[2].read_bytes()
    beside = json.loads(files[2].with_suffix(".placement.json").read_bytes())
    assert read_placement(placed) == beside
    assert beside["model"]["sha256"] == hashlib.sha256(model).hexdigest() == identity(placed)
    kinds = [op.kind for op in schema.read(model).graphs[0].ops]
    assert [(op["node"], op["device"]) for op in beside["ops"]] == [
        (node, "host" if node % 2 and not kind.startswith("Lce") else "cpu")
        for node, kind in enumerate(kinds)
    ]
    slow = sum(op["device"] == "cpu" and op["node"] % 2 for op in beside["ops"])
    assert beside["seconds"] == pytest.approx((len(kinds) + slow) * 1e-6)
    assert "all on engine, CPU" in shown and "LceBconv2d" in shown


def test_layers_that_can_be_split_are_binarized_convolutions_of_one_group(model: bytes) -> None:
    parsed = schema.read(model)
    convolutions = [op for op in parsed.graphs[0].ops if op.kind == "LceBconv2d"]
    channels = output_channels(parsed)
    assert {parsed.graphs[0].ops[node].kind for node in channels} == {"LceBconv2d"}
    assert len(channels) == len(convolutions)
    filters = convolutions[0].inputs[1]
    assert channels[parsed.graphs[0].ops.index(convolutions[0])] == filters.shape[0]
    filters.shape = (*filters.shape[:3], filters.shape[3] // 2)  # now it has two groups
    assert len(output_channels(parsed)) == len(convolutions) - 1


def test_the_placed_model_computes_the_same(files: tuple[Path, Path, Path], model: bytes) -> None:
    assert _place(files) == 0
    image = np.random.default_rng(0).normal(size=(1, 96, 96, 3)).astype(np.float32)
    before = larq_engine.Interpreter(model).predict(image)
    with larq_engine.Interpreter(files[2]) as placed:
        # Its last layers are placed too, and round sums of floats otherwise than the host.
        np.testing.assert_allclose(placed.predict(image), before, rtol=1e-5)
        rows = placed.profile(runs=1)
    # The plug-in obeys the file.
    assert {row.kernel for row in rows if row.op == "LceBconv2d"} == {"reference"}


def test_inspect_shows_where_a_placed_model_runs(
    files: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _place(files) == 0
    assert main(["inspect", str(files[2])]) == 0
    assert "placed by the file: 0:cpu,1:cpu,2:cpu:reference," in capsys.readouterr().out


def test_a_layer_on_two_devices_is_shown_and_reported(
    files: tuple[Path, Path, Path], model: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    with_gpu = profile_with_gpu(model, {"cpu": 1e-4, "cuda": 3e-4})
    write_profile(parse_profile(encoded(with_gpu)), files[1])
    assert _place(files) == 0
    assert "32 of 128 channels at the same time on engine, GPU" in capsys.readouterr().out
    assert main(["inspect", str(files[2])]) == 0
    assert ":cpu:reference@96+cuda:bconv2d_popc," in capsys.readouterr().out
    assert main(["report", str(files[1]), "--placement", str(files[2])]) == 0
    assert "96 on engine, CPU, 32 on engine, GPU" in capsys.readouterr().out


def test_a_placed_model_is_placed_again(files: tuple[Path, Path, Path]) -> None:
    assert _place(files) == 0
    first = files[2].read_bytes()
    again = larq_engine.place(first, files[1], devices=["cpu"])
    entries = schema.read(bytes(again)).extra.metadata
    assert sum(name in (METADATA, METADATA.encode()) for name, _ in entries) == 1
    assert {op.device for op in again.placement.ops} == {"cpu"}


def test_the_profile_of_a_placed_model_places_it_again(
    files: tuple[Path, Path, Path], model: bytes
) -> None:
    assert _place(files) == 0
    content = files[2].read_bytes()
    again = larq_engine.place(content, parse_profile(encoded(profile_of(content))))
    assert identity(again) == hashlib.sha256(model).hexdigest()


@pytest.mark.parametrize("text", [b"{", b"[" * 200_000, b"[]", b'{"model": 1}'])
def test_a_placement_in_a_model_that_is_none(
    files: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str], text: bytes
) -> None:
    parsed = schema.read(files[0].read_bytes())
    parsed.extra.metadata = [(METADATA, np.frombuffer(text, np.uint8))]
    files[0].write_bytes(schema.write(parsed))
    assert _place(files) == 1
    assert f"metadata '{METADATA}': expected " in capsys.readouterr().err
    assert not files[2].exists()


def test_a_device_that_is_not_at_hand(files: tuple[Path, Path, Path]) -> None:
    assert _place(files, "--device-file", "h200", "--devices", "cpu,h200") == 0
    with_device = json.loads(files[2].with_suffix(".placement.json").read_bytes())
    assert {op["device"] for op in with_device["ops"]} <= {"cpu", "h200"}
    assert any(other["name"].startswith("all on h200") for other in with_device["alternatives"])


def test_a_plan_for_a_device_that_is_not_at_hand_cannot_be_verified(
    files: tuple[Path, Path, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without these devices, the placed model would run as if it had no placement."""
    monkeypatch.setattr(turns, "_TURN_SECONDS", 0.0)
    _of_machine(files, cpu_name(), _FAST)
    before = sorted(files[0].parent.iterdir())
    planned = ("--device-file", "pi5", "--verify")
    assert _place(files, *planned, "--devices", "host,pi5") == 1
    message = "verify: expected devices that run models, got pi5, of a device file"
    assert message in capsys.readouterr().err
    assert sorted(files[0].parent.iterdir()) == before
    assert _place(files, *planned, "--devices", "cpu, host") == 0


def _of_machine(files: tuple[Path, Path, Path], cpu: str | None, kernel: str) -> None:
    """Sets the machine on which the profile says it was measured."""
    fields = json.loads(files[1].read_bytes())
    fields["machine"] = {} if cpu is None else {"cpu": cpu}
    for entry in fields["measurements"]:
        entry["kernel"] = kernel if entry["device"] == "cpu" else None
    files[1].write_bytes(encoded(fields))


def test_a_profile_of_this_machine_is_verified(
    files: tuple[Path, Path, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "_TURN_SECONDS", 0.0)
    _of_machine(files, cpu_name(), _FAST)
    assert _place(files) == 0
    shown = capsys.readouterr().out
    beside = json.loads(files[2].with_suffix(".placement.json").read_bytes())
    verified = beside["verified"]
    gain = verified["unplaced_seconds"] / verified["seconds"]
    assert f"{gain:.2f}x as fast as without a placement" in shown.splitlines()[0]
    assert "predicted ms  measured ms" in shown
    assert read_placement(files[2].read_bytes()) == beside
    assert _place(files, "--no-verify") == 0
    assert "measured in turns" not in capsys.readouterr().out
    assert json.loads(files[2].with_suffix(".placement.json").read_bytes())["verified"] is None


@pytest.mark.parametrize(
    ("cpu", "kernel", "reason"),
    [
        ("another", "reference", "), got one of another"),
        (None, "reference", "got one of a machine that it does not name"),
        (cpu_name(), "bgemm_i32_1x1x1_none", "a CPU that runs bgemm_i32_1x1x1_none"),
    ],
)
def test_a_profile_of_another_machine_is_told_not_verified(
    files: tuple[Path, Path, Path],
    capsys: pytest.CaptureFixture[str],
    cpu: str | None,
    kernel: str,
    reason: str,
) -> None:
    _of_machine(files, cpu, kernel)
    assert _place(files) == 0
    (said,) = [s for s in capsys.readouterr().out.splitlines() if s.startswith("not verified")]
    assert said.startswith("not verified by running it: expected a profile of this machine")
    assert reason in said


def test_nothing_is_written_where_the_placed_model_does_not_run(
    files: tuple[Path, Path, Path], model: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    content = profile_with_gpu(model, {"cpu": 1.0, "cuda": 1e-6})
    nowhere = json.loads(json.dumps(content).replace('"cuda"', '"cuda:99"'))
    files[1].write_bytes(encoded(nowhere))
    before = sorted(files[0].parent.iterdir())
    assert _place(files, "--verify") == 1
    assert "device=cuda: expected" in capsys.readouterr().err
    assert sorted(files[0].parent.iterdir()) == before


def test_the_report_reads_the_placed_model(
    files: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    model, profile, placed = map(str, files)
    assert _place(files) == 0
    capsys.readouterr()
    assert main(["report", profile, "--placement", placed]) == 0
    shown = capsys.readouterr().out
    beside = str(files[2].with_suffix(".placement.json"))
    assert main(["report", profile, "--placement", beside]) == 0
    assert capsys.readouterr().out == shown
    assert "placement: for least latency" in shown
    assert main(["report", profile, "--placement", model]) == 1
    message = f"placement '{model}': expected a placed model, got one without a placement"
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--devices", "tpu"), "expected some of the profile's (cpu, host), got 'tpu'"),
        (("--batch", "8"), "batch: expected one of the profile's (1), got 8"),
        (("--objective", "energy"), "expected a profile with joules"),
        (("--device-file", "absent.json"), "expected a file, or one of fpga_gpu_cyclone10gx, "),
        (("--device-file", "fpga_gpu_cyclone10gx"), "it lacks latency and joules of"),
    ],
)
def test_nothing_is_written_if_it_cannot_be(
    files: tuple[Path, Path, Path],
    capsys: pytest.CaptureFixture[str],
    more: tuple[str, ...],
    message: str,
) -> None:
    before = sorted(files[0].parent.iterdir())
    assert _place(files, *more) == 1
    assert message in capsys.readouterr().err
    assert sorted(files[0].parent.iterdir()) == before


def test_the_profile_of_another_model_is_refused(
    files: tuple[Path, Path, Path], model: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    other = profile_of(model)
    other["model"] = {"name": "other.tflite", "sha256": "cd" * 32, "bytes": 1}
    files[1].write_bytes(encoded(other))
    assert _place(files) == 1
    error = capsys.readouterr().err
    assert "profile of 'other.tflite': expected the profile of this model" in error
    assert not files[2].exists()


def test_a_profile_is_not_overwritten(
    files: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _place((files[0], files[1], files[1])) == 1
    assert "expected a file of its own" in capsys.readouterr().err


def test_batch_is_a_number_or_auto(
    files: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _place(files, "--batch", "auto") == 0
    with pytest.raises(SystemExit):
        _place(files, "--batch", "many")
    assert "expected a number or auto, got many" in capsys.readouterr().err
