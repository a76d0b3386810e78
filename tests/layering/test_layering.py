"""Checks the rules of ARCHITECTURE.md about who may depend on whom on the sources.

A rule is a function from sources (path -> text) to a list of violations. Each has two tests: the
repository has no violation, and a made-up source that breaks the rule has one, which shows that the
rule can fail.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOT_FILES = (".bazelrc", ".gitignore", "BUILD", "Makefile", "WORKSPACE", "*.bazel", "*.md", "*.py")
FOLDERS = (".ci", "benchmarks", "docs", "examples", "larq_engine", "tests", "third_party", "tools")

CACHES = ("__pycache__", "node_modules")  # folders that programs fill

Sources = dict[str, str]
Violations = list[str]
Rule = Callable[[Sources], Violations]


def repository() -> Sources:
    """Returns the text of every source, leaving out environments, caches and binary files."""
    paths = [path for pattern in ROOT_FILES for path in ROOT.glob(pattern)]
    paths += [path for folder in FOLDERS for path in _files(ROOT / folder)]
    sources = {}
    for path in paths:
        content = path.read_bytes()
        if b"\0" not in content:
            sources[path.relative_to(ROOT).as_posix()] = content.decode("utf-8")
    return sources


def _files(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.is_symlink() or path.name.startswith(".venv") or path.name in CACHES:
            continue
        if path.is_dir():
            yield from _files(path)
        elif path.suffix not in (".so", ".tflite", ".npz"):
            yield path


# ---- C++ -----------------------------------------------------------------------------------------

# Headers of the C++ library that bring threads, I/O streams or files, which kernels must not use.
NOT_FOR_KERNELS = {
    "atomic",
    "condition_variable",
    "filesystem",
    "fstream",
    "future",
    "iostream",
    "mutex",
    "pthread.h",
    "thread",
    "unistd.h",
}
# A file that is compiled for one ISA must not instantiate inline code of the C++ library: the
# linker keeps one copy for the whole program, and might keep the one that needs that ISA.
FOR_ISA_FILES = {
    "arm_neon.h",
    "cstddef",
    "cstdint",
    "cstring",
    "immintrin.h",
    "wasm_simd128.h",
}

# Files that may include more. Only the system knows the features of this CPU, and memory that
# interpreters share has a lock.
KERNELS_MAY_INCLUDE_TOO = {
    "larq_engine/kernels/isa/cpu_features.cc": ("sys/auxv.h", "sys/syscall.h", "unistd.h"),
    "larq_engine/kernels/common/process_mutex.cc": ("mutex", "pthread.h"),
    "larq_engine/kernels/common/process_mutex.h": ("mutex",),
    "larq_engine/kernels/cuda/device.h": ("cuda_runtime.h",),
    "larq_engine/kernels/cuda/image.cc": ("larq_engine/version.h",),
    "larq_engine/kernels/common/shared_buffer.cc": ("mutex",),
}
# Tests compile this header in place of a GPU, and it runs threads; see the folder's BUILD.
EMULATED_GPU = "larq_engine/kernels/cuda/emulated_gpu.h"

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)


def _includes(sources: Sources, folder: str) -> Iterator[tuple[str, str, bool]]:
    """Yields (path, included name, in quotes) for the C++ files below a folder."""
    for path, text in sources.items():
        if path.startswith(folder) and path.endswith((".h", ".cc", ".cu", ".inc")):
            for bracket, name in _INCLUDE.findall(text):
                yield path, name, bracket == '"'


_GPU_FOLDER = "larq_engine/kernels/cuda/"


# The headers of each family of kernels that the files of its ISAs may include, and those that all
# families' may.
_CONTRACTS = {
    "binary": r"bgemm\w*",
    "bytes": r"byte_product",
    "floats": r"float_(product|vectors)",
    "pixels": r"pixel_ops(_loops|_masks|_rows|_vectors)?",
    "signed_sums": r"signed_sums(_loops|_tables|_vectors)?",
}
_VALUES = r"common/(bits|float_range|operands|round_to_int8)"
_KERNELS_ON_CPUS = {
    "common": ("common",),
    "isa": ("isa",),
    **{family: (family, "common", "isa") for family in _CONTRACTS},
    "layers": ("layers", *_CONTRACTS, "common", "isa"),
}


def folders_of_kernels_include_only_what_is_below_them(sources: Sources) -> Violations:
    violations = []
    for path, name, quoted in _includes(sources, "larq_engine/kernels/"):
        below = _KERNELS_ON_CPUS.get(PurePosixPath(path).parts[2], ())
        allowed = name.startswith(tuple(f"larq_engine/kernels/{folder}/" for folder in below))
        if quoted and not path.startswith(_GPU_FOLDER) and not allowed:
            violations.append(f"{path}: includes {name}")
    return violations


def kernels_include_only_kernels_and_the_standard_library(sources: Sources) -> Violations:
    return [
        f"{path}: includes {name}"
        for path, name, quoted in _includes(sources, "larq_engine/kernels/")
        if name not in KERNELS_MAY_INCLUDE_TOO.get(path, ())
        and path != EMULATED_GPU
        and (
            (quoted and not name.startswith("larq_engine/kernels/"))
            or (not quoted and ("/" in name or name in NOT_FOR_KERNELS))
        )
    ]


def isa_files_include_only_the_contract_and_their_own(sources: Sources) -> Violations:
    violations = []
    for family, contract in _CONTRACTS.items():
        headers = re.compile(rf"larq_engine/kernels/({_VALUES}|{family}/{contract})\.h")
        for isas in ("x86", "arm64", "wasm"):
            own = f"larq_engine/kernels/{family}/{isas}/"
            violations += [
                f"{path}: includes {name}"
                for path, name, quoted in _includes(sources, own)
                if not (
                    headers.fullmatch(name) or name.startswith(own)
                    if quoted
                    else name in FOR_ISA_FILES
                )
            ]
    return violations


def gpu_code_includes_only_its_own(sources: Sources) -> Violations:
    """GPU code shares nothing with the CPU's kernels, as nvcc compiles it as well."""
    return [
        f"{path}: includes {name}"
        for path, name, quoted in _includes(sources, _GPU_FOLDER)
        if path != EMULATED_GPU
        and name not in KERNELS_MAY_INCLUDE_TOO.get(path, ())
        and not (
            name.startswith(_GPU_FOLDER) if quoted else re.fullmatch(r"[a-z_]+|stddef\.h", name)
        )
    ]


def model_file_includes_only_itself_and_the_standard_library(sources: Sources) -> Violations:
    return [
        f"{path}: includes {name}"
        for path, name, quoted in _includes(sources, "larq_engine/model_file/")
        if (quoted and not name.startswith("larq_engine/model_file/"))
        or (not quoted and ("/" in name or name.endswith(".h")))
    ]


def runtime_includes_only_what_is_below_it_and_the_system(sources: Sources) -> Violations:
    ours = (
        "larq_engine/kernels/",
        "larq_engine/model_file/",
        "larq_engine/runtime/",
        "larq_engine/version.h",
    )
    return [
        f"{path}: includes {name}"
        for path, name, quoted in _includes(sources, "larq_engine/runtime/")
        if (quoted and not name.startswith(ours))
        or (not quoted and name.startswith(("tensorflow/", "tflite/", "flatbuffers/")))
    ]


# Numbers and values that operators are made of, wherever a model comes from.
_VALUES_OF_FILES = {
    f"larq_engine/model_file/{name}.h" for name in ("builtin", "element_type", "file_options")
}
# Parts of the runtime that each of its folders may include, and kernels that know of no device.
_KERNELS_WITHOUT_DEVICE = "larq_engine/kernels/common/"
_DEVICES = sorted(
    path.parent.name for path in (ROOT / "larq_engine/runtime").glob("*/*_executor.h")
)
_RUNTIME_INCLUDES = {
    "ops": ("ops/",),
    "plan": (
        "plan/",
        "ops/",
        "engine_options.h",
        "executor.h",
        "memory_report.h",
        "placement_option.h",
        "profile.h",
    ),
    "host": (
        "host/",
        "ops/",
        "plan/",
        "c_calls.h",
        "executors.h",
        "json_string.h",
        "larq_engine.h",
        "printable.h",
        "shared_by_key.h",
        "tflite_abi.h",
    ),
    "model": (
        "model/",
        "ops/",
        "plan/",
        "c_calls.h",
        "engine_options.h",
        "executors.h",
        "json_string.h",
        "larq_engine_model.h",
        "memory_report.h",
        "profile.h",
    ),
    **{
        device: (
            f"{device}/",
            "ops/",
            "plan/program.h",
            "plan/arena.h",
            "engine_options.h",
            "executor.h",
            "profile.h",
            "run_event.h",
            "shared_by_key.h",
            "thread_pool.h",
            "thread_teams.h",
            "usable_cpus.h",
        )
        for device in _DEVICES
    },
}


def _device_code(sources: Sources) -> set[str]:
    """Returns device.h and the headers that include it: a host's compiler does not take them."""
    found = {_GPU_FOLDER + "device.h"}
    while more := {
        path
        for path, name, _ in _includes(sources, _GPU_FOLDER)
        if name in found and path not in found
    }:
        found |= more
    return found


def folders_of_the_runtime_include_only_what_is_below_them(sources: Sources) -> Violations:
    device_code = _device_code(sources)
    violations = []
    for path, name, quoted in _includes(sources, "larq_engine/runtime/"):
        folder = PurePosixPath(path).parts[2]
        if folder not in _RUNTIME_INCLUDES or not quoted:
            continue
        if name.startswith(_KERNELS_WITHOUT_DEVICE):
            allowed = True
        elif name.startswith("larq_engine/kernels/"):
            of_gpu = name.startswith(_GPU_FOLDER)
            allowed = (folder == "cpu" and not of_gpu) or (
                folder == "cuda" and of_gpu and name not in device_code
            )
        elif name.startswith("larq_engine/model_file/"):
            allowed = folder in ("host", "model") or name in _VALUES_OF_FILES
        elif name == "larq_engine/version.h":
            allowed = folder in _DEVICES
        else:
            below = tuple(f"larq_engine/runtime/{part}" for part in _RUNTIME_INCLUDES[folder])
            allowed = name.startswith(below)
        if not allowed:
            violations.append(f"{path}: includes {name}")
    return violations


_DEVICE_NAME = re.compile(
    rf'"({"|".join(_DEVICES)})"|(runtime|kernels)/({"|".join(_DEVICES)})/'
    rf"|\b({'|'.join(device.capitalize() for device in _DEVICES)})(Executor|Segment)"
)


def devices_are_named_in_their_places_only(sources: Sources) -> Violations:
    """Devices are named only in their own folders, in the list of devices and in the options."""
    places = (
        *(
            f"larq_engine/{part}/{device}/"
            for device in _DEVICES
            for part in ("kernels", "runtime")
        ),
        "larq_engine/runtime/accelerator_kinds.cc",
        "larq_engine/runtime/accelerators.cc",
        "larq_engine/runtime/executors.cc",
        "larq_engine/runtime/engine_options.cc",
        "larq_engine/runtime/placement_option.cc",
        "larq_engine/runtime/larq_engine.h",  # this header documents the options
    )
    code = {
        path: text
        for path, text in sources.items()
        if path.startswith(("larq_engine/kernels/", "larq_engine/runtime/"))
        and path.endswith((".h", ".cc"))
    }
    return [
        violation for path, violation in _matches(code, _DEVICE_NAME) if not path.startswith(places)
    ]


_PROGRAM_BESIDE_THE_PLUG_IN = "larq_engine/benchmark_model/"
# These headers bring locales, which double the plug-in's size.
_STREAMS = {"fstream", "iomanip", "iostream", "istream", "locale", "ostream", "regex", "sstream"}


def the_plug_in_includes_no_streams(sources: Sources) -> Violations:
    return [
        f"{path}: includes {name}"
        for path, name, _ in _includes(sources, "larq_engine/")
        if name in _STREAMS and not path.startswith(_PROGRAM_BESIDE_THE_PLUG_IN)
    ]


# ---- Python --------------------------------------------------------------------------------------


def _imports(sources: Sources, folder: str) -> Iterator[tuple[str, str, bool]]:
    """Yields (path, imported module, at import time of the file) for Python files in a folder."""
    for path, text in sources.items():
        if path.startswith(folder) and path.endswith(".py"):
            tree = ast.parse(text, path)
            deferred = {
                inner
                for node in ast.walk(tree)
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
                for inner in ast.walk(node)
            }
            for node in ast.walk(tree):
                for name in _imported_modules(node, path):
                    yield path, name, node not in deferred


def _imported_modules(node: ast.AST, path: str) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        package = PurePosixPath(path).parts[: -node.level] if node.level else ()
        module = ".".join((*package, *([node.module] if node.module else [])))
        return [f"{module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
        return [arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)]
    return []


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


# Packages that take seconds to import, or are missing where models only run.
ON_DEMAND = (
    *("ai_edge_litert", "h5py", "keras", "larq", "larq_engine.keras", "litert_torch", "matplotlib"),
    *("onnx", "tensorflow", "tf_keras", "tflite_runtime", "torch"),
)

# Packages from the top to the bottom, and what each may import beside Python's own library.
MAY_IMPORT = {
    "larq_engine/batch/": (
        "larq_engine.batch",
        "larq_engine.placing.profile_source",
        "larq_engine.python",
        "numpy",
    ),
    "larq_engine/command_line/": ("larq_engine",),
    "larq_engine/converter/": ("larq_engine.converter", "larq_engine.python", "numpy"),
    "larq_engine/exporting/": (
        "larq_engine.converter",
        "larq_engine.exporting",
        "larq_engine.python",
        "numpy",
    ),
    "larq_engine/fpga/": (
        "larq_engine.converter",
        "larq_engine.exporting",
        "larq_engine.fpga",
        "larq_engine.python",
        "numpy",
    ),
    "larq_engine/keras/": ("keras", "larq_engine.keras", "numpy"),
    "larq_engine/micro/": (
        "larq_engine.converter",
        "larq_engine.exporting",
        "larq_engine.micro",
        "larq_engine.python",
        "numpy",
    ),
    "larq_engine/placing/": (
        "larq_engine.placing",
        "larq_engine.python.devices",
        "larq_engine.python.text_table",
        "larq_engine.python.units",
        "larq_engine.python.whole_files",
        "numpy",
    ),
    "larq_engine/profiling/": (
        "larq_engine.converter",
        "larq_engine.placing.profile",
        "larq_engine.placing.profile_file",
        "larq_engine.profiling",
        "larq_engine.python",
        "numpy",
    ),
    "larq_engine/python/": ("larq_engine.python", "numpy", "tqdm"),
    "larq_engine/reporting/": (
        "larq_engine.placing",
        "larq_engine.python.devices",
        "larq_engine.python.text_table",
        "larq_engine.python.units",
        "larq_engine.python.whole_files",
        "larq_engine.reporting",
    ),
    "larq_engine/web_export/": (
        "larq_engine.python",
        "larq_engine.reporting.palette",
        "larq_engine.web_export",
        "numpy",
    ),
}
# Files that may import more: each of these packages has one place.
MAY_IMPORT_TOO = {
    "larq_engine/batch/ray_data.py": ("ray",),
    "larq_engine/batch/ray_serve.py": ("ray", "starlette"),
    "larq_engine/converter/keras.py": ("tensorflow",),
    "larq_engine/converter/keras_rewrites.py": ("tensorflow",),
    "larq_engine/converter/keras_graph_code.py": ("tensorflow",),
    "larq_engine/converter/keras_operators.py": ("tensorflow",),
    "larq_engine/converter/keras_files.py": (
        *("h5py", "keras", "larq", "larq_engine.keras", "tf_keras"),
    ),
    "larq_engine/converter/onnx_reader/evaluating.py": ("onnx",),
    "larq_engine/converter/onnx_reader/file.py": ("onnx",),
    "larq_engine/converter/schema.py": ("ai_edge_litert.schema_py_generated", "flatbuffers"),
    "larq_engine/converter/check_run.py": ("ai_edge_litert.interpreter",),
    "larq_engine/python/accelerator.py": ("ai_edge_litert.environment",),
    "larq_engine/python/frames.py": ("pandas",),
    "larq_engine/converter/torch_reader/packages.py": ("litert_torch", "torch"),
    "larq_engine/fpga/api.py": ("larq_engine.__version__",),
    "larq_engine/micro/api.py": ("larq_engine.__version__",),
    "larq_engine/placing/api.py": ("larq_engine.__version__", "larq_engine.converter.schema"),
    "larq_engine/placing/placed_file.py": ("larq_engine.converter.schema",),
    "larq_engine/placing/profile_source.py": ("larq_engine.profiling.measured_file",),
    "larq_engine/profiling/measured_file.py": ("larq_engine.placing.json_fields",),
    "larq_engine/reporting/png.py": ("matplotlib",),
}


# Users import this package themselves, and Keras with it.
IMPORTS_KERAS = "larq_engine/keras/"


def importing_larq_engine_imports_no_tensorflow(sources: Sources) -> Violations:
    return [
        f"{path}: imports {module} at the top"
        for path, module, at_import in _imports(sources, "larq_engine/")
        if at_import
        and not (
            path.startswith(IMPORTS_KERAS)
            and any(_within(module, package) for package in MAY_IMPORT[IMPORTS_KERAS])
        )
        and any(_within(module, package) for package in ON_DEMAND)
        and not _within(module, "ai_edge_litert.schema_py_generated")
    ]


def python_packages_import_only_what_is_below_them(sources: Sources) -> Violations:
    return [
        f"{path}: imports {module}"
        for folder, packages in MAY_IMPORT.items()
        for path, module, _ in _imports(sources, folder)
        if module.split(".")[0] not in sys.stdlib_module_names
        and not any(_within(module, package) for package in packages + MAY_IMPORT_TOO.get(path, ()))
    ]


def nothing_in_larq_engine_knows_tests_or_benchmarks(sources: Sources) -> Violations:
    python = [
        f"{path}: imports {module}"
        for path, module, _ in _imports(sources, "larq_engine/")
        if _within(module, "tests") or _within(module, "benchmarks")
    ]
    cpp = [
        f"{path}: includes {name}"
        for path, name, _ in _includes(sources, "larq_engine/")
        if name.startswith(("tests/", "benchmarks/"))
    ]
    return python + cpp


# ---- Bazel ---------------------------------------------------------------------------------------

USERS_OF_KERNELS = (
    "//benchmarks",
    "//larq_engine/benchmark_model",
    "//larq_engine/kernels",
    "//larq_engine/runtime",
    "//tests",
)
DEPENDENCIES_OF_RUNTIME = (
    "//larq_engine/kernels",
    "//larq_engine/model_file",
    "//larq_engine/runtime",
    "//larq_engine:version",
)


def _labels(sources: Sources, folder: str, attributes: set[str]) -> Iterator[tuple[str, str]]:
    """Yields (path, label) for every string in these attributes of the BUILD files in a folder."""
    for path, text in sources.items():
        if path.startswith(folder) and PurePosixPath(path).name in ("BUILD", "BUILD.bazel"):
            for keyword in ast.walk(ast.parse(text, path)):  # Starlark's syntax is Python's
                if isinstance(keyword, ast.keyword) and keyword.arg in attributes:
                    for node in ast.walk(keyword.value):
                        if isinstance(node, ast.Constant) and isinstance(node.value, str):
                            yield path, node.value


def _is_in(label: str, packages: tuple[str, ...]) -> bool:
    return any(re.match(re.escape(package) + r"($|[/:])", label) for package in packages)


def kernels_are_visible_to_runtime_tests_and_benchmarks(sources: Sources) -> Violations:
    return [
        f"{path}: visible to {label}"
        for path, label in _labels(
            sources, "larq_engine/kernels/", {"visibility", "default_visibility"}
        )
        if label != "//visibility:private" and not _is_in(label, USERS_OF_KERNELS)
    ]


def runtime_depends_on_what_is_below_it_only(sources: Sources) -> Violations:
    return [
        f"{path}: depends on {label}"
        for path, label in _labels(sources, "larq_engine/runtime/", {"deps", "implementation_deps"})
        if not label.startswith(":") and not _is_in(label, DEPENDENCIES_OF_RUNTIME)
    ]


def devices_are_visible_to_their_list_tests_and_benchmarks(sources: Sources) -> Violations:
    return [
        f"{path}: visible to {label}"
        for device in _DEVICES
        for path, label in _labels(
            sources, f"larq_engine/runtime/{device}/", {"visibility", "default_visibility"}
        )
        if label not in ("//larq_engine/runtime:__pkg__", "//visibility:private")
        and not _is_in(label, ("//benchmarks", "//tests"))
    ]


# ---- All files -----------------------------------------------------------------------------------

_MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:home|root|Users|work)/\w[^\s\"'`)]*")
_ISA_FLAG = re.compile(
    r"(?<![\w-])-m(?:arch|cpu|tune|fpu|neon|sve|sse|avx|popcnt|bmi|lzcnt|fma|f16c|gfni|simd128)\b[\w.=+-]*"
    r"|(?<![\w-])-m(?:sse|avx|bmi)\w+|__attribute__\(\(target|#\s*pragma (?:GCC|clang) target"
)


def _matches(sources: Sources, pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    for path, text in sources.items():
        for number, line in enumerate(text.splitlines(), 1):
            if match := pattern.search(line):
                yield path, f"{path}:{number}: {match.group()}"


def no_file_names_a_folder_of_one_machine(sources: Sources) -> Violations:
    return [violation for _, violation in _matches(sources, _MACHINE_PATH)]


# These folders' tests are run by commands of their own.
_TESTS_APART = ("tests/arm64/", "tests/cuda/")


def files_of_tests_have_names_of_their_own(sources: Sources) -> Violations:
    """Names must differ: pytest imports files by them, as folders of tests are no packages."""
    first: dict[str, str] = {}
    violations = []
    for path in sorted(sources):
        name = PurePosixPath(path).name
        if not re.fullmatch(r"test_\w+\.py", name) or not path.startswith("tests/"):
            continue
        if not path.startswith(_TESTS_APART) and first.setdefault(name, path) != path:
            violations.append(f"{path}: has the name of {first[name]}")
    return violations


# Each of the first describes one board of another maker: its processor, memory and emulator. The
# others compile what is exported for microcontrollers.
_BOARDS = re.compile(r"examples/micro/boards/\w[\w-]*\.mk|(tests|benchmarks)/micro/\w+\.py")


def isa_flags_are_in_build_defs_only(sources: Sources) -> Violations:
    here = Path(__file__).resolve().relative_to(ROOT).as_posix()
    return [
        violation
        for path, violation in _matches(sources, _ISA_FLAG)
        if path not in ("larq_engine/build_defs.bzl", here)
        and not path.endswith(".md")
        and not _BOARDS.fullmatch(path)
    ]


# ---- The tests -----------------------------------------------------------------------------------

# Maps a rule to sources each of which breaks it exactly once.
BROKEN: dict[Rule, list[Sources]] = {
    kernels_include_only_kernels_and_the_standard_library: [
        {"larq_engine/kernels/a.cc": '#include "larq_engine/runtime/step.h"\n'},
        {"larq_engine/kernels/a.h": "#include <thread>\n"},
        {"larq_engine/kernels/floats/x86/a.cc": "  #  include <sys/mman.h>\n"},
    ],
    folders_of_kernels_include_only_what_is_below_them: [
        {"larq_engine/kernels/common/a.h": '#include "larq_engine/kernels/isa/cpu_features.h"\n'},
        {"larq_engine/kernels/floats/a.h": '#include "larq_engine/kernels/binary/bgemm.h"\n'},
        {"larq_engine/kernels/floats/a.cc": '#include "larq_engine/kernels/layers/tap_runs.h"\n'},
        {"larq_engine/kernels/layers/a.cc": '#include "larq_engine/kernels/cuda/image.h"\n'},
        {"larq_engine/kernels/tables/a.cc": '#include "larq_engine/kernels/isa/cpu_features.h"\n'},
    ],
    isa_files_include_only_the_contract_and_their_own: [
        {"larq_engine/kernels/floats/x86/a.cc": '#include "larq_engine/kernels/common/window.h"\n'},
        {"larq_engine/kernels/floats/x86/a.cc": '#include "larq_engine/kernels/floats/table.h"\n'},
        {"larq_engine/kernels/floats/x86/a.cc": '#include "larq_engine/kernels/bytes/x86/b.h"\n'},
        {"larq_engine/kernels/floats/x86/a.cc": "#include <algorithm>\n#include <immintrin.h>\n"},
    ],
    gpu_code_includes_only_its_own: [
        {"larq_engine/kernels/cuda/a.h": '#include "larq_engine/kernels/common/bits.h"\n'},
        {"larq_engine/kernels/cuda/a.cu": "#include <cub/cub.cuh>\n"},
    ],
    model_file_includes_only_itself_and_the_standard_library: [
        {"larq_engine/model_file/a.cc": '#include "larq_engine/kernels/common/bits.h"\n'},
        {"larq_engine/model_file/a.h": '#include "larq_engine/runtime/tflite_abi.h"\n'},
        {"larq_engine/model_file/a.cc": "#include <unistd.h>\n"},
    ],
    runtime_includes_only_what_is_below_it_and_the_system: [
        {"larq_engine/runtime/a.cc": '#include "tensorflow/lite/core/c/common.h"\n'},
        {"larq_engine/runtime/a.h": "#include <tflite/core/c/common.h>\n"},
        {"larq_engine/runtime/a.h": '#include "larq_engine/python/a.h"\n'},
    ],
    folders_of_the_runtime_include_only_what_is_below_them: [
        {"larq_engine/runtime/ops/a.cc": '#include "larq_engine/runtime/cpu/step.h"\n'},
        {"larq_engine/runtime/ops/a.h": '#include "larq_engine/runtime/plan/program.h"\n'},
        {"larq_engine/runtime/ops/a.h": '#include "larq_engine/kernels/layers/bconv2d.h"\n'},
        {"larq_engine/runtime/plan/a.cc": '#include "larq_engine/runtime/cpu/step.h"\n'},
        {"larq_engine/runtime/plan/a.cc": '#include "larq_engine/runtime/executors.h"\n'},
        {"larq_engine/runtime/plan/a.cc": '#include "larq_engine/kernels/pixels/pixel_ops.h"\n'},
        {"larq_engine/runtime/plan/a.cc": '#include "larq_engine/model_file/walk.h"\n'},
        {"larq_engine/runtime/host/a.cc": '#include "larq_engine/runtime/cpu/step.h"\n'},
        {"larq_engine/runtime/host/a.cc": '#include "larq_engine/kernels/binary/select.h"\n'},
        {"larq_engine/runtime/cpu/a.cc": '#include "larq_engine/runtime/cuda/stream.h"\n'},
        {"larq_engine/runtime/cpu/a.cc": '#include "larq_engine/runtime/plan/plan.h"\n'},
        {"larq_engine/runtime/cpu/a.cc": '#include "larq_engine/kernels/cuda/image.h"\n'},
        {"larq_engine/runtime/cuda/a.cc": '#include "larq_engine/kernels/binary/bgemm.h"\n'},
        {"larq_engine/runtime/cuda/a.cc": '#include "larq_engine/kernels/cuda/device.h"\n'},
        {
            "larq_engine/runtime/cuda/a.cc": '#include "larq_engine/kernels/cuda/b.h"\n',
            "larq_engine/kernels/cuda/b.h": '#include "larq_engine/kernels/cuda/c.h"\n',
            "larq_engine/kernels/cuda/c.h": '#include "larq_engine/kernels/cuda/device.h"\n',
        },
    ],
    devices_are_named_in_their_places_only: [
        {"larq_engine/runtime/plan/a.cc": 'if (device == "cpu") return;\n'},
        {"larq_engine/runtime/host/a.cc": '#include "larq_engine/runtime/cuda/driver.h"\n'},
        {"larq_engine/runtime/engine.cc": "executors.push_back(CpuExecutor());\n"},
        {"larq_engine/runtime/ops/a.cc": '#include "larq_engine/kernels/cuda/image.h"\n'},
        {"larq_engine/kernels/a.h": '#include "larq_engine/kernels/cuda/image.h"\n'},
    ],
    the_plug_in_includes_no_streams: [
        {"larq_engine/kernels/a.cc": "#include <iostream>\n"},
        {"larq_engine/runtime/a.h": "#include <sstream>\n"},
    ],
    importing_larq_engine_imports_no_tensorflow: [
        {"larq_engine/python/a.py": "import tensorflow as tf\n"},
        {"larq_engine/testing.py": "if True:\n    from tensorflow import lite\n"},
        {"larq_engine/a.py": "import importlib\nX = importlib.import_module('tensorflow.lite')\n"},
        {"larq_engine/converter/keras_files.py": "import tf_keras\n"},
        {"larq_engine/converter/torch_reader/packages.py": "import torch\n"},
        {"larq_engine/converter/keras_files.py": "import larq_engine.keras\n"},
        {"larq_engine/keras/layers.py": "import tensorflow as tf\n"},
        {"larq_engine/converter/a.py": "from ai_edge_litert import interpreter\n"},
        {"larq_engine/converter/onnx_reader/file.py": "import onnx\n"},
    ],
    python_packages_import_only_what_is_below_them: [
        {"larq_engine/python/a.py": "from larq_engine.converter import schema\n"},
        {"larq_engine/python/a.py": "def f():\n    from ai_edge_litert import interpreter\n"},
        {"larq_engine/converter/a.py": "def f():\n    from larq_engine import command_line\n"},
        {"larq_engine/converter/a.py": "def f():\n    import tensorflow as tf\n"},
        {"larq_engine/converter/a.py": "from flatbuffers import flexbuffers\n"},
        {"larq_engine/converter/onnx_reader/reader.py": "def f():\n    import onnx\n"},
        {"larq_engine/converter/keras.py": "def f():\n    import larq\n"},
        {"larq_engine/converter/torch_reader/signs.py": "def f():\n    import torch\n"},
        {"larq_engine/converter/schema.py": "from ai_edge_litert import interpreter\n"},
        {"larq_engine/batch/a.py": "def f():\n    import ray\n"},
        {"larq_engine/batch/a.py": "from larq_engine.converter import schema\n"},
        {"larq_engine/batch/ray_data.py": "import starlette\n"},
        {"larq_engine/command_line/a.py": "import numpy as np\n"},
        {"larq_engine/converter/keras_3.py": "def f():\n    import keras\n"},
        {"larq_engine/keras/layers.py": "from larq_engine.converter import schema\n"},
        {"larq_engine/keras/layers.py": "def f():\n    import tensorflow as tf\n"},
        {"larq_engine/converter/a.py": "from larq_engine.profiling import network\n"},
        {"larq_engine/placing/a.py": "from larq_engine.profiling import network\n"},
        {"larq_engine/placing/a.py": "from larq_engine.python import library\n"},
        {"larq_engine/placing/a.py": "from larq_engine.python.interpreter import Interpreter\n"},
        {"larq_engine/placing/a.py": "def f():\n    from larq_engine import command_line\n"},
        {"larq_engine/profiling/a.py": "def f():\n    from larq_engine import command_line\n"},
        {"larq_engine/profiling/a.py": "import ai_edge_litert.interpreter\n"},
        {"larq_engine/reporting/a.py": "from larq_engine.python import session\n"},
        {"larq_engine/reporting/a.py": "def f():\n    import matplotlib\n"},
    ],
    nothing_in_larq_engine_knows_tests_or_benchmarks: [
        {"larq_engine/python/a.py": "from tests import oracle\n"},
        {"larq_engine/a.py": "def f():\n    import benchmarks.shapes\n"},
        {"larq_engine/runtime/a.cc": '#include "tests/host/mini_host.h"\n'},
    ],
    kernels_are_visible_to_runtime_tests_and_benchmarks: [
        {"larq_engine/kernels/BUILD": 'f(visibility = ["//a:__pkg__", "//tests:__pkg__"])\n'},
        {"larq_engine/kernels/floats/BUILD": 'f(default_visibility = ["//visibility:public"])\n'},
        {"larq_engine/kernels/BUILD": 'f(visibility = ["//larq_engine/runtime_x:b"])\n'},
    ],
    runtime_depends_on_what_is_below_it_only: [
        {"larq_engine/runtime/BUILD": 'f(deps = [":b", "@googletest//:gtest"])\n'},
        {"larq_engine/runtime/BUILD": 'f(deps = ["//tests/host:mini_host"])\n'},
    ],
    devices_are_visible_to_their_list_tests_and_benchmarks: [
        {"larq_engine/runtime/cpu/BUILD": 'f(visibility = ["//larq_engine/runtime/plan:__pkg__"])'},
        {"larq_engine/runtime/cuda/BUILD": 'f(visibility = ["//larq_engine:__subpackages__"])'},
    ],
    no_file_names_a_folder_of_one_machine: [
        {"docs/a.md": "Run it in " + "/".join(("", "home", "ann", "larq")) + ".\n"},
        {"tools/a.sh": "cd " + "/".join(("", "root", "larq")) + "\n"},
    ],
    files_of_tests_have_names_of_their_own: [
        {"tests/a/test_x.py": "", "tests/b/test_x.py": "", "tests/cuda/test_x.py": ""},
    ],
    isa_flags_are_in_build_defs_only: [
        {"larq_engine/kernels/BUILD": 'cc_library(name = "a", copts = ["-mavx2"])\n'},
        {".bazelrc": "build --copt=-march=native\n"},
        {"examples/micro/boards/Makefile": "FLAGS := -mcpu=cortex-m4\n"},
        {"larq_engine/kernels/floats/x86/a.cc": '__attribute__((target("avx2"))) void F() {}\n'},
    ],
}


@pytest.fixture(scope="module")
def sources() -> Sources:
    return repository()


def test_finds_the_sources(sources: Sources) -> None:
    for path in (
        ".bazelrc",
        "Makefile",
        "larq_engine/BUILD",
        "larq_engine/__init__.py",
        "larq_engine/build_defs.bzl",
        "larq_engine/kernels/binary/bgemm.h",
        "larq_engine/runtime/larq_engine.h",
        "tests/layering/test_layering.py",
        "tools/setup.sh",
    ):
        assert path in sources


@pytest.mark.parametrize("rule", BROKEN, ids=lambda rule: rule.__name__)
def test_the_repository_keeps(rule: Rule, sources: Sources) -> None:
    assert rule(sources) == []


@pytest.mark.parametrize(
    ("rule", "broken"),
    [(rule, broken) for rule, cases in BROKEN.items() for broken in cases],
    ids=lambda value: value.__name__ if callable(value) else next(iter(value)),
)
def test_a_breach_is_seen_of(rule: Rule, broken: Sources) -> None:
    assert len(rule(broken)) == 1
