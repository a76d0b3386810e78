"""Makes a release and checks it: `make release` writes dist/release-VERSION.

The folder has the wheels, the source archive, SHA256SUMS, and provenance.json, which says what was
built, from which commit and with what. Nothing is left in it unless all checks passed:
  - the tree is a commit, and CHANGELOG.md knows the version;
  - the project has an address (tools/package_page.py), and PyPI would take the packages' pages;
  - build tools are pinned to one version and to the hashes of their files (PINS);
  - the programs need no newer glibc than the wheels do (tools/check_program.py);
  - wheels are what their tags say (tools/check_wheel.py), and their SBOMs are valid CycloneDX that
    names the libraries' own hashes;
  - the source archive builds a wheel with the same Python files;
  - conda's recipe can be rendered, and requires what the wheel requires;
  - each Python of PYTHONS installs the wheel into an environment of its own, and runs a model.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import provenance

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tools"))

import check_program  # noqa: E402 - it is in tools/
import package_page  # noqa: E402

HERE = Path(__file__).parent
# Pins of the packages that build Python's files, and of the compilers that setup.sh installs.
BUILD_PINS = HERE / "build.txt"
PINS = (BUILD_PINS, HERE / "cuda.txt", HERE / "zig.txt")
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
LIBRARIES = (".so", ".dll", ".dylib")
SBOM = "/sboms/larq_engine.cdx.json"
# A program for devices without Python, and the machines that it is released for.
PROGRAM = "larq_benchmark_model"
PROGRAM_MACHINES = ("x86_64", "aarch64")


class CheckError(Exception):
    """An error for a check that did not pass."""


def run(*command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    """Returns the output of a command, and shows it if the command fails."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=os.environ | (env or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise CheckError(f"'{' '.join(map(str, command))}' failed:\n{done.stdout[-4000:]}")
    return done.stdout


def say(text: str) -> None:
    print(f"release: {text}", flush=True)


def check_tree(version: str) -> str:
    """Checks that the tree is a commit for this version; returns the commit."""
    changed = run("git", "status", "--porcelain")
    if changed:
        raise CheckError(f"expected a tree without changes, got:\n{changed}commit them first")
    heading = f"\n## {version}"
    if heading not in (ROOT / "CHANGELOG.md").read_text():
        raise CheckError(f"CHANGELOG.md: expected a section '{heading.strip()}'; write it first")
    if f"{heading}, not yet released" in (ROOT / "CHANGELOG.md").read_text():
        say(f"CHANGELOG.md says that {version} is not yet released; give it a date to publish it")
    return run("git", "rev-parse", "HEAD").strip()


def check_address(url: str) -> None:
    """Checks that the package's page has absolute links, which are made of the address."""
    if not url.startswith("https://"):
        raise CheckError(
            "tools/package_page.py: expected PROJECT_URL such as 'https://example.org/engine', "
            f"got {url!r}; links of the package's page would lead nowhere"
        )


def unpinned(text: str) -> list[str]:
    """Returns the requirements of a file for pip that lack a single version or a hash."""
    found = []
    for requirement in text.replace("\\\n", " ").splitlines():
        words = requirement.split("#")[0].strip()
        if words and ("==" not in words or "*" in words or "--hash=sha256:" not in words):
            found.append(words.split()[0])
    return found


def make_environment(folder: Path) -> Path:
    """Makes an environment with pinned tools that build and check; returns its Python."""
    for pins in PINS:
        loose = unpinned(pins.read_text())
        if loose:
            raise CheckError(f"{pins.name}: expected one version and hashes for each, not {loose}")
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", BUILD_PINS)
    return python


def build_wheel(python: Path, source: Path, out: Path, platform_tag: str) -> Path:
    run(
        *(python, "-m", "pip", "wheel", ".", "--quiet", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", out, f"--config-settings=--build-option=--plat-name={platform_tag}"),
        cwd=source,
    )
    [wheel] = out.glob(f"*{platform_tag}.whl")
    return wheel


def build_program(machine: str, version: str, out: Path) -> Path:
    """Builds the program for a machine and checks what it needs."""
    other = [] if machine == platform.machine() else [f"--config={machine}"]
    label = f"larq_engine/benchmark_model:{PROGRAM}"
    run(ROOT / "tools" / "run_bazel.sh", "build", "--config=manylinux", *other, f"//{label}")
    built = ROOT / "bazel-bin" / label.replace(":", "/")
    problems = check_program.program_problems(machine, built)
    if problems:
        raise CheckError(f"{PROGRAM} for {machine}: {'; '.join(problems)}")
    return Path(shutil.copy(built, out / f"{PROGRAM}-{version}-linux_{machine}"))


def check_sbom(python: Path, wheel: Path) -> None:
    """Checks that the SBOM is valid, is of this wheel, and has each library by its hash."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(SBOM)]
        if len(names) != 1:
            raise CheckError(f"{wheel.name}: expected one {SBOM[1:]}, got {names}")
        text = archive.read(names[0]).decode()
        libraries = {
            name: hashlib.sha256(archive.read(name)).hexdigest()
            for name in archive.namelist()
            if name.endswith(LIBRARIES)
        }
    listed = {
        component["name"]: component["hashes"][0]["content"]
        for component in json.loads(text)["components"]
        if component["type"] == "file"
    }
    if listed != libraries:
        raise CheckError(f"{wheel.name}: expected an SBOM of {libraries}, got one of {listed}")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(text)
        file.flush()
        run(python, HERE / "check_cyclonedx.py", file.name)


def check_recipe(python: Path, version: str, wheel: Path) -> None:
    """Checks that conda's recipe can be read, and requires what the wheel requires."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = archive.read(name).decode()
    lines = [line for line in metadata.splitlines() if line.startswith("Requires-")]
    fields = (line.split(": ", 1) for line in lines if "extra ==" not in line)
    needs = [f"python{value}" if "Python" in field else value for field, value in fields]
    run(python, HERE / "check_recipe.py", HERE / "conda" / "recipe.yaml", version, *needs)


def check_source(python: Path, archive: Path, wheel: Path, work: Path, platform_tag: str) -> None:
    """Checks that the source archive builds what the tree builds."""
    shutil.unpack_archive(archive, work)
    [source] = work.iterdir()
    built = build_wheel(python, source, work / "built", platform_tag)

    def files(path: Path) -> dict[str, bytes]:
        with zipfile.ZipFile(path) as opened:
            names = [
                name
                for name in opened.namelist()
                if not name.endswith((*LIBRARIES, SBOM, "RECORD"))
            ]
            return {name: opened.read(name) for name in names}

    ours, its = files(wheel), files(built)
    differ = sorted(name for name in ours.keys() | its.keys() if ours.get(name) != its.get(name))
    if differ:
        raise CheckError(f"{archive.name}: its wheel differs from the tree's in {differ[:10]}")


def describe_compiler(name: str) -> tuple[str, str]:
    """Returns a compiler's own description, and the hash of the program that compiles."""
    compiles = Path(run(name, "-print-prog-name=cc1plus").strip())
    return run(name, "--version").splitlines()[0], hashlib.sha256(compiles.read_bytes()).hexdigest()


def find_python(version: str) -> Path | None:
    """Finds a Python by name, or in pyenv, whose own programs of that name may refuse to run."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    named = shutil.which(f"python{version}")
    candidates = [Path(named)] if named else []
    candidates += sorted((root / "versions").glob(f"{version}.*/bin/python"), reverse=True)
    for candidate in candidates:
        if not subprocess.run([candidate, "-c", "import venv"], capture_output=True).returncode:
            return candidate
    return None


def try_wheel(interpreter: Path, wheel: Path, folder: Path) -> str:
    """Installs the wheel as users do and runs a model; returns the model's answer."""
    run(interpreter, "-m", "venv", folder)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", f"{wheel}[litert]")
    # It runs elsewhere, so that the tree's own package is not found. LiteRT's remarks come first.
    said = run(python, HERE / "try_wheel.py", cwd=folder, env={"PYTHONPATH": ""})
    return said.strip().splitlines()[-1]


def sums(files: Iterable[Path]) -> str:
    """Returns the hashes of files as `sha256sum --check` reads them."""
    return "".join(
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(files)
    )


def wheel_tags() -> dict[str, str]:
    """Returns tags by machine or system. 64-bit ARM has no compiler for other Linux machines."""
    linux = ["aarch64"] if platform.machine() == "aarch64" else ["x86_64", "aarch64", "armv7l"]
    return {machine: f"manylinux_2_28_{machine}" for machine in linux} | {
        "macOS": "macosx_11_0_arm64",
        "Windows": "win_amd64",
    }


def release(pythons: list[str], work: Path) -> Path:
    version = (ROOT / "larq_engine" / "version.txt").read_text().strip()
    check_address(package_page.PROJECT_URL)
    commit = check_tree(version)
    os.environ["SOURCE_DATE_EPOCH"] = run("git", "log", "-1", "--format=%ct").strip()
    missing = [name for name in pythons if find_python(name) is None]
    if missing:
        raise CheckError(
            f"expected Python {', '.join(missing)}; install it, or leave it out: PYTHONS=..."
        )

    say("an environment of what builds, by hashes")
    python = make_environment(work / "environment")
    out = work / "out"
    out.mkdir()
    say("the source archive")
    run(python, "-m", "build", "--sdist", "--no-isolation", "--outdir", out)
    [archive] = out.glob("*.tar.gz")
    wheels = {}
    for machine, tag in wheel_tags().items():
        say(f"the wheel for {machine}")
        wheels[machine] = build_wheel(python, ROOT, out, tag)
        check_sbom(python, wheels[machine])
    programs = []
    for machine in PROGRAM_MACHINES:
        if machine in wheels:
            say(f"{PROGRAM} for {machine}")
            programs.append(build_program(machine, version, out))
    for line in run(
        sys.executable, ROOT / "tools" / "check_wheel.py", *wheels.values()
    ).splitlines():
        say(line)
    run(python, "-m", "twine", "check", "--strict", archive, *wheels.values())
    here = platform.machine()
    run(out / f"{PROGRAM}-{version}-linux_{here}", "--list_kernels")
    check_recipe(python, version, wheels[here])
    say("not run here: conda's recipe, which was rendered but not built")
    say("a wheel from the source archive")
    check_source(python, archive, wheels[here], work / "source", f"manylinux_2_28_{here}")
    for name in pythons:
        interpreter = find_python(name)
        assert interpreter is not None
        said = try_wheel(interpreter, wheels[here], work / f"python{name}")
        say(f"Python {name}: {said}")
    left_out = [name for name in PYTHONS if name not in pythons]
    if left_out:
        say(f"not run: Python {', '.join(left_out)}")
    for machine, stage, what in (("aarch64", "arm64-wheel", "it"), ("armv7l", "arm32", "its C++")):
        if machine in wheels.keys() - {here}:
            runs = f"`tools/run_tests.py {stage}` runs {what} in an emulator"
            say(f"not run here: the wheel for {machine}; {runs}")
    say("not run here: the wheels for macOS and Windows; `tools/run_tests.py windows` runs the C++")

    (out / "SHA256SUMS").write_text(sums(out.iterdir()))
    statement = provenance.statement(
        artifacts=[archive, *wheels.values(), *programs],
        commit=commit,
        version=version,
        pins=PINS,
        compilers=[describe_compiler(name) for name in provenance.compilers(wheels)],
    )
    (out / "provenance.json").write_text(json.dumps(statement, indent=2) + "\n")
    final = ROOT / "dist" / f"release-{version}"
    shutil.rmtree(final, ignore_errors=True)
    final.parent.mkdir(exist_ok=True)
    shutil.copytree(out, final.with_suffix(".partial"))
    final.with_suffix(".partial").rename(final)
    return final


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes a release and checks it.")
    parser.add_argument("--pythons", nargs="+", choices=PYTHONS, default=list(PYTHONS))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="larq_engine_release_") as work:
        try:
            folder = release(arguments.pythons, Path(work))
        except CheckError as error:
            print(f"release: error: {error}", file=sys.stderr)
            return 1
    say(f"made {folder.relative_to(ROOT)}:")
    for file in sorted(folder.iterdir()):
        say(f"  {file.name}: {file.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
