"""Packs the plug-in, built for Android, as an Android library: make_aar.py -o larq_engine.aar.

LiteRT looks in an app's libraries for accelerators by the names of their files, and reads one
structure of them. So the library is all that there is in the package; it has no code for Java.
"""

import argparse
import io
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from elf import read_elf  # noqa: E402

from larq_engine.python.whole_files import write_files  # noqa: E402

_BUILT = ROOT / "bazel-bin" / "larq_engine" / "runtime" / "liblarq_engine.so"
_NAME = "jni/arm64-v8a/libLiteRtGpuAccelerator.so"
_MACHINE, _SYMBOL = "AArch64", "LiteRtAcceleratorImpl"
_SYSTEM_LIBRARIES = {"libc.so", "libdl.so", "liblog.so", "libm.so"}
_PAGE = 0x4000  # on devices from Android 15 on

_MANIFEST = """<manifest xmlns:android="http://schemas.android.com/apk/res/android"
    package="larq_engine.accelerator">
    <uses-sdk android:minSdkVersion="21" />
</manifest>
"""
_METADATA = "aarFormatVersion=1.0\naarMetadataVersion=1.0\n"
_METADATA_NAME = "META-INF/com/android/build/gradle/aar-metadata.properties"


def problems(library: Path) -> list[str]:
    """Returns what keeps an app from loading the library."""
    try:
        elf = read_elf(library)
    except ValueError as error:
        return [str(error)]
    found = []
    if elf.machine != _MACHINE:
        found.append(f"machine: expected {_MACHINE}, got {elf.machine}")
    if _SYMBOL not in elf.exports:
        found.append(f"symbols: expected {_SYMBOL}, which LiteRT looks for, got none")
    needed = elf.needed - _SYSTEM_LIBRARIES
    if needed:
        found.append(f"needs {', '.join(sorted(needed))}, which no Android has")
    if min(elf.alignments, default=0) < _PAGE:
        found.append(
            f"segments: expected to lie at multiples of {_PAGE} bytes, got {[*elf.alignments]}"
        )
    return found


def make_aar(library: bytes) -> bytes:
    """Returns the package's bytes, which are the same for the same library."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {
            "AndroidManifest.xml": _MANIFEST.encode(),
            "classes.jar": _empty_archive(),
            "R.txt": b"",
            _METADATA_NAME: _METADATA.encode(),
            _NAME: library,
        }.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def _empty_archive() -> bytes:
    content = io.BytesIO()
    zipfile.ZipFile(content, "w").close()
    return content.getvalue()


def main() -> int:
    """Makes the package; returns 1 if the library is none for Android."""
    parser = argparse.ArgumentParser(prog="make_aar.py", description=__doc__)
    parser.add_argument("library", type=Path, nargs="?", default=_BUILT, help="default: as built")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.aar")
    arguments = parser.parse_args()
    try:
        library = arguments.library.read_bytes()
        found = problems(arguments.library)
        if not found:
            write_files({arguments.output: make_aar(library)})
    except OSError as error:
        found = [str(error)]
    for problem in found:
        print(f"make_aar: error: {arguments.library}: {problem}", file=sys.stderr)
    if not found:
        print(f"{arguments.output}: {arguments.output.stat().st_size} bytes")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
