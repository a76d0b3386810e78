"""The part of the package build that pyproject.toml cannot say: the native library from Bazel."""

import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent


class BuildWithLibrary(build_py):
    """Puts liblarq_engine.so beside the Python files, in the tree itself if that is installed."""

    def run(self) -> None:
        super().run()
        bash = shutil.which("bash")
        if bash is None:
            sys.exit("error: the native library is built by a bash script, and there is no bash.")
        parent = ROOT if self.editable_mode else Path(self.build_lib)
        # Warnings of a compiler newer than ours must not keep a user from installing.
        command = [bash, ROOT / "tools" / "build_library.sh", parent / "larq_engine"]
        if subprocess.run([*command, "--config=package"], check=False).returncode:
            sys.exit("error: building the native library failed; the reason is above.")
        # No server may outlive the temporary folder that pip often builds in.
        subprocess.run([bash, ROOT / "tools" / "run_bazel.sh", "shutdown"], check=True)


class PlatformWheel(bdist_wheel):
    """One wheel per platform serves every Python: the library knows nothing of Python."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class NativeDistribution(Distribution):
    def has_ext_modules(self) -> bool:
        return True


setup(
    cmdclass={"bdist_wheel": PlatformWheel, "build_py": BuildWithLibrary},
    distclass=NativeDistribution,
    # The default, build/, is the same name as BUILD where file names ignore case (macOS, Windows).
    options={"build": {"build_base": ".build"}},
)
