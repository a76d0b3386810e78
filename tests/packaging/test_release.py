"""Tests the promises of `make release` without building: SBOM, pins, sums and provenance."""

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

_ROOT = Path(__file__).parents[2]
_RELEASE = _ROOT / "tools" / "release"


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> tuple[ModuleType, ModuleType, ModuleType]:
    """Returns the modules sbom, make_release and provenance."""
    monkeypatch.syspath_prepend(str(_RELEASE))
    monkeypatch.syspath_prepend(str(_ROOT / "tools"))
    import make_release
    import provenance
    import sbom

    return sbom, make_release, provenance


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Makes files with the marks that compilers leave in libraries."""
    folder = tmp_path / "larq_engine"
    folder.mkdir()
    compiled = b"\0GCC: (Debian 12.2.0-14) 12.2.0\0GCC: (GNU) 9.4.0\0"
    (folder / "liblarq_engine.so").write_bytes(b"\x7fELF" + compiled)
    (folder / "liblarq_engine_cuda.so").write_bytes(b"\x7fELF2\0GCC: (Debian) 12.2.0\0")
    return folder


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_the_sbom_names_what_is_inside(modules, package):
    sbom, _, _ = modules
    text = sbom.sbom_text(package, "1.2.3")
    assert sbom.sbom_text(package, "1.2.3") == text, "the same each time"
    document = json.loads(text)
    assert document["metadata"]["component"]["purl"] == "pkg:pypi/larq-engine@1.2.3"
    parts = {part["bom-ref"]: part for part in document["components"]}
    for name in ("liblarq_engine.so", "liblarq_engine_cuda.so"):
        [found] = parts[f"larq_engine/{name}"]["hashes"]
        assert found == {"alg": "SHA-256", "content": _hash(package / name)}
    inside = {entry["ref"]: set(entry["dependsOn"]) for entry in document["dependencies"]}
    runtimes = {f"{name}@{of}" for name in ("libstdc++", "libgcc") for of in ("9.4.0", "12.2.0")}
    assert inside["larq_engine/liblarq_engine.so"] == runtimes
    assert inside["larq_engine/liblarq_engine_cuda.so"] == {
        "libstdc++@12.2.0",
        "libgcc@12.2.0",
        "libdevice",
    }
    assert inside["pkg:pypi/larq-engine@1.2.3"] == {name for name in parts if "/" in name}
    assert set().union(*inside.values()) == parts.keys()


def test_the_sbom_of_a_wheel_without_kernels_for_gpus(modules, package):
    sbom, _, _ = modules
    (package / "liblarq_engine_cuda.so").unlink()
    assert "cuda" not in sbom.sbom_text(package, "1")


def test_all_that_builds_a_release_is_pinned(modules):
    _, make_release, _ = modules
    assert {pins.stem for pins in make_release.PINS} == {
        file.stem for file in _RELEASE.glob("*.in")
    }
    for pins in make_release.PINS:
        text = pins.read_text()
        assert make_release.unpinned(text) == []
        wanted = pins.with_suffix(".in").read_text()
        for name in re.findall(r"^[\w-]+", wanted, re.MULTILINE):
            assert f"\n{name}==" in f"\n{text}", name


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("build==1.6.1 \\\n    --hash=sha256:00\n", []),
        ("build>=1 \\\n    --hash=sha256:00\n", ["build>=1"]),
        ("build==1.* \\\n    --hash=sha256:00\n", ["build==1.*"]),
        ("# a comment\nbuild==1.6.1\npip==25.3 \\\n    --hash=sha256:00\n", ["build==1.6.1"]),
    ],
)
def test_what_is_not_pinned_is_found(modules, text, found):
    _, make_release, _ = modules
    assert make_release.unpinned(text) == found


def test_a_release_needs_an_address(modules):
    _, make_release, _ = modules
    make_release.check_address("https://example.org/larq_engine")
    for url in ("", "example.org/larq_engine"):
        with pytest.raises(make_release.CheckError, match="expected PROJECT_URL such as"):
            make_release.check_address(url)


def _wheel(modules, package: Path, folder: Path) -> Path:
    sbom, make_release, _ = modules
    wheel = folder / "larq_engine-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for library in package.iterdir():
            archive.write(library, f"larq_engine/{library.name}")
        archive.writestr(
            f"larq_engine-1.dist-info{make_release.SBOM}", sbom.sbom_text(package, "1")
        )
    return wheel


def test_an_sbom_of_other_libraries_is_refused(modules, package, tmp_path):
    _, make_release, _ = modules
    wheel = _wheel(modules, package, tmp_path)
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("larq_engine/liblarq_engine_more.so", b"")
    with pytest.raises(make_release.CheckError, match="expected an SBOM of"):
        make_release.check_sbom(Path(sys.executable), wheel)


def test_sums_are_as_sha256sum_reads_them(modules, package):
    _, make_release, _ = modules
    (package / "SHA256SUMS").write_text(make_release.sums(package.glob("*.so")))
    check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    subprocess.run(check, cwd=package, check=True)
    (package / "liblarq_engine.so").write_bytes(b"other")
    assert subprocess.run(check, cwd=package, check=False).returncode


def test_provenance_names_results_commit_and_pins(modules, package):
    _, make_release, provenance = modules
    statement = provenance.statement(
        artifacts=package.iterdir(),
        commit="0" * 40,
        version="1.2.3",
        pins=make_release.PINS,
        compilers=[make_release.describe_compiler("g++")],
    )
    assert {entry["name"]: entry["digest"]["sha256"] for entry in statement["subject"]} == {
        file.name: _hash(file) for file in package.iterdir()
    }
    built = statement["predicate"]["buildDefinition"]
    assert built["externalParameters"] == {"version": "1.2.3", "commit": "0" * 40}
    commit, compiler, *packages = built["resolvedDependencies"]
    assert commit["digest"] == {"gitCommit": "0" * 40}
    assert re.match(r"g\+\+ .*\d", compiler["name"])
    assert re.fullmatch("[0-9a-f]{64}", compiler["digest"]["sha256"])
    for name in ("setuptools", "ziglang", "nvidia-cuda-nvcc"):
        assert any(package["uri"].startswith(f"pkg:pypi/{name}@") for package in packages)
    assert all(package["annotations"]["sha256 of its files"] for package in packages)
