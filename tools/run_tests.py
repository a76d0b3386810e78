#!/usr/bin/env python3
"""Runs the project's tests, stage by stage, the likeliest failure first.

    tools/run_tests.py quick      what `make test` runs: lint, C++, Python in LiteRT
    tools/run_tests.py rest       what `quick` leaves out
    tools/run_tests.py all        both
    tools/run_tests.py changed    the stages that the paths that differ from main concern
    tools/run_tests.py NAME...    these stages
    tools/run_tests.py --list     the stages, and the paths that each depends on

Sets up first what the stages need (tools/setup.sh) and stops at the first that fails. Ends with
the seconds of each stage, the slowest tests, and what was not run with the command for it.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SLOWEST = 12  # tests in the table at the end
NOT_RUN = 77  # the exit status of a command that could not run here, and has said why
# Seconds since 1970 after which no stage begins, if time is limited, as in CI. A stage that was
# asked for and did not begin makes the run fail.
UNTIL = "LARQ_ENGINE_TEST_UNTIL"
# If the first variable is set, as in CI, a stage that cannot run here makes the run fail, unless
# the second variable names the stage.
REQUIRE_ALL, MAY_LACK = "LARQ_ENGINE_REQUIRE_ALL", "LARQ_ENGINE_MAY_LACK"

# Paths that a stage depends on, as regular expressions.
ANY_FILE = r".*"
BUILD_RULES = (
    r"(.*/)?BUILD$|.*\.bzl$|\.bazelrc$|WORKSPACE$|tests/layering/|third_party/|tools/run_bazel\.sh$"
)
GPU_KERNELS = r"larq_engine/kernels/cuda/"
KERNELS = r"larq_engine/kernels/"
PLUG_IN = r"larq_engine/(runtime|model_file|exports\.lds)"
CPP_TESTS = (
    r"tests/(benchmark_model|common|cuda|fuzz|host|kernels|model_file|runtime)/"
    r".*\.(cc|golden|h|inc|tflite|txt)$"
)
CPP_TOOLS = r"(benchmarks/(arm64|kernels)|larq_engine/benchmark_model)/.*\.(cc|h)$|examples/cpp/"
CPP = (BUILD_RULES, KERNELS, PLUG_IN, CPP_TESTS, CPP_TOOLS)
PYTHON = (r".*\.py$", r"pyproject\.toml$", r"tests/.*/data/")
# Documents, examples, scripts and the contents of wheels, which some tests read.
ANY_DOCUMENT = r".*\.md$"
OTHER_FILES = (
    r"benchmarks/(placing|results|web)/",
    r"docs/(gpu_results/|images/|quicknet/|networks\.json$)",
    r"examples/",
    r"larq_engine/",
    r"tools/",
    ANY_DOCUMENT,
    r"(Makefile|MANIFEST\.in|mkdocs\.yml)$",
    r"\.(ci|github)/",
)
# Documents whose Python blocks run, each in the stage that has what it imports.
DOCUMENTS = (r"README\.md$", r"docs/.*\.md$", r"tests/docs/")
PYTHON_TESTS_NEED = (*CPP, *PYTHON, *OTHER_FILES)

BAZEL = "tools/run_bazel.sh"
# The progress display is for people; in a log it is hundreds of lines.
BAZEL_FLAGS = ["--noshow_progress"] if os.environ.get("CI") else []
BAZEL_TEST = [BAZEL, "test", *BAZEL_FLAGS]
# Builds what Python tests run: the plug-in, the benchmark binary and the C++ example.
BUILD = ["make", "--no-print-directory", "build", "benchmark-binary", "cpp-example"]
PYTEST = [".venv/bin/python", "-m", "pytest", "-q", "-rs", "-n", "auto", "--durations=12"]
FULL = bool(os.environ.get("LARQ_ENGINE_TEST_FULL"))
# In CI, whose time is limited, slow suites run a third of each test's cases, another one each time
# (tests/samples.py).
A_THIRD = {"LARQ_ENGINE_TEST_ONE_IN": "3"} if os.environ.get("CI") else {}
AN_EIGHTH = {"LARQ_ENGINE_TEST_ONE_IN": "8"} if os.environ.get("CI") else {}
# A test that fails if no sanitizer looks.
SANITIZERS = "//tests/common:sanitizers_test"
# The tests that start threads.
THREADS = (
    SANITIZERS,
    *(("//tests/runtime/...",) if FULL else ()),
    "//tests/runtime:allocations_test",
    "//tests/runtime:float_layers_test",
    "//tests/runtime:host_ops_test",
    "//tests/runtime:int8_layers_test",
    "//tests/runtime:thread_pool_test",
    "//tests/runtime:thread_teams_test",
    "//tests/runtime:threads_test",
    "//tests/runtime/cpu/...",
    "//tests/runtime/cuda/...",
    "//tests/runtime/host:delegate_test",
    "//tests/runtime/plan:fused_networks_test",
    "//tests/runtime/plan:mirror_test",
    "//tests/runtime/plan:placed_test",
    "//tests/cuda/...",
    "//tests/kernels/cuda/...",
    "//tests/kernels:shared_buffer_test",
)
# The tests of code that another processor may compute differently, or lay out differently in
# memory: the kernels, the plug-in in a host, hostile files, and random networks.
EMULATED_TESTS = (
    *(("//tests/...",) if FULL else ()),
    "//tests/layering/...",
    "//tests/kernels:bconv2d_test",
    "//tests/kernels:bgemm_test",
    "//tests/kernels:byte_product_test",
    "//tests/kernels:float_conv2d_test",
    "//tests/kernels:float_product_test",
    "//tests/kernels:int8_conv2d_test",
    "//tests/kernels:kernel_rows_test",
    "//tests/kernels:output_transform_test",
    "//tests/kernels:pixel_ops_test",
    "//tests/kernels:pool_test",
    "//tests/kernels:quantize_planes_test",
    "//tests/kernels:signed_bytes_test",
    "//tests/kernels:signed_sums_test",
    "//tests/kernels:select_product_test",
    "//tests/kernels:select_test",
    "//tests/runtime:float_layers_test",
    "//tests/runtime:malformed_test",
    "//tests/runtime:out_of_memory_test",
    "//tests/runtime:tflite_abi_test",
    "//tests/runtime/cpu:step_test",
    "//tests/runtime/host:delegate_test",
    "//tests/runtime/plan:fused_networks_test",
    "//tests/model_file:model_check_test",
    "//tests/fuzz:replay_test",
)
# More tests of sizes that overflow where size_t has 32 bits.
# The contracts of the rows of WebAssembly; the rest of kernels runs in whole models there.
WASM_TESTS = (
    "//tests/kernels:bgemm_test",
    "//tests/kernels:byte_product_test",
    "//tests/kernels:float_product_test",
    "//tests/kernels:kernel_rows_test",
    "//tests/kernels:pixel_ops_test",
    "//tests/kernels:signed_sums_test",
)
OVERFLOW_TESTS = (
    "//tests/kernels:shared_buffer_test",
    "//tests/kernels:window_test",
    "//tests/model_file:clauses_test",
    "//tests/runtime:host_ops_test",
    "//tests/runtime/cpu:fusion_test",
    "//tests/runtime/cpu:segment_layout_test",
    "//tests/runtime/cpu:tile_memory_test",
    "//tests/runtime/ops/...",
    "//tests/runtime/plan:arena_test",
    "//tests/runtime/plan:layout_test",
    "//tests/runtime/plan:planning_test",
)
# Libraries that need NVIDIA's compiler.
HEP_LIBRARIES = (
    "//larq_engine/runtime:liblarq_engine.so",
    "//benchmarks/placing:liblarq_engine_cuda.so",
)
COMPILED_KERNELS = "tests/kernels/cuda/test_compiled_kernels.py"
# A test that needs zig.
OTHER_SYSTEMS = "tests/packaging/test_other_systems.py"
# Tests that need Chromium.
BROWSER = ("tests/docs/test_search_from_files.py", "tests/reporting/test_in_browser.py")
# Tests that need Chromium, Node and the engine for browsers.
WEB_PAGES = ("tests/web_export/test_exported_page.py", "tests/web_export/test_live_page.py")
# Tests that need compilers for microcontrollers.
MICRO = "tests/micro"
# Tests that need simulators of Verilog.
FPGA = "tests/fpga"
# The plug-in with a simulated FPGA as a device.
CHIP_PLUG_IN = "//tests/fpga/device:liblarq_engine_fpga.so"


@dataclass(frozen=True)
class Stage:
    name: str
    about: str
    commands: tuple[list[str], ...]
    paths: tuple[str, ...]
    quick: bool = False
    release: bool = False  # run only before a release, or by its name: CI's time is limited
    setup: str = "base"  # the part of tools/setup.sh that it needs
    environment: dict[str, str] = field(default_factory=dict)


STAGES = (
    Stage(
        "lint",
        "style, types and layering",
        (["tools/lint.sh", "check"],),
        (ANY_FILE,),
        quick=True,
    ),
    Stage(
        "cpp",
        "C++ tests, of what is shipped",
        ([*BAZEL_TEST, "//tests/..."],),
        CPP,
        quick=True,
    ),
    Stage(
        "python",
        "Python tests in LiteRT, without those that need TensorFlow or take long",
        (BUILD, [*PYTEST, "--part=quick", f"--ignore={MICRO}", f"--ignore={FPGA}"]),
        PYTHON_TESTS_NEED,
        quick=True,
    ),
    Stage(
        "clang-tidy",
        "mistakes in the product's C++",
        (["tools/tidy.sh"],),
        (
            r"(larq_engine|examples)/.*\.(cc|h)$",
            r"\.clang-tidy$",
            r"tools/tidy\.sh$",
            r"pyproject\.toml$",
        ),
    ),
    Stage(
        "tensorflow",
        "Python tests with TensorFlow and Keras, and those that take long",
        (
            BUILD,
            [
                *PYTEST,
                "--part=rest",
                *(
                    f"--ignore={path}"
                    for path in (COMPILED_KERNELS, *BROWSER, MICRO, FPGA, *WEB_PAGES)
                ),
            ],
        ),
        (*CPP, *PYTHON, *DOCUMENTS, r"examples/"),
        setup="hosts speech",
        environment=A_THIRD,
    ),
    Stage(
        "tflite-runtime",
        "Python tests in tflite_runtime",
        (BUILD, ["tools/test_tflite_runtime.sh"]),
        (*CPP, r"larq_engine/python/", r"tests/(interop|python)/", r"tests/[^/]*\.py$"),
        setup="hosts",
    ),
    Stage(
        "torch",
        "conversions of PyTorch modules",
        (BUILD, ["tools/test_torch.sh"]),
        (
            *(r"larq_engine/(command_line|converter|python)/", r"tests/[^/]*\.py$"),
            *(r"tests/(corpus|torch)/", r"pyproject\.toml$", r"(tests/)?examples/(test_)?digits"),
            *DOCUMENTS,
        ),
        setup="torch",
        environment=A_THIRD,
    ),
    Stage(
        "keras-backends",
        "larq_engine.keras on JAX and PyTorch",
        (BUILD, ["tools/test_keras_backends.sh"]),
        (
            *(r"larq_engine/keras/", r"larq_engine/converter/keras", r"tests/[^/]*\.py$"),
            *(r"tests/keras/", r"pyproject\.toml$"),
        ),
        setup="keras torch",
        environment=A_THIRD,
    ),
    Stage(
        "ray",
        "data sets and requests in Ray, in processes of this machine",
        (BUILD, ["tools/test_ray.sh"]),
        (
            *(r"larq_engine/(batch|profiling|python)/", r"tests/(batch|ray)/"),
            *(r"pyproject\.toml$", r"docs/scale_out\.md$", r"tests/docs/"),
        ),
        setup="ray",
    ),
    Stage(
        "cuda",
        "kernels for GPUs, compiled for all chips: registers, spills, instructions",
        (
            [
                *[BAZEL, "build", *BAZEL_FLAGS, "//benchmarks/gpu/..."],
                "//larq_engine/kernels/cuda:liblarq_engine_cuda.so",
            ],
            [*PYTEST, COMPILED_KERNELS],
            [BAZEL, "build", *BAZEL_FLAGS, "--config=hep", *HEP_LIBRARIES],
        ),
        (
            *(
                BUILD_RULES,
                GPU_KERNELS,
                r"benchmarks/(gpu|placing)/.*\.(cc|cu|h|inc)$",
                r"pyproject\.toml$",
            ),
            re.escape(COMPILED_KERNELS),
        ),
        setup="cuda",
        environment={"LARQ_ENGINE_REQUIRE_CUDA_COMPILER": "1"},
    ),
    Stage(
        "browser",
        "the report's page, and the site's search, in headless Chromium",
        ([*PYTEST, *BROWSER],),
        (
            *(r"larq_engine/(placing|reporting)/", r"tests/reporting/", re.escape(BROWSER[0])),
            *(
                r"tests/browsers\.py$",
                r"tools/(browser|docs_site)\.py$",
                r"tools/iframe-worker\.js$",
            ),
        ),
        setup="browser",
        environment={"LARQ_ENGINE_REQUIRE_BROWSER": "1"},
    ),
    Stage(
        "web",
        "WebAssembly: rows of kernels, the package for browsers and Node, pages",
        (
            BUILD,
            [*BAZEL_TEST, "--config=wasm", *WASM_TESTS],
            ["tools/test_web.sh"],
            ["make", "--no-print-directory", "web"],
            [*PYTEST, *WEB_PAGES],
        ),
        (
            *(BUILD_RULES, KERNELS, PLUG_IN, r"web/", r"tests/web/", r"tests/[^/]*\.py$"),
            *(r"tests/(converter|corpus|interop|web_export)/", r"tools/\w+_web(_engine)?\.sh$"),
            *(r"larq_engine/web_export/", r"tools/(browser|live_\w+)\.py$"),
            *(r"docs/(browser|export_web)\.md$", r"examples/(keywords\.py$|published/)"),
        ),
        setup="web speech",
        environment={
            "LARQ_ENGINE_REQUIRE_BROWSER": "1",
            "LARQ_ENGINE_REQUIRE_ISA": "portable,simd128",
        },
    ),
    Stage(
        "micro",
        "models exported as C, and examples that train some, on emulated microcontrollers",
        (BUILD, [*PYTEST, MICRO]),
        (
            *(r"examples/(micro|published)/", r"examples/(digits|keywords)\.py$"),
            *(r"larq_engine/(exporting|micro)/", r"tests/[^/]*\.py$", re.escape(MICRO)),
        ),
        setup="micro hosts speech",
        environment={**A_THIRD, "LARQ_ENGINE_REQUIRE_BOARDS": "1"},
    ),
    Stage(
        "fpga",
        "binary layers exported as Verilog, simulated and synthesized",
        (BUILD, [BAZEL, "build", *BAZEL_FLAGS, CHIP_PLUG_IN], [*PYTEST, FPGA]),
        (
            *(
                r"larq_engine/(exporting|fpga|placing|runtime)/",
                r"tests/[^/]*\.py$",
                re.escape(FPGA),
            ),
            r"web/live/\w+\.tflite$",
        ),
        setup="verilog",
        environment={**AN_EIGHTH, "LARQ_ENGINE_REQUIRE_VERILOG": "1"},
    ),
    Stage(
        "fake-gpu",
        "Python tests in LiteRT on an emulated GPU",
        (
            [
                *[
                    "tools/test_fake_gpu.sh",
                    "tests/cuda",
                    "tests/python/test_fusion.py",
                    "tests/python/test_compiled_model.py",
                ],
                *[
                    "tests/interop/test_interop.py",
                    "tests/interop/test_own_files.py",
                    "-k",
                    "not tensorflow and not tflite_runtime",
                ],
            ],
        ),
        (*CPP, r"larq_engine/python/", r"tests/(cuda|interop)/", r"tests/[^/]*\.py$"),
        environment=A_THIRD,
    ),
    Stage(
        "older-x86",
        "C++ tests, and Python tests in LiteRT, on emulated CPUs without AVX-512",
        (BUILD, ["tools/test_lesser_cpus.sh"]),
        (*CPP, r"larq_engine/python/", r"tests/(interop|python)/", r"tests/[^/]*\.py$"),
        setup="emulators",
        environment=A_THIRD,
    ),
    Stage(
        "asan",
        "C++ tests with assertions, under the sanitizers of addresses and undefined behaviour",
        ([*BAZEL_TEST, "--config=asan", "//tests/...", SANITIZERS],),
        CPP,
        setup="fuzzer",
    ),
    Stage(
        "plug-in-asan",
        "Python tests in LiteRT with a plug-in under the sanitizer of addresses",
        (
            [
                *["tools/test_sanitized_plugin.sh", "asan", "tests/python/test_interpreter.py"],
                *["tests/python/test_unpack_weights.py", "tests/interop/test_interop.py"],
                "tests/python/test_float_convolutions.py",
                "tests/interop/test_own_files.py",
                *["-k", "not tensorflow and not tflite_runtime"],
            ],
        ),
        (BUILD_RULES, KERNELS, PLUG_IN),
        setup="fuzzer",
        environment=A_THIRD,
    ),
    Stage(
        "fuzz",
        "10,000 made-up models under sanitizers (`make fuzz` runs more)",
        (["make", "--no-print-directory", "fuzz", "FUZZ_RUNS=10000"],),
        (*CPP, r"tools/fuzz\.sh$"),
        setup="fuzzer",
    ),
    Stage(
        "tsan",
        "C++ tests of the plug-in and of kernels for GPUs under the sanitizer of threads",
        ([*BAZEL_TEST, "--config=tsan", *THREADS],),
        (
            *(BUILD_RULES, GPU_KERNELS, PLUG_IN),
            r"(larq_engine|tests)/kernels/(common/)?shared_buffer",
            r"tests/(common|cuda|host|kernels/cuda|runtime)/",
        ),
    ),
    Stage(
        "plug-in-tsan",
        "interpreters of LiteRT in four threads with a plug-in under the sanitizer of threads",
        (["tools/test_sanitized_plugin.sh", "tsan", "tests/python/test_threads.py"],),
        (BUILD_RULES, PLUG_IN),
    ),
    Stage(
        "arm64",
        "C++ tests of kernels, plug-in, networks, and the static program, for 64-bit ARM, emulated",
        (
            [*BAZEL_TEST, "--config=aarch64", *EMULATED_TESTS],
            ["tools/test_static_program.sh", "aarch64"],
        ),
        (*CPP, r"tools/(qemu|test_static_program)"),
        setup="cross",
        environment={"LARQ_ENGINE_REQUIRE_ISA": "portable,neon,dotprod"},
    ),
    Stage(
        "arm64-cpus",
        "the tests of kernels on several emulated 64-bit ARM CPUs",
        (["tools/test_arm_cpus.sh"],),
        (BUILD_RULES, KERNELS, r"tests/(common|kernels)/"),
        setup="cross",
    ),
    Stage(
        "arm32",
        "the same for 32-bit ARM, and the tests of sizes that overflow, emulated",
        (
            [*BAZEL_TEST, "--config=armv7", *EMULATED_TESTS, *OVERFLOW_TESTS],
            ["tools/test_static_program.sh", "armv7"],
        ),
        (*CPP, r"tools/(qemu|test_static_program)"),
        setup="cross",
        environment={"LARQ_ENGINE_REQUIRE_ISA": "portable"},
    ),
    Stage(
        "windows",
        "C++ tests as programs for 64-bit Windows, in Wine",
        (["tools/test_windows.sh"], [*PYTEST, OTHER_SYSTEMS]),
        (*CPP, r"tools/(other_systems|wine)", re.escape(OTHER_SYSTEMS)),
        release=True,
        setup="windows",
    ),
    Stage(
        "arm64-wheel",
        "the aarch64 wheel in emulated Python and LiteRT",
        (BUILD, ["tools/test_arm64.sh", "-q", "-rs", "-n", "auto"]),
        (*CPP, r"larq_engine/python/", r"tests/arm64/", r"setup\.py$", r"tools/"),
        setup="arm64 hosts cuda emscripten",
    ),
    Stage(
        "fuzz-files",
        "5,000 mutated files in LiteRT, with the check and without (`make fuzz-files` runs more)",
        (["make", "--no-print-directory", "fuzz-files", "CASES=5000"],),
        (*CPP, r"larq_engine/python/", r"tests/fuzz/"),
    ),
)
EMULATED = {"arm64", "arm64-cpus", "arm32", "windows"}

FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)

# Patterns of a line of Bazel's summary, and of a line of pytest's --durations.
BAZEL_RESULT = re.compile(r"^(//\S+) +PASSED in ([\d.]+)s")
PYTEST_RESULT = re.compile(r"^([\d.]+)s (?:call|setup|teardown) +(\S.*)$")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", nargs="*", metavar="STAGE")
    parser.add_argument("--list", action="store_true", help="print the stages")
    arguments = parser.parse_args()
    if arguments.list or not arguments.what:
        for stage in STAGES:
            print(f"{stage.name:<15} {'quick' if stage.quick else '':<6} {stage.about}")
            print(f"{'':<22} {'  '.join(stage.paths)}")
        return 0
    os.chdir(ROOT)
    stages = choose(arguments.what)
    if not stages:
        print("tests: nothing differs from main")
        return 0
    return run(stages)


def choose(what: list[str]) -> list[Stage]:
    if what == ["quick"]:
        return [stage for stage in STAGES if stage.quick]
    if what == ["rest"]:
        return [stage for stage in STAGES if not stage.quick and not stage.release]
    if what == ["all"]:
        return list(STAGES)
    if what == ["changed"]:
        return changed_stages(*changed_paths())
    unknown = set(what) - {stage.name for stage in STAGES}
    if unknown:
        sys.exit(
            f"error: expected stages out of {', '.join(stage.name for stage in STAGES)}, or one of "
            f"quick, rest, all, changed; got {', '.join(sorted(unknown))}"
        )
    return [stage for stage in STAGES if stage.name in what]


def changed_paths() -> tuple[list[str], list[str]]:
    """Returns the paths that differ from main, committed or not; on main, those not committed.

    Documents whose code is the same as in main come second: no stage needs to run their code.
    """
    base = git("merge-base", "HEAD", "main")[0]
    paths = git("diff", "--name-only", base)
    prose = [
        path for path in paths if path.endswith(".md") and code_of(base, path) == code_of("", path)
    ]
    paths = [path for path in paths if path not in prose]
    return paths + git("ls-files", "-o", "--exclude-standard"), prose


def code_of(commit: str, document: str) -> list[str] | None:
    """Returns a document's fenced blocks in a commit, or in the tree; None without the document."""
    if commit:
        shown = ["git", "show", f"{commit}:{document}"]
        done = subprocess.run(shown, capture_output=True, text=True, check=False)
        text = None if done.returncode else done.stdout
    else:
        text = Path(document).read_text() if Path(document).exists() else None
    return None if text is None else FENCED.findall(text)


def git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"error: git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.split()


def changed_stages(paths: list[str], prose: list[str]) -> list[Stage]:
    """Returns the stages that depend on a path, run it as a script, or read documents' prose."""
    of_prose = {ANY_FILE, ANY_DOCUMENT} if prose else set()
    return [
        stage
        for stage in STAGES
        if not stage.release
        and (
            any(path in command for command in stage.commands for path in paths)
            or any(re.match(pattern, path) for pattern in stage.paths for path in paths)
            or not of_prose.isdisjoint(stage.paths)
        )
    ]


def run(stages: list[Stage]) -> int:
    seconds: list[tuple[str, float]] = []
    slowest: list[tuple[float, str]] = []
    failed = None
    started = time.monotonic()
    parts = dict.fromkeys(part for stage in stages for part in stage.setup.split())
    for part in parts:
        if subprocess.run(["tools/setup.sh", part], check=False).returncode:
            return 1
    seconds.append(("set-up", time.monotonic() - started))
    left = [stage for stage in STAGES if stage not in stages]
    late: list[Stage] = []
    missing: list[Stage] = []
    is_built = False
    for stage in stages:
        if time.time() > float(os.environ.get(UNTIL, "inf")):
            late.append(stage)
            continue
        print(f"== {stage.name}: {stage.about}", flush=True)
        started = time.monotonic()
        status = run_stage(stage, is_built, slowest)
        if status == NOT_RUN:
            (missing if is_required(stage) else left).append(stage)
            continue
        is_built = is_built or BUILD in stage.commands
        seconds.append((stage.name, time.monotonic() - started))
        if status:
            failed = stage
            break
    report(seconds, slowest)
    if failed:
        print(f"\nFAILED: {failed.name}; to run it alone: tools/run_tests.py {failed.name}")
        return 1
    if left:
        print("\nNot run; tools/run_tests.py NAME runs one, `make test-all` everything:")
        for stage in left:
            print(f"  {stage.name:<15} {stage.about}")
    if late:
        print("\nNOT RUN FOR WANT OF TIME, though asked for; tools/run_tests.py NAME runs one:")
        for stage in late:
            print(f"  {stage.name:<15} {stage.about}")
    if missing:
        print(f"\nCANNOT RUN HERE, though {REQUIRE_ALL} is set; what each said is above:")
        for stage in missing:
            print(f"  {stage.name:<15} {stage.about}")
    if late or missing:
        print("\nFAILED: of what was asked for, the stages above did not run")
        return 1
    print("tests: all passed")
    return 0


def is_required(stage: Stage) -> bool:
    may_lack = os.environ.get(MAY_LACK, "").split(",")
    return bool(os.environ.get(REQUIRE_ALL)) and stage.name not in may_lack


def run_stage(stage: Stage, is_built: bool, slowest: list[tuple[float, str]]) -> int:
    """Runs the stage's commands; leaves out BUILD if a stage before has run it.

    Returns:
        0, or the first exit status of a command that is not 0.
    """
    if stage.name in EMULATED and os.uname().machine != "x86_64":
        print("not run: emulated on x86-64 only; `cpp` has run these tests natively", flush=True)
        return NOT_RUN
    for command in stage.commands:
        if command == BUILD and is_built:
            continue
        if status := stream(command, stage, slowest):
            return status
    return 0


def stream(command: list[str], stage: Stage, slowest: list[tuple[float, str]]) -> int:
    """Runs a command and passes its output on; keeps the times of tests that the output tells.

    Returns:
        The command's exit status.
    """
    process = subprocess.Popen(
        command,
        env={**os.environ, **stage.environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    assert process.stdout is not None
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        if found := BAZEL_RESULT.match(line):
            slowest.append((float(found[2]), f"{stage.name}: {found[1]}"))
        elif found := PYTEST_RESULT.match(line):
            slowest.append((float(found[1]), f"{stage.name}: {found[2].strip()}"))
    return process.wait()


def report(seconds: list[tuple[str, float]], slowest: list[tuple[float, str]]) -> None:
    print("\nseconds  stage")
    for name, time_taken in seconds:
        print(f"{time_taken:7.0f}  {name}")
    print(f"{sum(time_taken for _, time_taken in seconds):7.0f}  in all")
    if slowest:
        print("\nseconds  slowest tests")
        for time_taken, name in sorted(slowest, reverse=True)[:SLOWEST]:
            print(f"{time_taken:7.1f}  {name}")


if __name__ == "__main__":
    sys.exit(main())
