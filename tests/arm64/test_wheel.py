"""Tests the aarch64 wheel in an emulated LiteRT for aarch64.

The tests run LCE's files, and compare QuickNet with its results on this machine.
`tools/run_tests.py arm64-wheel` makes the wheel, installs it into a folder, names that folder in
LARQ_ENGINE_ARM64_PACKAGES and runs these tests.
"""

import functools
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.converter.frameworks import require_keras

_ROOT = Path(__file__).parents[2]
_RUN_MODELS = _ROOT / "tests" / "arm64" / "run_models.py"
_PACKAGES = os.environ.get("LARQ_ENGINE_ARM64_PACKAGES", "")

pytestmark = pytest.mark.skipif(not _PACKAGES, reason="the stage arm64-wheel runs it")

# The CPUs are Armv8.0 in order, Armv8.0 out of order, one with dot products, and one with all that
# QEMU knows.
_CPUS = ("cortex-a53", "cortex-a72", "cortex-a76", "max")

# XNNPACK computes these in a way of its own on each CPU: it adds up the classifier's long products
# in another order, and uses another formula for exponentials. The largest difference seen was 3e-6
# of the largest value.
_XNNPACK_DIFFERS = ("FULLY_CONNECTED", "SOFTMAX")
_TOLERANCE = 1e-5

_TIME_LIMIT = 600  # seconds; an emulated program that hangs must fail


@functools.cache
def _rounds_as_arm() -> bool:
    """Tells whether this machine rounds multiply-adds once, as every 64-bit ARM does.

    All other sums are then equal on both.
    """
    return platform.machine() == "aarch64" or " fma " in Path("/proc/cpuinfo").read_text()


def _emulated(*arguments: str | Path, cpu: str, cwd: Path) -> str:
    """Runs Python that imports from the wheel and from `cwd`; returns what it prints."""
    done = subprocess.run(
        [_ROOT / "tools" / "python_aarch64.sh", *arguments],
        env=os.environ | {"LARQ_ENGINE_QEMU_CPU": cpu, "PYTHONPATH": f"{_PACKAGES}:{cwd}"},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=_TIME_LIMIT,
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.xdist_group("interop")
@pytest.mark.parametrize("cpu", ["cortex-a53", "max"])
def test_lce_files_on_all_kernels(cpu, tmp_path):
    (tmp_path / "tests").symlink_to(_ROOT / "tests")  # hides the rest of the working tree
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", "."]
    chosen = ["-k", "litert", "tests/interop/test_interop.py"]
    printed = _emulated("-m", "pytest", *options, *chosen, cpu=cpu, cwd=tmp_path)
    assert " passed" in printed
    assert "skipped" not in printed


@pytest.fixture(scope="module")
def quicknet(tmp_path_factory):
    """Makes a folder with QuickNet, an image, and the outputs of this machine.

    `whole.tflite` ends with all outputs of the network, and `each.tflite` with those of every
    operator.
    """
    require_keras()
    from benchmarks import zoo_models
    from larq_engine import convert_keras_model
    from larq_engine.converter import schema

    folder = tmp_path_factory.mktemp("quicknet")
    keras_model = zoo_models.build("QuickNet")
    images = zoo_models.draw_images(keras_model)
    zoo_models.prepare(keras_model, images)
    np.save(folder / "image.npy", images[:1])
    converted = convert_keras_model(keras_model, check=False)
    for name, first in (("whole", -3), ("each", 0)):
        model = schema.read(converted)
        model.extra.signatures.clear()
        (graph,) = model.graphs
        graph.outputs[:] = [output for op in graph.ops[first:] for output in op.outputs]
        (folder / f"{name}.tflite").write_bytes(schema.write(model))
    environment = os.environ | {"PYTHONPATH": str(_ROOT)}
    # For float convolutions the plug-in adds in another order than XNNPACK, as it does on x86.
    here = [sys.executable, _RUN_MODELS, folder, "here", "off"]
    subprocess.run(here, env=environment, check=True)
    return folder


@pytest.mark.xdist_group("quicknet")
@pytest.mark.parametrize("cpu", _CPUS)
def test_quicknet_equals_this_machine(quicknet, cpu):
    from larq_engine.converter import schema

    plug_in = _emulated(_RUN_MODELS, quicknet, cpu, "on", cpu=cpu, cwd=quicknet).strip()
    assert plug_in.startswith(_PACKAGES), "not the wheel's"
    for name in ("whole", "each"):
        (graph,) = schema.read((quicknet / f"{name}.tflite").read_bytes()).graphs
        expected = np.load(quicknet / f"{name}.here.npz")
        got = np.load(quicknet / f"{name}.{cpu}.npz")
        assert len(expected.files) == len(got.files) == len(graph.outputs)
        for key, tensor in zip(expected.files, graph.outputs, strict=True):
            _compare(tensor.producer, expected[key], got[key])


def _compare(op, expected, got):
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    what = f"{op.kind} {op.outputs[0].name}"
    if op.custom or (_rounds_as_arm() and op.kind not in _XNNPACK_DIFFERS):
        # Bytes are compared, because -0 is not 0.
        assert got.tobytes() == expected.tobytes(), f"{what}: {np.mean(got != expected)} differ"
    else:
        atol = _TOLERANCE * np.abs(expected).max()
        np.testing.assert_allclose(got, expected, rtol=0, atol=atol, err_msg=what)
