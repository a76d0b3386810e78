"""The exported folder, its interface, and what is refused."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from larq_engine.command_line import main
from tests.micro import c_model
from tests.micro.integer_networks import IntegerNetwork
from tests.model_builder import ABSENT, ModelBuilder, bconv_options, one_op_model
from tests.oracle import Conv, pack_bits

_SEED = 1  # a network that ends with int8


def _model() -> bytes:
    return IntegerNetwork(_SEED).build(4)


def _layer(channels: int) -> bytes:
    """Returns one binary layer of 8x8 pixels of bits."""
    builder = ModelBuilder()
    conv = Conv((1, 8, 8, channels), (3, 3), 32)
    signs = np.random.default_rng(0).choice([-1, 1], conv.filter_shape)
    x = builder.tensor((1, 8, 8, channels // 32), np.int32)
    y = builder.tensor((1, 8, 8, 1), np.int32)
    threshold = builder.constant(np.full(32, 9 * channels // 2, np.int32))
    inputs = [x, builder.constant(pack_bits(signs)), ABSENT, ABSENT, threshold]
    builder.custom("LceBconv2d", inputs, [y], bconv_options(conv))
    return builder.finish([x], [y])


def test_the_facts_of_a_model_and_of_its_folder(tmp_path: Path) -> None:
    exported = larq_engine.export_c(_layer(64), prefix="net")
    exported.save(tmp_path / "net")
    assert {path.name for path in (tmp_path / "net").iterdir()} == set(exported.files)
    assert exported.flash_bytes == 9 * 2 * 4 * 32 + 4 * 32
    assert exported.arena_bytes == 9 * 2 * 4  # the words under the filter
    header = exported.files["net.h"].decode()
    assert f"#define NET_ARENA_BYTES {exported.arena_bytes}\n" in header
    assert f"#define NET_STACK_BYTES {exported.stack_bytes}\n" in header
    stack = f"at most {exported.stack_bytes} bytes"
    assert stack in exported.report and stack in exported.files["README.md"].decode()
    assert "#define NET_INPUT_ELEMENTS 128\n" in header
    assert "void net_run(net_arena* arena, const int32_t* input, int32_t* output);" in header
    assert "bconv2d_to_bits_18" in exported.report


def test_scales_of_bytes_are_constants(tmp_path: Path) -> None:
    network = IntegerNetwork(_SEED)
    header = larq_engine.export_c(network.build(4)).files["model.h"].decode()
    (scale,) = re.findall(r"#define MODEL_INPUT_SCALE (\S+)f\n", header)
    assert np.float32(scale) == network.input.scale
    assert f"#define MODEL_INPUT_ZERO_POINT ({network.input.zero_point})\n" in header


def test_a_file_is_exported_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(_model())
    assert larq_engine.export_c(path).files == larq_engine.export_c(_model()).files


def test_equal_weights_are_written_once() -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 8), np.int8, scale=0.1)
    values = []
    for scale in (0.1, 0.2):
        weights = builder.constant(np.arange(64, dtype=np.int8).reshape(8, 8), scale=scale)
        y = builder.tensor((1, 8), np.int8, scale=0.1)
        builder.builtin("FULLY_CONNECTED", [x, weights, ABSENT], [y])
        values.append(y)
    source = larq_engine.export_c(builder.finish([x], values)).files["model.c"].decode()
    assert source.count("static const int8_t") == 1


def test_two_models_are_in_one_program(tmp_path: Path) -> None:
    for prefix, channels in (("first", 32), ("second", 64)):
        larq_engine.export_c(_layer(channels), prefix=prefix).save(tmp_path)
    (tmp_path / "main.c").write_text(
        '#include "first.h"\n#include "second.h"\n'
        "static first_arena a; static second_arena b;\n"
        "int main(void) { static int32_t x[128], y[64];\n"
        "  first_run(&a, x, y); second_run(&b, x, y); return 0; }\n"
    )
    sources = [str(tmp_path / name) for name in ("main.c", "first.c", "second.c")]
    program = tmp_path / "program"
    subprocess.run(["gcc", *c_model.FLAGS, "-o", str(program), *sources], check=True)
    subprocess.run([str(program)], check=True)


def test_an_arena_of_another_model_is_no_argument(tmp_path: Path) -> None:
    larq_engine.export_c(_layer(32)).save(tmp_path)
    (tmp_path / "main.c").write_text(
        '#include "model.h"\n'
        "static uint32_t small[2];\n"
        "int main(void) { static int32_t x[64], y[64]; model_run(small, x, y); return 0; }\n"
    )
    command = ["gcc", *c_model.FLAGS, "-fsyntax-only", str(tmp_path / "main.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode and "model_arena" in done.stderr


def test_plain_make_and_cmake_build_it(tmp_path: Path) -> None:
    larq_engine.export_c(_layer(32), prefix="net").save(tmp_path / "net")
    make = subprocess.run(["make", "-C", str(tmp_path / "net")], capture_output=True, check=True)
    assert b"warning" not in make.stderr and (tmp_path / "net" / "libnet.a").is_file()
    cmake = shutil.which("cmake") or str(Path(".venv/bin/cmake").resolve())
    for arguments in (["-S", "net", "-B", "built"], ["--build", "built"]):
        subprocess.run([cmake, *arguments], cwd=tmp_path, capture_output=True, check=True)
    assert (tmp_path / "built" / "libnet.a").is_file()


_DIALECTS = ("gcc -xc++ -std=c++11", "gcc -xc++ -std=c++17", "gcc -std=c11", "gcc -std=gnu99")


@pytest.mark.parametrize("compiler", _DIALECTS)
def test_programs_in_other_dialects_include_the_header(compiler: str, tmp_path: Path) -> None:
    larq_engine.export_c(_model()).save(tmp_path)
    (tmp_path / "main.c").write_text(
        '#include "model.h"\n'
        "float scale(void) { return MODEL_INPUT_SCALE * (1 - MODEL_INPUT_ZERO_POINT); }\n"
    )
    command = [*compiler.split(), "-Wall", "-Werror", "-pedantic", "-fsyntax-only", "main.c"]
    subprocess.run(command, cwd=tmp_path, check=True)


@pytest.mark.parametrize("flags", [["-xc++"], ["-ffast-math"], ["-ffinite-math-only"]])
def test_models_say_how_they_must_not_be_compiled(flags: list[str], tmp_path: Path) -> None:
    larq_engine.export_c(_layer(32)).save(tmp_path)
    command = ["gcc", *flags, "-fsyntax-only", "model.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode and "larq_engine: " in done.stderr


# ---- Errors --------------------------------------------------------------------------------------


_BAD_NAMES = ("", "7up", "a-b", "über", "a b", "a;", "a\n", "_net", "a" * 64, None)
_TAKEN_NAMES = ("int", "le_net", "memory", "string", "Float")


@pytest.mark.parametrize("prefix", _BAD_NAMES)
def test_names_that_c_cannot_have(prefix: str) -> None:
    with pytest.raises(ValueError, match="prefix: expected a letter, and then up to 62 letters"):
        larq_engine.export_c(_layer(32), prefix=prefix)


@pytest.mark.parametrize("prefix", _TAKEN_NAMES)
def test_names_that_are_taken(prefix: str) -> None:
    with pytest.raises(ValueError, match="prefix: expected a name that C, its headers"):
        larq_engine.export_c(_layer(32), prefix=prefix)


@pytest.mark.parametrize("arena", [-1, "16k", 1.5])
def test_no_number_of_bytes(arena: int) -> None:
    with pytest.raises(ValueError, match="arena: expected a number of bytes"):
        larq_engine.export_c(_layer(32), arena=arena)


def test_files_of_another_origin_stay(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("all:\n")
    exported = larq_engine.export_c(_layer(32))
    with pytest.raises(ValueError, match="got one with Makefile of another origin"):
        exported.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["Makefile"]
    exported.save(tmp_path / "new")
    exported.save(tmp_path / "new")  # its own files are written again
    # A file that speaks of larq_engine is not an export's.
    (tmp_path / "new" / "README.md").write_text("Mine, with larq_engine in it.\n")
    with pytest.raises(ValueError, match="of another origin"):
        exported.save(tmp_path / "new")


def test_a_model_of_several_signatures() -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 4), np.int8, scale=0.1)
    y = builder.tensor((1, 4), np.int8, scale=0.1)
    builder.builtin("RELU", [x], [y])
    builder.signature({"x": x}, {"y": y})
    other = builder.subgraph()
    z = other.tensor((1, 4), np.int8, scale=0.1)
    other.interface([z], [z])
    content = builder.finish([x], [y])
    assert larq_engine.export_c(content).arena_bytes == 0
    signature = builder.model.signatureDefs[0]
    builder.model.signatureDefs.append(type(signature)())
    second = builder.model.signatureDefs[1]
    vars(second).update(vars(signature), signatureKey="second", subgraphIndex=1)
    second.inputs = second.outputs = []
    with pytest.raises(ValueError, match="expected one signature, got 'signature_0', 'second'"):
        larq_engine.export_c(builder.finish([x], [y]))


def test_all_operators_without_a_kernel_are_named() -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 4), np.int8, scale=0.1)
    values = [builder.tensor((1, 4), np.int8, scale=0.1) for _ in range(2)]
    for source, result in zip([x, *values], values, strict=False):
        builder.builtin("ELU", [source], [result])
    with pytest.raises(ValueError, match="no kernel in C computes it") as error:
        larq_engine.export_c(builder.finish([x], [values[-1]]))
    assert ", nor ELU of 't2'" in str(error.value)


def test_a_transpose_of_dimensions_of_one_index_moves_nothing(tmp_path: Path) -> None:
    x = {"shape": (1, 1, 3, 4), "dtype": np.int8, "scale": 0.1}
    values = np.arange(12, dtype=np.int8).reshape(1, 1, 3, 4)
    for order, shape in (((0, 2, 3, 1), (1, 3, 4, 1)), ((0, 1, 3, 2), (1, 1, 4, 3))):
        operands = ["x", np.array(order, np.int32)]
        content = one_op_model("TRANSPOSE", x, {**x, "shape": shape}, operands)
        (got,) = c_model.run(content, [values], folder=tmp_path)
        np.testing.assert_array_equal(got, values.transpose(order))
        moves = "le_places_run" in (tmp_path / "model.c").read_text()
        assert moves == (shape[-1] != 1)


def test_the_report_names_steps_of_floats() -> None:
    assert "\n0 of 1 steps compute floats" in larq_engine.export_c(_layer(32)).report
    integers = larq_engine.export_c(IntegerNetwork(0).build(8))
    assert "bconv2d_to_int8" in integers.report
    assert "\n0 of " in integers.report
    x = {"shape": (1, 4), "dtype": np.float32}
    report = larq_engine.export_c(one_op_model("RELU", x, x)).report
    assert "\n1 of 1 steps compute floats: RELU of 'y'" in report


def test_an_arena_that_is_too_small() -> None:
    assert larq_engine.export_c(_layer(64), arena=72).arena_bytes == 72
    with pytest.raises(
        ValueError, match=r"arena: expected at most 71 bytes, got 72, also with .*: LceBconv2d of"
    ):
        larq_engine.export_c(_layer(64), arena=71)


def test_an_operator_without_a_kernel() -> None:
    x = {"shape": (1, 4), "dtype": np.int8, "scale": 0.1}
    pads = np.array([[0, 0], [2, 2]], np.int32)
    content = one_op_model("MIRROR_PAD", x, {**x, "shape": (1, 8)}, ["x", pads])
    with pytest.raises(ValueError, match="MIRROR_PAD 'y' of the layer 'y': no kernel in C"):
        larq_engine.export_c(content)


def test_names_in_a_file_cannot_leave_a_comment(tmp_path: Path) -> None:
    builder = ModelBuilder()
    name = "x */ int f(void) { return 1; } /* \\"
    x = builder.tensor((1, 4), np.int8, scale=0.1, name=name)
    y = builder.tensor((1, 4), np.int8, scale=0.1, name=name + "\n#error")
    builder.builtin("RELU", [x], [y])
    content = builder.finish([x], [y])
    values = np.array([[-128, -1, 0, 127]], np.int8)
    (got,) = c_model.run(content, [values], folder=tmp_path)
    np.testing.assert_array_equal(got, np.maximum(values, 0))
    source = (tmp_path / "model.c").read_text()
    assert "int f(void)" not in source.replace("* / int f(void) { return 1; } / *", "")


def test_a_damaged_file() -> None:
    with pytest.raises(ValueError, match="expected"):
        larq_engine.export_c(_model()[:-100])


# ---- The command ---------------------------------------------------------------------------------


def _file(folder: Path, content: bytes) -> str:
    path = folder / "model.tflite"
    path.write_bytes(content)
    return str(path)


def test_the_command_writes_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "net"
    model = _file(tmp_path, _layer(32))
    assert main(["export-c", model, "-o", str(folder), "--prefix", "net"]) == 0
    assert (folder / "net.c").is_file()
    printed = capsys.readouterr().out
    assert "bconv2d_to_bits_9" in printed and "begin with net.h" in printed


def test_errors_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = _file(tmp_path, _layer(32))
    missing = tmp_path / "no" / "folder"
    assert main(["export-c", model, "-o", str(missing)]) == 1
    assert "make it first" in capsys.readouterr().err
    assert main(["export-c", model, "-o", model]) == 1
    assert "got something else of that name" in capsys.readouterr().err
    assert main(["export-c", model, "-o", str(tmp_path / "out"), "--arena", "8"]) == 1
    assert "expected at most 8 bytes" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    with pytest.raises(SystemExit):
        main(["export-c", model, "-o", str(tmp_path / "out"), "--arena", "-1"])
