"""Describes the contents of a wheel as a CycloneDX document: its libraries, and their parts.

setup.py puts the document into every wheel, at `*.dist-info/sboms/larq_engine.cdx.json`, where PEP
770 has it. The same libraries give the same document.
"""

import hashlib
import json
import re
import uuid
from pathlib import Path
from typing import Any

FILE_NAME = "larq_engine.cdx.json"

_GPU_KERNELS = "liblarq_engine_cuda.so"
# Libraries that zig compiled, with what it links into them.
_BY_ZIG = {
    "larq_engine.dll": ("libc++", "libc++abi", "compiler-rt", "mingw-w64"),
    "liblarq_engine.dylib": ("libc++", "libc++abi", "compiler-rt"),
}
_LIBRARIES = ("liblarq_engine.so", _GPU_KERNELS, *_BY_ZIG)
_ZIG_LICENSES = {"mingw-w64": "ZPL-2.1"}

# Text that compilers write into their output, and that stays there when it is stripped.
_COMPILER = re.compile(rb"GCC: \([^)]*\) (\d+(?:\.\d+)+)")
_RUNTIME = ("libstdc++", "libgcc")
_RUNTIME_LICENSE = "GPL-3.0-or-later WITH GCC-exception-3.1"


def sbom_text(package: Path, version: str) -> str:
    """Returns the document for the libraries of a folder larq_engine, as in a wheel."""
    libraries = [package / name for name in _LIBRARIES if (package / name).exists()]
    main = f"pkg:pypi/larq-engine@{version}"
    components = [_component(library) for library in libraries]
    inside = {library["bom-ref"]: _linked(library["bom-ref"], package) for library in components}
    linked = {part["bom-ref"]: part for parts in inside.values() for part in parts}
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(components))}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": main,
                "name": "larq-engine",
                "version": version,
                "purl": main,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": [*components, *linked.values()],
        "dependencies": [
            {"ref": main, "dependsOn": list(inside)},
            *(
                {"ref": ref, "dependsOn": [part["bom-ref"] for part in parts]}
                for ref, parts in inside.items()
            ),
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def zig_version() -> str:
    """Returns the version of zig, which `make setup-windows` installs for other systems."""
    [info] = (Path(__file__).parents[1] / ".zig").glob("ziglang-*.dist-info")
    return info.name.removeprefix("ziglang-").removesuffix(".dist-info")


def _component(library: Path) -> dict[str, Any]:
    return {
        "type": "file",
        "bom-ref": f"larq_engine/{library.name}",
        "name": f"larq_engine/{library.name}",
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(library.read_bytes()).hexdigest()}],
        "licenses": [{"license": {"id": "Apache-2.0"}}],
    }


def _linked(name: str, package: Path) -> list[dict[str, Any]]:
    """Returns the compiler's runtime, in the versions that compiled the library's parts."""
    by_zig = _BY_ZIG.get(Path(name).name, ())
    if by_zig:
        version = zig_version()
        return [
            {
                "type": "library",
                "bom-ref": f"{runtime}@zig-{version}",
                "name": runtime,
                "description": f"as zig {version} has it",
                "licenses": [
                    {"expression": _ZIG_LICENSES.get(runtime, "Apache-2.0 WITH LLVM-exception")}
                ],
            }
            for runtime in by_zig
        ]
    content = (package.parent / name).read_bytes()
    parts = [
        {
            "type": "library",
            "bom-ref": f"{runtime}@{version}",
            "name": runtime,
            "version": version,
            "licenses": [{"expression": _RUNTIME_LICENSE}],
        }
        for version in sorted({found.decode() for found in _COMPILER.findall(content)})
        for runtime in _RUNTIME
    ]
    if Path(name).name == _GPU_KERNELS:
        parts.append(
            {
                "type": "library",
                "bom-ref": "libdevice",
                "name": "libdevice",
                "description": "NVIDIA's functions of floats, of the CUDA 13 that compiled kernels",
                "licenses": [
                    {"license": {"name": "NVIDIA CUDA Toolkit End User License Agreement"}}
                ],
            }
        )
    return parts
