"""Tests the programs that run models on emulated microcontrollers, on models written by hand."""

import functools
import os
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.micro import boards

every_board = pytest.mark.parametrize("board", boards.BOARDS)
# These two have each kind of start-up code.
two_boards = pytest.mark.parametrize("board", ["m3", "rv32imac"])


@pytest.fixture(autouse=True)
def tools() -> None:
    boards.require()


_HEADER = """
#include <stdint.h>
#define MODEL_ARENA_BYTES 8
#define MODEL_INPUT_BYTES {input_bytes}
#define MODEL_OUTPUT_BYTES {output_bytes}
typedef struct model_arena {{
  uint32_t words[2];
}} model_arena;
void model_run(model_arena* arena, {parameters});
"""
_BYTES = "const int8_t* input, int8_t* output"
_WORD = "const uint32_t* input, uint32_t* output"


def _model(
    folder: Path, body: str, parameters: str = _WORD, input_bytes: int = 4, output_bytes: int = 4
) -> Path:
    """Writes a model whose function has a body of its own, after what stands before `{{{`."""
    model = folder / "model"
    model.mkdir()
    header = _HEADER.format(
        parameters=parameters, input_bytes=input_bytes, output_bytes=output_bytes
    )
    (model / "model.h").write_text(header)
    before, _, inside = body.rpartition("{{{")
    (model / "model.c").write_text(
        f'#include "model.h"\n{before}\n'
        f"void model_run(model_arena* arena, {parameters}) {{\n  (void)arena;\n{inside}\n}}\n"
    )
    return model


def _words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


# The addend is copied from the flash, and the number of runs begins as 0.
_PLUS_ONE = """
static int8_t one = 1;
static int8_t runs;
{{{
  for (int i = 0; i < 16; ++i) output[i] = (int8_t)(input[i] + one);
  ++runs;
  one = (int8_t)(runs < 3 ? 1 : 2);
"""


@every_board
def test_outputs_of_several_inputs(board, tmp_path):
    elf = boards.build(_model(tmp_path, _PLUS_ONE, _BYTES, 16, 16), board, tmp_path / "built")
    inputs = bytes(range(200, 248))
    done = boards.run(elf, board, inputs)
    assert done.outputs == bytes(value + 1 for value in inputs)
    assert done.instructions < 1000 and done.stack < 100
    assert boards.run(elf, board, inputs) == done
    assert boards.floats_in(boards.model_object(elf)) == []


# The first number that this model takes says what it does, the second how often. Both loops have
# six instructions.
_PROBE = """
extern uint32_t stack_low[];

static uint32_t deep(const volatile uint32_t* above, uint32_t calls);
static __attribute__((noinline)) uint32_t deep(const volatile uint32_t* above, uint32_t calls) {
  volatile uint32_t here[250];
  for (uint32_t i = 0; i < 250; ++i) here[i] = above[0] + i;
  return calls == 0 ? here[249] : deep(here, calls - 1) + here[0];
}

static void loop(uint32_t turns, uint32_t* sum) {
  uint32_t word;
#ifdef __arm__
  __asm__ volatile(
      ".syntax unified\\n"
      "1: ldr %1, [%2]\\n adds %1, %1, #3\\n str %1, [%2]\\n nop\\n subs %0, %0, #1\\n bne 1b"
      : "+l"(turns), "=&l"(word) : "l"(sum) : "cc", "memory");
#else
  __asm__ volatile(
      "1: lw %1, 0(%2)\\n addi %1, %1, 3\\n sw %1, 0(%2)\\n nop\\n addi %0, %0, -1\\n bnez %0, 1b"
      : "+r"(turns), "=&r"(word) : "r"(sum) : "memory");
#endif
}
{{{
  *output = 0;
  switch (input[0]) {
    case 0: loop(input[1], output); break;
    case 1: *output = deep(input, input[1]); break;
    case 2: *(volatile uint32_t*)((uintptr_t)stack_low - 4) = 1; break;
    default: __builtin_trap();
  }
"""
_LOOP, _DEEP, _WRITE_BELOW, _TRAP = range(4)


@pytest.fixture(scope="module")
def probe(tmp_path_factory) -> Callable[[str], Path]:
    """Returns what builds the probe for a board, once."""
    folder = tmp_path_factory.mktemp("probe")
    model = _model(folder, _PROBE, input_bytes=8)
    return functools.cache(lambda board: boards.build(model, board, folder / board))


@every_board
def test_instructions_are_counted(board, probe):
    # Apart from the loop, the call is counted, and on Cortex-M the timer counts in steps.
    for turns in (2_000, 1_000_000):
        done = boards.run(probe(board), board, _words(_LOOP, turns))
        assert done.outputs == _words(3 * turns)
        assert 6 * turns - 63 <= done.instructions <= 6 * turns + 63 + 50


def test_instructions_are_counted_where_the_timer_wraps(probe):
    """The timer of Cortex-M has 24 bits, which last for 0.5 to 1 billion instructions."""
    done = boards.run(probe("m55"), "m55", _words(_LOOP, 100_000_000))
    assert done.instructions == pytest.approx(6e8, rel=1e-6)


@every_board
def test_the_stack_is_measured(board, probe):
    inputs = _words(_DEEP, 0, _LOOP, 1)
    assert 1000 <= boards.run(probe(board), board, inputs).stack <= 1000 + 80


@every_board
def test_faults_are_errors(board, probe):
    with pytest.raises(RuntimeError, match=r"error: (HardFault|trap of cause 3) at 0x"):
        boards.run(probe(board), board, _words(_TRAP, 0))


# The start-up code for Cortex-M0 protects no memory, since the chip has nothing for it.
@pytest.mark.parametrize("board", [name for name in boards.BOARDS if name != "m0_large"])
def test_an_overflow_of_the_stack_is_an_error(board, probe):
    message = r"(?s)exit status 1 of: qemu.*error: (HardFault.*it overflowed|trap of cause 7 at 0x)"
    with pytest.raises(RuntimeError, match=message):
        boards.run(probe(board), board, _words(_DEEP, 100))
    with pytest.raises(RuntimeError, match=r"error: (HardFault|trap of cause 7) at 0x"):
        boards.run(probe(board), board, _words(_WRITE_BELOW, 0))


def test_cortex_m0_faults_where_memory_is_not_aligned(tmp_path):
    body = "*output = *(const volatile uint32_t*)((uintptr_t)input + 1);"
    elf = boards.build(_model(tmp_path, body), "m0", tmp_path / "built")
    with pytest.raises(RuntimeError, match="error: HardFault at 0x"):
        boards.run(elf, "m0", _words(0))


_FLOATS = """
#include <math.h>
{{{
  *output = *input * FACTOR + expf(*input - 4.0f);
"""


@every_board
def test_floats_are_computed_and_found(board, tmp_path):
    model = _model(tmp_path, _FLOATS, "const float* input, float* output")
    elf = boards.build(model, board, tmp_path / "built", extra_flags=["-DFACTOR=1.5f"])
    assert boards.run(elf, board, struct.pack("<f", 4)).outputs == struct.pack("<f", 7)
    found = boards.floats_in(boards.model_object(elf))
    assert "calls expf" in found
    if board in ("m4", "m7", "m33", "m55"):
        assert any(line.startswith("model_run: v") and ".f32" in line for line in found)
    elif board == "rv32imafc":
        assert any(line.startswith("model_run: fm") for line in found)
    else:
        product = "__mulsf3" if board.startswith("rv32") else "__aeabi_fmul"
        assert f"calls {product}" in found


_SEVERAL = "const int8_t* a, const float* b, int16_t* c, int8_t* d"


@two_boards
def test_models_of_several_inputs_and_outputs(board, tmp_path):
    body = "*c = (int16_t)(*a * 2); *d = (int8_t)*b;"
    model = _model(tmp_path, body, _SEVERAL, input_bytes=8, output_bytes=3)
    call = (
        "model_run(arena, (const void*)in, (const void*)((in) + 4), (void*)out, (void*)((out) + 2))"
    )
    elf = boards.build(model, board, tmp_path / "built", call=call)
    done = boards.run(elf, board, struct.pack("<bxxxf", -100, 7.25))
    assert done.outputs == struct.pack("<hb", -200, 7)


@two_boards
def test_sizes(board, tmp_path):
    body = """
static const int8_t table[3000] = {1};
static int8_t state[2000];
{{{
  state[*input] = table[*input + 1];
  *output = (uint32_t)state[*input + 1];
"""
    elf = boards.build(_model(tmp_path, body), board, tmp_path / "built")
    flash, ram = boards.size(elf)
    assert 3000 < flash < 3000 + 6000
    assert 2000 < ram < 2000 + 600


def test_a_model_that_does_not_fit_is_an_error(tmp_path):
    body = "static uint32_t state[5000];\n{{{ state[*input] = 1; *output = state[*input + 1];"
    with pytest.raises(RuntimeError, match="region `RAM' overflowed by"):
        boards.build(_model(tmp_path, body), "m0", tmp_path / "built")


def test_warnings_are_errors(tmp_path):
    narrow = "const uint32_t* input, int8_t* output"
    with pytest.raises(RuntimeError, match="-Werror=conversion"):
        boards.build(_model(tmp_path, "output[0] = *input;", narrow), "m3", tmp_path / "built")


@two_boards
@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (bytes(6), "expected a whole number of the model's inputs in input.bin"),
        (b"", "expected an input, got an empty file input.bin"),
    ],
)
def test_wrong_inputs_are_errors(board, inputs, message, tmp_path):
    elf = boards.build(_model(tmp_path, "*output = *input;"), board, tmp_path / "built")
    with pytest.raises(RuntimeError, match=message):
        boards.run(elf, board, inputs)


@two_boards
def test_a_run_that_does_not_end_is_an_error(board, tmp_path):
    body = "for (volatile int i = 0; i < 1; i = 0) *output = *input;"
    elf = boards.build(_model(tmp_path, body), board, tmp_path / "built")
    with pytest.raises(RuntimeError, match="expected an end within 1 s of: qemu"):
        boards.run(elf, board, _words(1), seconds=1)


def _make(*words: str, folder: Path) -> str:
    command = ["make", "-s", "-f", str(boards.MAKEFILE), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def test_make_runs_a_model_and_lists_the_boards(tmp_path):
    _model(tmp_path, "*output = *input + 1;")
    (tmp_path / "in.bin").write_bytes(_words(1, 5))
    words = ["BOARD=rv32imac", "MODEL=model", "INPUT=in.bin", "OUTPUT=out.bin"]
    assert _make(*words, "run", folder=tmp_path).startswith("instructions: ")
    assert (tmp_path / "out.bin").read_bytes() == _words(2, 6)
    listed = _make(folder=tmp_path)
    assert {line.split()[0] for line in listed.splitlines()} == {
        board.machine for board in boards.BOARDS.values()
    }


def test_a_folder_without_a_model_is_named(tmp_path):
    command = ["make", "-s", "-f", str(boards.MAKEFILE), "BOARD=mps2-an386", "MODEL=lost", "elf"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "MODEL=lost: expected a folder that `larq-engine export-c` wrote" in done.stderr
    assert str(tmp_path) in done.stderr and list(tmp_path.iterdir()) == []


def test_missing_tools_are_named(monkeypatch):
    found = {"qemu-system-arm": None}
    monkeypatch.setattr(shutil, "which", lambda name: found.get(name, name))
    assert boards.missing.__wrapped__() == ["qemu-system-arm"]
    monkeypatch.setattr(boards, "_has_library", lambda command: "picolibc" not in command[1])
    assert "the C library of riscv64-unknown-elf-gcc" in boards.missing.__wrapped__()


@pytest.mark.parametrize(
    ("required", "outcome"), [("", pytest.skip.Exception), ("1", pytest.fail.Exception)]
)
def test_without_the_tools_tests_are_skipped_unless_required(monkeypatch, required, outcome):
    monkeypatch.setenv("LARQ_ENGINE_REQUIRE_BOARDS", required)
    monkeypatch.setattr(boards, "missing", lambda: ["qemu-system-arm"])
    with pytest.raises(outcome, match=r"qemu-system-arm; `tools/setup\.sh micro` installs"):
        boards.require()


def test_make_alone_lists_the_boards_and_keeps_itself(tmp_path):
    """Rules that make has built in would make the Makefile of headers that are newer."""
    for path in boards.MAKEFILE.parent.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    os.utime(tmp_path / "Makefile", (0, 0))
    done = subprocess.run(["make"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "mps2-an386" in done.stdout and (tmp_path / "Makefile").is_file()
