"""larq_benchmark_model as a user runs it: results, profile, JSON, and one line for every mistake.

The results must equal those of larq_engine.Interpreter to the bit: the same host and the same
engine, reached through LiteRT's C interface instead of Python's.
"""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ai_edge_litert
import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

import larq_engine
from larq_engine.command_line import main
from larq_engine.placing.profile_source import as_profile
from tests.kernel_rows import KERNELS, TAKES_FLOAT_CONVOLUTIONS, kernel_rows
from tests.model_builder import ModelBuilder

_ROOT = Path(__file__).parents[2]
_BINARY = _ROOT / "bazel-bin" / "larq_engine" / "benchmark_model" / "larq_benchmark_model"
_LITERT = Path(ai_edge_litert.__file__).parent / "libLiteRt.so"
_DATA = _ROOT / "tests" / "interop" / "data"
_MODELS = sorted(path.stem for path in _DATA.glob("*.tflite"))
_RESIDUAL = _DATA / "residual_relu_bn_add.float.tflite"

# Limit of address space. A damaged shape must not make the system end other processes for lack of
# memory.
_MAX_MEMORY_BYTES = 8 << 30
# Limit of processor time, which other processes do not use up. Damage can ask for a batch of 65537.
_MAX_SECONDS = 10
# Limit of the clock: only a program that hangs without working takes so long.
_HANGS_SECONDS = 600

# Runs once, without a warm-up.
_QUICK = ("--num_runs=1", "--min_secs=0", "--warmup_runs=0", "--warmup_min_secs=0")


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))


def limit_work() -> None:
    limit_memory()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (_MAX_SECONDS, _MAX_SECONDS + 1))


def call(*flags: str, limit: Callable[[], None] = limit_memory) -> subprocess.CompletedProcess[str]:
    assert _BINARY.exists(), "build it with `make benchmark-binary`"
    return subprocess.run(
        [str(_BINARY), *flags],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_HANGS_SECONDS,
        preexec_fn=limit,
    )


def run(model: Path, *flags: str) -> str:
    """Runs a model that must run."""
    done = call(f"--graph={model}", f"--litert={_LITERT}", *_QUICK, *flags)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def fail(code: int, *flags: str) -> str:
    """Runs a command that must fail; returns the one line that says why."""
    done = call(*flags)
    assert done.returncode == code, (done.stdout, done.stderr)
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("larq_benchmark_model: error: "), done.stderr
    return lines[0].removeprefix("larq_benchmark_model: error: ")


def fail_on(model: bytes, folder: Path) -> str:
    path = folder / "bad.tflite"
    path.write_bytes(model)
    message = fail(1, f"--graph={path}", f"--litert={_LITERT}", *_QUICK)
    return message.removeprefix(f"model '{path}' ({len(model)} bytes): ")


def report(model: Path, folder: Path, *flags: str) -> dict[str, Any]:
    path = folder / "report.json"
    run(model, f"--output_json={path}", *flags)
    loaded: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return loaded


# ---- Results -------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", _MODELS)
def test_outputs_are_the_interpreters(model, tmp_path):
    path = _DATA / f"{model}.tflite"
    with np.load(_DATA / f"{model}.npz") as recorded:
        x = recorded["x"][:1]
    expected = larq_engine.Interpreter(path).predict(x)
    (tmp_path / "x").write_bytes(x.tobytes())
    (tmp_path / "expected").write_bytes(expected.tobytes())
    files = (f"--input_value_files=0:{tmp_path / 'x'}", f"--save_outputs=0:{tmp_path / 'y'}")
    for threads in "1", "2":
        printed = run(path, f"--num_threads={threads}", *files, f"--check=0:{tmp_path}/expected")
        assert "\ncheck         ok: " in printed
        assert (tmp_path / "y").read_bytes() == expected.tobytes()


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_gives_the_same(kernel, tmp_path):
    run(_RESIDUAL, f"--save_outputs=dense:{tmp_path / 'y'}")
    result = report(_RESIDUAL, tmp_path, f"--kernel={kernel}", f"--check=dense:{tmp_path / 'y'}")
    assert result["checks"][0]["ok"] and result["checks"][0]["max_difference"] == 0
    assert result["options"]["kernel"] == kernel
    if kernel != "auto":
        assert result["model"]["kernels"] == [kernel]


def two_inputs() -> bytes:
    """Builds a signature with other names than the graph's, listed in reverse order."""
    builder = ModelBuilder()
    a, b = builder.tensor((1, 3), name="tensor_a:0"), builder.tensor((1, 3), name="tensor_b:0")
    total, product = builder.tensor((1, 3), name="sum:0"), builder.tensor((1, 3), name="product:0")
    builder.builtin("ADD", [a, b], [total])
    builder.builtin("MUL", [a, b], [product])
    builder.signature({"b": b, "a": a}, {"product": product, "sum": total})
    return builder.finish([a, b], [total, product])


def check_tensors_by_name_and_by_number(report_of, tmp_path):
    """Checks inputs and outputs by their names in the signature and by their numbers.

    `report_of` runs a model, as `report` does."""
    model = tmp_path / "model.tflite"
    model.write_bytes(two_inputs())
    a, b = np.array([1, 2, 3], np.float32), np.array([10, 100, 1000], np.float32)
    (tmp_path / "a").write_bytes(a.tobytes())
    (tmp_path / "b").write_bytes(b.tobytes())
    inputs = f"--input_value_files=b:{tmp_path}/b,0:{tmp_path}/a"
    outputs = f"--save_outputs=product:{tmp_path}/product,0:{tmp_path}/sum"
    result = report_of(model, tmp_path, inputs, outputs)
    assert [tensor["name"] for tensor in result["model"]["inputs"]] == ["a", "b"]
    assert np.array_equal(np.fromfile(tmp_path / "sum", np.float32), a + b)
    assert np.array_equal(np.fromfile(tmp_path / "product", np.float32), a * b)


def test_tensors_by_name_and_by_number(tmp_path):
    check_tensors_by_name_and_by_number(report, tmp_path)


def test_a_difference_is_told_and_is_exit_code_1(tmp_path):
    run(_RESIDUAL, f"--save_outputs=0:{tmp_path / 'y'}")
    y = np.fromfile(tmp_path / "y", np.float32)
    y[3] += 0.5
    y.tofile(tmp_path / "y")
    flags = (f"--graph={_RESIDUAL}", f"--litert={_LITERT}", *_QUICK, f"--check=0:{tmp_path / 'y'}")
    done = call(*flags, f"--output_json={tmp_path / 'report.json'}")
    assert done.returncode == 1 and done.stderr == ""
    assert "\ncheck         FAILED: 'dense' and " in done.stdout
    assert ": 1 of 10 values differ by more than 0, the largest difference is 0.5\n" in done.stdout
    check = json.loads((tmp_path / "report.json").read_text())["checks"][0]
    assert (check["ok"], check["different"], check["elements"]) == (False, 1, 10)
    assert call(*flags, "--check_tolerance=0.75").returncode == 0


# ---- Profile and report --------------------------------------------------------------------------


@pytest.mark.parametrize("fuse", [True, False])
def test_profile_has_the_operators_of_the_interpreters(fuse, tmp_path):
    """Most of all it has sums between our operators, which XNNPACK would take if it were first."""
    flags = ("--enable_op_profiling", "--num_runs=4", f"--fuse={str(fuse).lower()}")
    ops = report(_RESIDUAL, tmp_path, *flags)["ops"]
    expected = larq_engine.Interpreter(_RESIDUAL, fuse=fuse).profile(runs=1)
    rows = [row for row in ops["rows"] if row["device"] != "host"]
    assert [(row["op"], row["kernel"]) for row in rows] == [
        (row.op, row.kernel) for row in expected
    ]
    assert [row["name"] for row in rows[:-1]] == [row.name for row in expected][:-1]
    assert rows[-1] is ops["rows"][-1] and rows[-1]["op"] == "host runtime"
    hosts = [row for row in ops["rows"] if row["device"] == "host"]
    first = [] if fuse and TAKES_FLOAT_CONVOLUTIONS else [(0, "CONV_2D")]
    sums = [] if fuse else [(3, "ADD"), (6, "ADD"), (9, "ADD")]
    last = [(10, "MEAN"), (11, "FULLY_CONNECTED")]
    assert [(row["node"], row["op"]) for row in hosts] == [*first, *sums, *last]
    assert all(row["name"] and row["tensor"] and row["kernel"] == "" for row in hosts)
    assert ops["runs"] == 4 and all(row["calls"] == 4 for row in ops["rows"])
    assert sum(row["percent"] for row in ops["rows"]) == pytest.approx(100)
    assert sum(row["ms_per_call"] for row in ops["rows"]) == pytest.approx(ops["ms_per_run"])
    for row in ops["rows"]:
        multiplies = row["op"] == "LceBconv2d" or row["kernel"].startswith("floats_")
        assert ("gmac_per_s" in row) == multiplies, row


def test_the_profile_is_that_of_larq_engine_profile(tmp_path):
    """Both have the same operators and values: the engine's alone and together, the host's alone.

    The mean and the dense layer at the end are the host's in this model, and only
    larq_engine.profile tries them on the engine.
    """
    out = tmp_path / "profile.json"
    run(_RESIDUAL, f"--profile_out={out}", "--num_runs=3")
    made = as_profile(out, _RESIDUAL)
    expected = larq_engine.profile(_RESIDUAL, devices=["cpu"], rounds=1).profile
    assert made.engine == expected.engine
    assert made.model == expected.model
    assert made.values == expected.values
    assert made.ops == expected.ops
    assert [(d.name, d.memory) for d in made.devices] == [
        (d.name, d.memory) for d in expected.devices
    ]
    assert made.machine["cores"] >= 1 and made.machine["cpu"].startswith(expected.machine["cpu"])

    names = [op.op for op in expected.ops]
    tried = {((names.index(op),), 1, "cpu", 1, None) for op in ("MEAN", "FULLY_CONNECTED")}
    rows, others = (
        [(m.ops, m.batch, m.device, m.threads, m.kernel) for m in profile.measurements]
        for profile in (made, expected)
    )
    assert tried <= {*others}
    assert {*rows} == {*others} - tried
    assert all(len(m.ops) == 1 for m in made.measurements if m.device == "host")
    assert len(rows) == len({*rows})
    assert [(t.device, t.batch, t.threads) for t in made.totals] == [
        (t.device, t.batch, t.threads) for t in expected.totals
    ]
    assert all(m.seconds.runs == 3 for m in made.measurements)
    assert made.energy.startswith("not available")


@pytest.mark.parametrize("flags", [(), ("--placement=none",)])
def test_a_placed_model_is_profiled_as_the_one_that_it_was_made_of(tmp_path, flags):
    out, placed = tmp_path / "profile.json", tmp_path / "placed.tflite"
    run(_RESIDUAL, f"--profile_out={out}", "--num_runs=2")
    expected = as_profile(out, _RESIDUAL)
    placed.write_bytes(larq_engine.place(_RESIDUAL, expected, devices=["cpu", "host"]))
    run(placed, f"--profile_out={out}", "--num_runs=2", *flags)
    assert [(m.ops, m.device, m.kernel) for m in as_profile(out, placed).measurements] == [
        (m.ops, m.device, m.kernel) for m in expected.measurements
    ]
    larq_engine.place(placed, out)


def test_what_depends_on_no_input_is_not_profiled(tmp_path):
    model, out = tmp_path / "model.tflite", tmp_path / "profile.json"
    builder = ModelBuilder()
    y = builder.tensor((4,))
    builder.builtin("ADD", [builder.constant(np.ones(4, np.float32))] * 2, [y])
    model.write_bytes(builder.finish([], [y]))
    run(model, f"--profile_out={out}")
    with pytest.raises(ValueError, match="expected operators that depend on its inputs, got none"):
        as_profile(out, model)


@pytest.mark.parametrize("model", _MODELS)
@pytest.mark.parametrize("threads", [1, 2])
def test_every_operator_has_a_row_and_the_profile_can_be_placed(model, threads, tmp_path):
    path, placed = _DATA / f"{model}.tflite", tmp_path / "placed.tflite"
    out = tmp_path / "profile.json"
    run(path, f"--profile_out={out}", f"--num_threads={threads}")
    profile = as_profile(out, path)
    alone = {m.ops[0] for m in profile.measurements if len(m.ops) == 1}
    assert alone == {op.id for op in profile.ops}
    hosts = {m.ops[0] for m in profile.measurements if m.device == "host"}
    assert hosts == {op.id for op in profile.ops if not op.op.startswith("Lce")}
    files = [str(path), "--profile", str(out), "-o", str(placed)]
    assert main(["place", "--no-verify", *files]) == 0
    with np.load(_DATA / f"{model}.npz") as recorded:
        x = recorded["x"][:1]
    expected = larq_engine.Interpreter(path).predict(x)
    # A float convolution may be placed on the host, whose sums round otherwise.
    rounding = 1e-5 * np.abs(expected).max()
    np.testing.assert_allclose(larq_engine.Interpreter(placed).predict(x), expected, atol=rounding)


def test_a_library_without_profiler_gives_one_row_and_says_so(tmp_path):
    other, out = tmp_path / "libLiteRt.so", tmp_path / "profile.json"
    name = b"\0LiteRtStartProfiler\0"
    content = _LITERT.read_bytes()
    assert content.count(name) == 1
    other.write_bytes(content.replace(name, name.replace(b"Start", b"Other")))
    flags = (f"--graph={_RESIDUAL}", f"--litert={other}", *_QUICK, "--enable_op_profiling")
    done = call(*flags, f"--profile_out={out}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\nhost runtime  all other operators " in done.stdout
    profile = as_profile(out, _RESIDUAL)
    rest = [m for m in profile.measurements if m.device == "host"]
    fused = (10, 11) if TAKES_FLOAT_CONVOLUTIONS else (0, 10, 11)
    assert [m.ops for m in rest] == [fused, (0, 3, 6, 9, 10, 11)]
    assert all(
        "in one row: expected a LiteRT with a profiler, got a library without" in m.source
        for m in rest
    )


def split_and_joined() -> bytes:
    """Builds a sum of 64-bit numbers, which is LiteRT's, between operators of XNNPACK's."""
    builder = ModelBuilder()
    x, y = builder.tensor((1, 8), name="x"), builder.tensor((1, 8), name="y")
    n = builder.tensor((1, 8), dtype=np.int64, name="n")
    total = builder.tensor((1, 8), dtype=np.int64, name="total")
    z, out = builder.tensor((1, 8), name="z"), builder.tensor((1, 8), name="out")
    builder.builtin("ADD", [x, x], [y])
    builder.builtin("ADD", [n, n], [total])
    builder.builtin("MUL", [y, x], [z])
    builder.builtin("SOFTMAX", [z], [out])
    return builder.finish([x, n], [total, out])


def test_operators_that_nobody_takes_from_the_host(tmp_path):
    model, out = tmp_path / "model.tflite", tmp_path / "profile.json"
    model.write_bytes(split_and_joined())
    run(model, f"--profile_out={out}", "--num_runs=2")
    rows = as_profile(out, model).measurements
    assert sorted(m.ops for m in rows) == [(0,), (1,), (2,), (3,)]
    assert all(m.device == "host" and m.seconds.runs == 2 and m.source is None for m in rows)


def test_report_says_what_ran_where_and_how_long(tmp_path):
    result = report(_RESIDUAL, tmp_path, "--num_runs=20", "--warmup_runs=3", "--num_threads=2")
    assert result["larq_engine"] == larq_engine.__version__
    assert Path(result["litert"]).samefile(_LITERT)
    assert result["machine"]["kernels"] == kernel_rows()
    assert result["machine"]["isas"][0] == "portable"
    assert result["machine"]["processors"] >= 1 and result["machine"]["cpu"]
    assert result["options"] == {
        "num_threads": 2,
        "kernel": "auto",
        "fuse": True,
        "device": "cpu",
        "placement": "",
    }
    assert result["model"]["bytes"] == _RESIDUAL.stat().st_size
    assert result["model"]["inputs"] == [
        {"name": "input_1", "type": "float32", "shape": [1, 16, 16, 3]}
    ]
    assert result["model"]["outputs"] == [{"name": "dense", "type": "float32", "shape": [1, 10]}]
    parts = [result["init"][key] for key in ("library_ms", "model_ms", "compile_ms")]
    assert result["init"]["total_ms"] == pytest.approx(sum(parts)) and min(parts) > 0
    assert result["first_ms"] > 0
    assert result["warmup"]["runs"] == 3
    times = result["inference"]
    assert times["runs"] == 20
    order = [times[key] for key in ("min_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "max_ms")]
    assert order == sorted(order) and times["min_ms"] <= times["mean_ms"] <= times["max_ms"]
    memory = result["memory"]
    assert 0 < memory["before_init_bytes"] < memory["after_init_bytes"] <= memory["peak_bytes"]
    assert "ops" not in result and "checks" not in result


def test_runs_go_on_for_min_secs_and_end_at_max_secs(tmp_path):
    assert report(_RESIDUAL, tmp_path, "--min_secs=0.05")["inference"]["runs"] > 1
    limits = ("--num_runs=10000000", "--max_secs=0.05")
    assert 1 <= report(_RESIDUAL, tmp_path, *limits)["inference"]["runs"] < 10000000
    limits = ("--num_runs=3", "--max_secs=0", "--enable_op_profiling")
    result = report(_RESIDUAL, tmp_path, *limits)
    assert (result["inference"]["runs"], result["ops"]["runs"]) == (1, 1)
    assert result["inference"]["mean_ms"] > 0 and result["warmup"]["runs"] == 0


def test_model_without_binarized_operators(tmp_path):
    model = tmp_path / "model.tflite"
    model.write_bytes(two_inputs())
    printed = run(model, "--enable_op_profiling")
    assert "\nkernels       none: no binarized convolution\n" in printed
    assert re.search(r"\n +0  ADD +sum:0 +host +1 ", printed)
    assert re.search(r"\n +1  MUL +product:0 +host +1 ", printed)
    assert re.search(r"\n +host runtime +between operators +1 ", printed)


def test_help_and_kernels():
    done = call("--help")
    assert done.returncode == 0 and "--input_value_files=" in done.stdout
    done = call("--list_kernels")
    assert done.returncode == 0 and done.stdout.split() == kernel_rows()


# ---- Status 2: flags that cannot be meant. Status 1: files missing, damaged or refused. ----------


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "--graph: expected the path of a .tflite file, got none; see --help"),
        (["--graph=a", "--cpus=2"], "expected a flag of --help, got '--cpus=2'"),
        (["--graph=a", "--num_runs=0"], "--num_runs: expected a whole number from 1 to "),
        (
            ["--graph=a", "--num_runs=10000001"],
            "--num_runs: expected a whole number from 1 to 10000000, got '10000001'",
        ),
        (["--graph=a", "--host=tpu"], "--host: expected litert, none or auto, got 'tpu'"),
        (
            ["--graph=a", "--host=none", "--litert=b"],
            "--litert: expected no library beside --host=none, got 'b'",
        ),
        (["--graph=a", "--device=tpu"], "option device: expected cpu, auto, cuda, or cuda:N for "),
        (["--graph=a", "--placement=3:tpu"], "option placement: expected a node's number"),
        (
            ["--graph=a", "--placement=3:cuda"],
            "option placement: node 3 is placed on cuda; set device to cuda as well, or to auto",
        ),
        # No kernels for GPUs are beside the program, wherever it is run.
        (["--graph=a", "--device=cuda"], "device=cuda: expected the kernels for GPUs"),
        (["--graph=a", "--device=cuda", "--host=none"], "device=cuda: expected the kernels for"),
        (["--graph=a", "--kernel=fast"], "option kernel: unknown kernel 'fast'; expected one of "),
        (
            [f"--graph={_RESIDUAL}", f"--litert={_LITERT}", "--save_outputs=y:a"],
            "--save_outputs: expected a tensor out of 0 'dense', got 'y:a'",
        ),
    ],
)
def test_bad_flags(flags, message):
    assert fail(2, *flags).startswith(message)


def test_missing_files(tmp_path):
    litert = f"--litert={_LITERT}"
    absent = tmp_path / "absent"
    assert "No such file" in fail(1, f"--graph={absent}", litert)
    assert "expected a file, got none" in fail(1, f"--graph={tmp_path}", litert)
    assert "No such file" in fail(1, f"--graph={_RESIDUAL}", f"--litert={absent}")
    assert "No such file" in fail(1, f"--graph={_RESIDUAL}", litert, f"--check=0:{absent}")
    short = tmp_path / "short"
    short.write_bytes(bytes(39))
    message = fail(1, f"--graph={_RESIDUAL}", litert, f"--check=0:{short}")
    assert message == f"'{short}': expected the 40 bytes of tensor 'dense', got 39"
    # The error comes before anything is measured, or even read.
    unwritable = ("--graph", str(absent), litert, f"--output_json={absent}/report")
    assert fail(1, *unwritable).startswith(f"'{absent}/report': cannot write the file")


def test_pipes_are_refused_and_not_waited_for(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    graph, litert = f"--graph={_RESIDUAL}", f"--litert={_LITERT}"
    for flags in (
        (f"--graph={pipe}", litert),
        (graph, f"--litert={pipe}"),
        (graph, litert, f"--check=0:{pipe}"),
        (graph, litert, f"--input_value_files=0:{pipe}"),
    ):
        assert fail(1, *flags).endswith(f"'{pipe}': expected a file, got none")


def test_the_library_is_looked_for_beside_the_program(tmp_path):
    program = tmp_path / "larq_benchmark_model"
    shutil.copy(_BINARY, program)
    command = [str(program), f"--graph={_RESIDUAL}", "--host=litert", *_QUICK]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert f"expected LiteRT's library at {tmp_path}/libLiteRt.so or where " in done.stderr
    assert done.stderr.endswith("; name it with --litert=PATH\n")
    (tmp_path / "libLiteRt.so").symlink_to(_LITERT)
    assert subprocess.run(command, capture_output=True, timeout=60).returncode == 0


def test_another_library_is_refused():
    other = larq_engine.delegate_path()
    message = fail(1, f"--graph={_RESIDUAL}", f"--litert={other}")
    assert message.startswith(f"'{other}': expected LiteRT 2.2 or newer, got a library without ")


def test_needs_no_library_but_the_systems():
    listed = subprocess.run(["readelf", "-d", _BINARY], capture_output=True, text=True, check=True)
    needed = {line.split("[")[1][:-1] for line in listed.stdout.splitlines() if "NEEDED" in line}
    names = {name.split(".so")[0] for name in needed}
    assert names <= {"libc", "libm", "libdl", "libpthread", "ld-linux-x86-64", "ld-linux-aarch64"}


# ---- Damaged models ------------------------------------------------------------------------------


def changed(change: Callable[[Any], None]) -> bytes:
    """Builds a valid model with one change: a quantization, a convolution and a sum."""
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(_RESIDUAL.read_bytes(), 0))
    change(model)
    builder = ModelBuilder()
    builder.model, builder.graph = model, model.subgraphs[0]
    return builder.finish(list(builder.graph.inputs), list(builder.graph.outputs))


def quantize(scale: float, zero_point: int) -> Callable[[Any], None]:
    def change(model: Any) -> None:
        tensor = model.subgraphs[0].tensors[0]
        tensor.type = schema.TensorType.INT8
        tensor.quantization = schema.QuantizationParametersT()
        tensor.quantization.scale, tensor.quantization.zeroPoint = [scale], [zero_point]

    return change


def make_splits(model: Any) -> None:
    """Turns the operators of the first kind into SPLIT of two inputs, with their old options."""
    model.operatorCodes[0].deprecatedBuiltinCode = schema.BuiltinOperator.SPLIT
    model.operatorCodes[0].builtinCode = schema.BuiltinOperator.SPLIT
    for operator in model.subgraphs[0].operators:
        if operator.opcodeIndex == 0:
            operator.inputs = operator.inputs[:2]


_CHANGES: dict[str, tuple[Callable[[Any], None], str]] = {
    "rank": (
        lambda model: setattr(model.subgraphs[0].tensors[0], "shapeSignature", [-1] * 9),
        "(#0): expected at most 8 dimensions, got 9; LiteRT's C interface has no room for more",
    ),
    "scale": (quantize(-0.5, 0), "(#0): expected scales of at least 0, got -0.5;"),
    "zero point": (quantize(0.5, 128), "(#0): expected zero points of -128 to 127, got 128"),
    "buffer": (
        lambda model: setattr(model.subgraphs[0].tensors[1], "buffer", 999),
        "(#1): expected a buffer of ",
    ),
    "kind": (
        lambda model: setattr(model.subgraphs[0].operators[0], "opcodeIndex", 99),
        ": expected a kind of ",
    ),
    "absent output": (
        lambda model: setattr(model.subgraphs[0].operators[1], "outputs", [-1]),
        "operator #1: expected a tensor for each output, got one that is absent",
    ),
    "order": (
        lambda model: model.subgraphs[0].operators.reverse(),
        ": expected inputs that are known before it runs, got tensor '",
    ),
    "split": (make_splits, " outputs, got 0 parts; the file is corrupted"),
}


@pytest.mark.parametrize("name", _CHANGES)
def test_what_a_litert_crashes_on(name, tmp_path):
    change, message = _CHANGES[name]
    assert message in fail_on(changed(change), tmp_path)


def test_unchanged_it_runs(tmp_path):
    (tmp_path / "same.tflite").write_bytes(changed(lambda model: None))
    run(tmp_path / "same.tflite")


def test_files_that_are_no_models(tmp_path):
    for content in (b"", b"TFL3", b"not a model at all", bytes(1000)):
        assert "give the content of a .tflite file" in fail_on(content, tmp_path)
    assert fail_on(_RESIDUAL.read_bytes()[:-1000], tmp_path)


def test_the_engines_refusal_is_the_message(tmp_path):
    def change(model: Any) -> None:
        tensors = model.subgraphs[0].tensors
        convolution = next(
            op
            for op in model.subgraphs[0].operators
            if op.customOptions is not None and len(op.inputs) > 1
        )
        tensors[convolution.outputs[0]].shape = [1, 2]

    message = fail_on(changed(change), tmp_path)
    assert message.startswith("LiteRT could not prepare the model: LceBconv2d '")
    assert ": expected " in message


def test_random_damage_ends_with_a_result_or_a_reason(full, rng, tmp_path):
    outcomes: Counter[int] = Counter()
    models = [(_DATA / f"{name}.tflite").read_bytes() for name in _MODELS]
    path = tmp_path / "damaged.tflite"
    for case in range(5000 if full else 150):
        content = bytearray(models[case % len(models)])
        for position in rng.integers(len(content), size=rng.integers(1, 5)):
            content[position] = rng.integers(256)
        path.write_bytes(content)
        done = call(f"--graph={path}", f"--litert={_LITERT}", *_QUICK, limit=limit_work)
        if done.returncode == -signal.SIGXCPU:
            continue
        assert done.returncode in (0, 1), (case, done.stderr)
        assert done.stderr.count("\n") == done.returncode, (case, done.stderr)
        outcomes[done.returncode] += 1
    assert min(outcomes[0], outcomes[1]) > 20, "damage of both sorts was tried"
