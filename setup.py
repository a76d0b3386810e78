"""Builds what pyproject.toml cannot describe: the native library, by Bazel, and the package page.

A wheel is for this machine, or for the platform of --plat-name (see tools/make_wheels.sh).
"""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
sys.path.append(str(ROOT / "tools"))

import package_page  # noqa: E402 - it is in tools/
import sbom  # noqa: E402

VERSION = (ROOT / "larq_engine" / "version.txt").read_text().strip()

# The tags of wheels for other systems, and the Bazel configuration that builds their library. Each
# tag is the oldest system for which the compiler makes programs.
OTHER_SYSTEMS = {"macosx_11_0_arm64": "macos_arm64", "win_amd64": "windows_x86_64"}

# A test that makes a wheel sets this variable, so that Bazel uses the objects of other tests again.
WARNINGS_ARE_ERRORS = "LARQ_ENGINE_WARNINGS_ARE_ERRORS"

# Tag of wheels for all of Linux, without the machine. It is auditwheel's name of glibc 2.28.
MANYLINUX = "manylinux_2_28_"

# Debian's compiler for WebAssembly, and its libraries: the toolchain names them by these paths.
EMSCRIPTEN = ("/usr/bin/em++", "/usr/share/emscripten/cache/sysroot")

# Machines of these wheels, and the Bazel configuration for each on another machine.
LINUX = {"x86_64": "", "aarch64": "aarch64", "armv7l": "armv7"}


def bazel_flags(plat_name: str) -> list[str]:
    """Returns Bazel's flags for the library in wheels of this platform."""
    flags = ["--config=stripped"]
    # Warnings of a compiler newer than ours must not keep a user from installing.
    if not os.environ.get(WARNINGS_ARE_ERRORS):
        flags.append("--config=package")
    if plat_name.startswith("manylinux"):
        machine = plat_name.removeprefix(MANYLINUX)
        if machine not in LINUX:
            tags = ", ".join(MANYLINUX + known for known in LINUX)
            sys.exit(f"error: --plat-name: expected one of {tags}, got {plat_name}")
        flags.append("--config=manylinux")
        if machine != platform.machine():
            if platform.machine() != "x86_64":
                sys.exit(
                    f"error: --plat-name: {plat_name} cannot be built on {platform.machine()}; "
                    "use an x86_64 machine, which makes all wheels"
                )
            flags.append(f"--config={LINUX[machine]}")
    elif plat_name in OTHER_SYSTEMS:
        flags.append(f"--config={OTHER_SYSTEMS[plat_name]}")
    return flags


def add_engine_for_browsers(bash: str, package: Path, environment: dict[str, str]) -> None:
    """Builds what `larq-engine export-web` writes into pages, if the compiler for it is here.

    Without npm's packages its scripts are not bundled, and the script says so.
    """
    if not all(map(os.path.exists, EMSCRIPTEN)):
        print("note: Debian's emscripten is missing; `larq-engine export-web` will lack its engine")
        return
    copy = [ROOT / "tools" / "copy_web_engine.sh", package / "web_export" / "engine"]
    for command in ([ROOT / "tools" / "build_web.sh"], copy):
        if subprocess.run([bash, *command], check=False, env=environment).returncode:
            print("note: `larq-engine export-web` will lack its engine; the reason is above")
            return


class BuildWithLibrary(build_py):
    """Puts the plug-in beside the Python files; for an editable install, in the source tree."""

    def run(self) -> None:
        super().run()
        bash = shutil.which("bash")
        if bash is None:
            sys.exit("error: the native library is built by a bash script, and there is no bash.")
        parent = ROOT if self.editable_mode else Path(self.build_lib)
        command = [bash, ROOT / "tools" / "build_library.sh", parent / "larq_engine"]
        flags = bazel_flags(self.get_finalized_command("bdist_wheel").plat_name)
        # Bazel's server must not outlive the temporary folder in which pip often builds. It is shut
        # down below; if somebody kills pip before, it ends soon by itself.
        environment = {**os.environ, "BAZEL_STARTUP": "--max_idle_secs=15"}
        try:
            if subprocess.run([*command, *flags], check=False, env=environment).returncode:
                sys.exit("error: building the native library failed; the reason is above.")
            add_engine_for_browsers(bash, parent / "larq_engine", environment)
        finally:
            shutdown = [bash, ROOT / "tools" / "run_bazel.sh", "shutdown"]
            subprocess.run(shutdown, check=False, env=environment)


class PlatformWheel(bdist_wheel):
    """One wheel per platform serves every Python: the library knows nothing of Python."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]

    def write_wheelfile(self, wheelfile_base: str, *rest: str) -> None:
        """Adds the bill of materials of the libraries, once all files of the wheel are there."""
        super().write_wheelfile(wheelfile_base, *rest)
        wheel = Path(wheelfile_base).parent
        if wheel != Path(self.bdist_dir):
            return  # an editable install leaves the files where they are
        text = sbom.sbom_text(wheel / "larq_engine", self.distribution.get_version())
        folder = Path(wheelfile_base) / "sboms"
        folder.mkdir()
        (folder / sbom.FILE_NAME).write_text(text)


class NativeDistribution(Distribution):
    def has_ext_modules(self) -> bool:
        return True


setup(
    cmdclass={"bdist_wheel": PlatformWheel, "build_py": BuildWithLibrary},
    distclass=NativeDistribution,
    version=VERSION,
    long_description=package_page.long_description(
        (ROOT / "README.md").read_text(), package_page.PROJECT_URL, VERSION
    ),
    long_description_content_type="text/markdown",
    project_urls=package_page.project_urls(package_page.PROJECT_URL, VERSION),
    # The default, build/, is the same name as BUILD where file names ignore case (macOS, Windows).
    options={"build": {"build_base": ".build"}},
)
