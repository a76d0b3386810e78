"""The examples in C and C++ run a model with the library alone, as docs/without_a_host.md says."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from tests.model_builder import ModelBuilder

_ROOT = Path(__file__).parents[2]
_C, _CPP = Path("examples/c/classify.c"), Path("examples/cpp_no_host/classify.cc")
_MODEL = _ROOT / "tests" / "interop" / "data" / "residual_relu_bn_add.float.tflite"
_WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
_COMPILERS = {
    "gcc": (_C, "-std=c99"),
    "clang": (_C, "-std=c99"),
    "g++": (_CPP, "-std=c++17"),
    "clang++": (_CPP, "-std=c++17"),
}


def _run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def _compile(compiler: str, package: Path, built: Path, source: Path, *flags: str) -> Path:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    command = [compiler, *flags, *_WARNINGS, f"-I{package.parent}", "-o", str(built), str(source)]
    command += [f"-L{package}", "-l:liblarq_engine.so", f"-Wl,-rpath,{package}"]
    subprocess.run(command, cwd=_ROOT, check=True)
    return built


@pytest.fixture(params=_COMPILERS)
def program(request, installed, tmp_path):
    return _compile(request.param, installed, tmp_path / "classify", *_COMPILERS[request.param])


@pytest.fixture
def by_cmake(installed, tmp_path):
    """Builds a copy of the C++ example's folder by its CMakeLists.txt."""
    cmake, copy = Path(sys.executable).with_name("cmake"), tmp_path / "copy"
    shutil.copytree(_ROOT / _CPP.parent, copy)
    configure = [
        cmake,
        "-S",
        copy,
        "-B",
        tmp_path / "build",
        f"-Dlarq_engine_DIR={installed}/cmake",
    ]
    for command in (configure, [cmake, "--build", tmp_path / "build"]):
        subprocess.run(command, check=True)
    return tmp_path / "build" / "classify"


def _check_outputs(program: Path) -> None:
    done = _run(program, _MODEL)
    assert (done.returncode, done.stderr) == (0, "")
    with larq_engine.Interpreter(_MODEL, host="none") as interpreter:
        expected = interpreter.predict(np.zeros(interpreter.input_shapes[0], np.float32))
    got = np.array(done.stdout.split(), np.float32)
    np.testing.assert_array_equal(got, expected.ravel())


def test_outputs_are_the_interpreters(program):
    _check_outputs(program)


def test_cmake_builds_the_cpp_example(by_cmake):
    _check_outputs(by_cmake)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [((), "expected the path of a model\n"), (("absent.tflite",), "'absent.tflite': expected a")],
)
def test_errors(program, arguments, text):
    done = _run(program, *arguments)
    assert done.returncode == 1
    assert done.stderr.startswith(text)


def _needed(file: str | Path) -> set[str]:
    """Returns the libraries that the dynamic loader opens for a file."""
    listed = _run("readelf", "-d", file).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", listed))


def test_the_library_and_the_c_program_need_no_other(installed, tmp_path):
    program = _compile("gcc", installed, tmp_path / "classify", *_COMPILERS["gcc"])
    assert _needed(program) == {"liblarq_engine.so", "libc.so.6"}
    loader = {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
    assert _needed(larq_engine.delegate_path()) - loader <= {"libc.so.6", "libm.so.6"}


_CALLS = """
#include <cassert>
#include <cstring>
#include <string>

#include "larq_engine/runtime/larq_engine_model.hpp"

using larq_engine::api::Model;

template <typename Function>
std::string ErrorOf(const Function& function) {
  try {
    function();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

int main(int, char** argv) {
  Model first(argv[1], {{"kernel", "reference"}, {"num_threads", "1"}});
  Model model = std::move(first);
  assert(model.inputs() == 1 && model.outputs() == 1);
  model.Resize({{3, 16, 16, 3}});
  assert((model.input().dims() == std::vector<int>{3, 16, 16, 3}));
  const auto input = model.input().Data<float>();
  assert(input.size() == 3 * 16 * 16 * 3 && model.input().bytes() == 4 * input.size());
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i % 7) - 3;
  model.Run();
  const auto output = model.output().Data<const float>();
  assert(!output.empty() && model.output().dims().front() == 3);
  std::vector<float> twice(output.begin(), output.end());
  model.Run();
  assert(std::memcmp(twice.data(), output.data(), 4 * output.size()) == 0);
  assert(model.input().type() == LARQ_ENGINE_FLOAT32 && !model.input().name().empty());
  assert(model.output().c_tensor().scales == 0);

  assert(ErrorOf([&] { model.input(1); }) == "expected one of 1 inputs, got number 1");
  assert(ErrorOf([&] { model.output(7); }) == "expected one of 1 outputs, got number 7");
  assert(ErrorOf([&] { model.input().Data<std::int8_t>(); }) ==
         "tensor '" + model.input().name() +
             "': expected a C++ type for elements of float32, got one for int8");
  assert(ErrorOf([&] { model.Resize({{-1, 16, 16, 3}}); }).find("at least 0") != std::string::npos);
  assert(ErrorOf([&] { model.Resize({{1}, {1}}); }) != "");
  assert(ErrorOf([&] { Model(argv[1], {{"kernel", "fast"}}); }).find("unknown kernel 'fast'") !=
         std::string::npos);
  assert(ErrorOf([&] { Model(argv[1], {}, "absent"); }).find("'absent'") != std::string::npos);
  assert(ErrorOf([&] { Model("no model", 8); }) != "");

  Model pairs(argv[2]);
  const auto numbers = pairs.input().Data<std::int16_t>();
  assert(numbers.size() == 2);
  numbers[0] = 300, numbers[1] = -5;
  pairs.Run();
  const auto moved = pairs.output().Data<const std::int16_t>();
  assert(moved.size() == 2 && moved[0] == 300 && moved[1] == -5);
}
"""


@pytest.mark.parametrize(
    ("compiler", "standard"), [("g++", "17"), ("clang++", "17"), ("g++", "20")]
)
def test_the_cpp_header(compiler, standard, installed, tmp_path):
    source = tmp_path / "calls.cc"
    source.write_text(_CALLS)
    built = _compile(compiler, installed, tmp_path / "calls", source, f"-std=c++{standard}")
    pairs = tmp_path / "pairs.tflite"
    pairs.write_bytes(_int16_model())
    done = _run(built, _MODEL, pairs)
    assert (done.returncode, done.stderr) == (0, "")


def _int16_model() -> bytes:
    builder = ModelBuilder()
    x, y = builder.tensor((1, 2), np.int16), builder.tensor((2,), np.int16)
    builder.builtin("RESHAPE", [x, builder.constant(np.array([2], np.int32))], [y])
    return builder.finish([x], [y])


def test_a_type_that_no_tensor_has_is_not_compiled(installed, tmp_path):
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    source = tmp_path / "calls.cc"
    source.write_text(_CALLS.replace("Data<std::int8_t>", "Data<long double>"))
    command = ["g++", "-std=c++17", f"-I{installed.parent}", "-c", "-o", "/dev/null", str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "static assertion failed: no tensor has elements of this type" in done.stderr


# Counts what the whole process allocates: the library calls the functions of the program.
_COUNTS = """
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "larq_engine/runtime/larq_engine_model.h"

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void* block);

static atomic_long made, freed;

static void* count(void* block) {
  if (block != NULL) ++made;
  return block;
}
void* malloc(size_t size) { return count(__libc_malloc(size)); }
void* calloc(size_t n, size_t size) { return count(__libc_calloc(n, size)); }
void* aligned_alloc(size_t alignment, size_t size) {
  return count(__libc_memalign(alignment, size));
}
int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = count(__libc_memalign(alignment, size));
  return *block == NULL ? ENOMEM : 0;
}
void free(void* block) {
  if (block != NULL) ++freed;
  __libc_free(block);
}
void* realloc(void* block, size_t size) {
  if (block != NULL) ++freed;
  return count(__libc_realloc(block, size));
}

static void check(int failed, const char* why) {
  if (failed) {
    fprintf(stderr, "%s\\n", why);
    exit(1);
  }
}

static void open_and_run(const char* path, const char* threads, int runs) {
  char why[512] = "";
  const char* key = "num_threads";
  LarqEngineModel* model =
      larq_engine_model_open_file(path, NULL, &key, &threads, 1, why, sizeof(why));
  check(model == NULL, why);
  check(larq_engine_model_allocate(model, why, sizeof(why)), why);
  check(larq_engine_model_run(model, why, sizeof(why)), why);
  const long before = made;
  for (int i = 0; i < runs; ++i) check(larq_engine_model_run(model, why, sizeof(why)), why);
  if (made != before) printf("%ld allocations in %d runs, ", made - before, runs);
  larq_engine_model_close(model);
}

int main(int argc, char** argv) {
  const long at_start = made;
  for (int i = 2; i < argc; ++i) {
    open_and_run(argv[i], argv[1], 20);
    const long left = made - freed;
    for (int opened = 0; opened < 20; ++opened) open_and_run(argv[i], argv[1], 1);
    printf("%s: %ld blocks left\\n", argv[i], made - freed - left);
  }
  return made == at_start;
}
"""


@pytest.mark.parametrize("threads", ["1", "2"])
def test_runs_allocate_nothing_and_closing_frees_all(threads, installed, tmp_path):
    source = tmp_path / "counts.c"
    source.write_text(_COUNTS)
    program = _compile("gcc", installed, tmp_path / "counts", source, "-std=c11")
    models = sorted(_MODEL.parent.glob("*.tflite"))
    done = _run(program, threads, *models)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"{model}: 0 blocks left" for model in models]
