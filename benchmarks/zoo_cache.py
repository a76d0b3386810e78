"""The files of whole models for every contender, converted once and kept in .build/zoo.

Each model has a folder. The key beside the files is a hash of everything that they are made from,
so files of an older converter are made anew. Files that need TensorFlow have a key of their own: a
change of our converter costs seconds, not minutes.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.contenders import HERE
from benchmarks.progress import Progress
from benchmarks.zoo import (
    CONVERT_TO_ONNX,
    CONVERT_WITH_LCE,
    ROOT,
    CaseError,
    convert_to_onnx,
    convert_with_lce,
)

FOLDER = ROOT / ".build" / "zoo"

# Sources of the peers' files; LCE's version is in the last one.
PEERS_SOURCES = (
    HERE / "zoo_files.py",
    HERE / "zoo_models.py",
    CONVERT_WITH_LCE,
    HERE / "peers" / "requirements.txt",
)
PACKAGES = ("larq", "larq-zoo", "numpy", "tensorflow-cpu", "tf_keras")
CONVERTER = tuple((ROOT / "larq_engine" / "converter").rglob("*.py"))


def prepare(name: str, progress: Progress) -> Path:
    """Returns the folder with a model's files, all but LCE's and ONNX'; makes those that are stale.

    Raises:
        CaseError: The model could not be converted.
    """
    files = FOLDER / name
    files.mkdir(parents=True, exist_ok=True)
    with _made_once(files, "peers", fingerprint(PEERS_SOURCES)) as stale:
        if stale:
            _make_peers_files(name, files, progress)
    with _made_once(files, "larq_engine", fingerprint([*PEERS_SOURCES, *CONVERTER])) as stale:
        if stale:
            from larq_engine import convert_tflite

            progress.say(f"converting {name}", "larq_engine.tflite")
            # The benchmark compares the outputs with Keras', so there is no check here.
            converted = convert_tflite(files / "float.tflite", check=False)
            (files / "larq_engine.tflite").write_bytes(converted)
    return files


def prepare_lce(name: str, progress: Progress) -> Path:
    """Returns the file that LCE's converter makes of a model, after `prepare`.

    Raises:
        CaseError: LCE is not installed, or its converter failed.
    """
    files = FOLDER / name
    with _made_once(files, "lce", fingerprint(PEERS_SOURCES)) as stale:
        if stale:
            progress.say(f"converting {name}", "lce.tflite")
            convert_with_lce(name, files / "weights.npz", files / "lce.tflite")
    return files / "lce.tflite"


def prepare_onnx(name: str, progress: Progress) -> Path:
    """Returns the folder with a model's float.onnx and int8.onnx, after `prepare`.

    Raises:
        CaseError: The peers are not installed, or a converter failed.
    """
    files = FOLDER / name
    with _made_once(files, "onnx", fingerprint([*PEERS_SOURCES, CONVERT_TO_ONNX])) as stale:
        if stale:
            progress.say(f"converting {name}", "float.onnx, int8.onnx")
            convert_to_onnx(files)
    return files


def fingerprint(sources: Iterable[Path]) -> str:
    """Returns a hash of the files' names and contents, and of the versions of PACKAGES."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        digest.update(f"{package} {importlib.metadata.version(package)}\n".encode())
    for source in sorted(sources):
        content = source.read_bytes()
        digest.update(f"{source.relative_to(ROOT)} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


@contextlib.contextmanager
def _made_once(files: Path, what: str, key: str) -> Iterator[bool]:
    """Tells whether files are stale; the files are fresh after a block that ends without an error.

    The old key goes first, as files that are half-made must not look finished.
    """
    stamp = files / f"{what}.key"
    stale = not stamp.exists() or stamp.read_text() != key
    if stale:
        stamp.unlink(missing_ok=True)
    yield stale
    stamp.write_text(key)


def _make_peers_files(name: str, files: Path, progress: Progress) -> None:
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.zoo_files", name, str(files)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        assert process.stdout
        with process.stdout:
            for step in process.stdout:
                progress.say(f"converting {name}", step.strip())
        status = process.wait()
        if status:
            log.seek(0)
            last = "\n".join(log.read().strip().splitlines()[-15:])
            raise CaseError(f"the process ended with status {status}\n{last}")
