"""Tests what a user is told of GPUs, or of the reason why there is none, in separate processes."""

import os
import shutil
import subprocess
import sys

import pytest

_GPU = "Fake H200, compute capability 9.0, 132 multiprocessors, driver for CUDA 1"


def _about(**variables):
    command = [sys.executable, "-m", "larq_engine", "about"]
    environment = {**os.environ, **variables}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return [line for line in done.stdout.splitlines() if line.startswith("cuda")]


def test_gpus(driver):
    lines = _about(FAKE_CUDA_DEVICES="2")
    assert [line.partition(_GPU)[0] for line in lines] == ["cuda:0: ", "cuda:1: "]


@pytest.mark.parametrize(("chip", "is_guessed"), [("80", True), ("90", False), ("120", True)])
def test_chips_that_nobody_measured(chip, is_guessed, driver):
    (line,) = _about(FAKE_CUDA_COMPUTE_CAPABILITY=chip)
    guesses = "kernels and devices are chosen by guesses (times were measured on compute "
    assert line.endswith(f", {guesses}capability 9.0 only)") == is_guessed
    some = ", some times for device=auto are guesses: copies by several threads, operators that"
    assert (some in line) != is_guessed


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        (
            {"FAKE_CUDA_VERSION": "11040"},
            "cuda: none: expected NVIDIA's driver for CUDA 12.0 or newer, got one for CUDA 11.4: "
            "update the driver",
        ),
        ({"FAKE_CUDA_DEVICES": "0"}, "cuda: none: cuInit: CUDA_ERROR_NO_DEVICE (100): "),
    ],
)
def test_what_is_missing(variables, said, driver):
    (line,) = _about(**variables)
    assert line.startswith(said)


def test_no_kernels_beside_the_plug_in(tmp_path):
    alone = shutil.copy(os.environ["LARQ_ENGINE_LIBRARY"], tmp_path)
    (line,) = _about(LARQ_ENGINE_LIBRARY=str(alone))
    assert line.startswith(f"cuda:0: none: expected the kernels for GPUs at '{tmp_path}/liblarq_")
