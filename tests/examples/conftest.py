"""Fixtures for programs in C and C++."""

import shutil
from pathlib import Path

import pytest

import larq_engine

_SOURCES = Path(__file__).parents[2] / "larq_engine"
_HEADERS = ("larq_engine.h", "larq_engine_model.h", "larq_engine_model.hpp", "litert_abi.h")


@pytest.fixture
def installed(tmp_path):
    """Copies of the package what a wheel has for C and C++ programs, without the rest."""
    package = tmp_path / "installed" / "larq_engine"
    (package / "runtime").mkdir(parents=True)
    shutil.copytree(_SOURCES / "cmake", package / "cmake")
    for header in _HEADERS:
        shutil.copy(_SOURCES / "runtime" / header, package / "runtime")
    shutil.copy(_SOURCES / "version.txt", package)
    (package / "liblarq_engine.so").symlink_to(larq_engine.delegate_path())
    return package
