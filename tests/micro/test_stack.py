"""The stack that exported C may take is proven: for all kernels, on all boards, by all levels."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests import samples
from tests.micro import board_model, boards, stack, stack_models
from tests.micro.integer_networks import IntegerNetwork

_NAME = re.compile(r"\ble_\w+")
_BOARDS = [name for name in boards.BOARDS if name != "m0"]  # m0_large compiles in the same way
_LEVELS = ("-O1", "-O2", "-O3", "-Os")
# Each has instructions of its own kind, so all runs of the tests have these.
_ALWAYS = [("m0_large", "-O2"), ("m4", "-O2"), ("rv32imac", "-O2")]
_OTHERS = [
    (board, level) for board in _BOARDS for level in _LEVELS if (board, level) not in _ALWAYS
]


@pytest.fixture(autouse=True)
def tools() -> None:
    boards.require()


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, int]]:
    """Returns folders of models that use all kernels, and the stack that they say they take."""
    return stack_models.write_all(tmp_path_factory.mktemp("models"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "level" in metafunc.fixturenames:
        cases = [*_ALWAYS, *samples.choose(metafunc.config, _OTHERS, 3)]
        metafunc.parametrize(("board", "level"), cases)


def test_models_use_all_kernels(models: list[tuple[Path, int]]) -> None:
    definition = re.compile(r"^LE_(?:KERNEL|INLINE) [\w ]+\*? (le_\w+)\(", re.MULTILINE)
    headers = "".join(path.read_text() for path in stack_models.KERNELS.glob("*.h"))
    called = Counter(_NAME.findall(headers))
    used = {
        name for folder, _ in models for name in _NAME.findall((folder / "model.c").read_text())
    }
    # A kernel that other kernels call is used with them.
    lacking = {name for name in definition.findall(headers) if called[name] == 1} - used
    assert not lacking


def test_no_run_takes_more(
    board: str, level: str, models: list[tuple[Path, int]], tmp_path: Path
) -> None:
    for number, (folder, said) in enumerate(models):
        most, path = stack.deepest(folder, board, level, tmp_path / str(number))
        assert most <= said, path


@pytest.mark.parametrize("board", ["m0_large", "m4", "rv32imac"])
def test_runs_take_what_is_proven_at_most(board: str, tmp_path: Path) -> None:
    for seed in (1, 3):
        network = IntegerNetwork(seed)
        content = network.build(8)
        images = network.rng.integers(-128, 128, network.input.shape).astype("int8")
        outcome = board_model.run_on(board, content, [images], tmp_path / str(seed))
        most, _ = stack.deepest(tmp_path / str(seed) / "model", board, "-O2", tmp_path / "proof")
        assert most / 2 < outcome.run.stack <= most


_UNBOUNDED = {
    "int f(int n) { return n ? f(n - 1) + f(n / 2) : sink; }": "expected no recursion, got",
    "int f(int n) { int on_stack[n]; g(on_stack); return on_stack[n / 2]; }": "a frame that is",
    "int f(int n) { return pointer(n) + 1; }": "a call by a pointer",
}


@pytest.mark.parametrize("board", ["m0_large", "m4", "rv32imac"])
@pytest.mark.parametrize("function", _UNBOUNDED)
def test_what_has_no_bound_is_found(function: str, board: str, tmp_path: Path) -> None:
    (tmp_path / "model.c").write_text(
        "#include <stdint.h>\n"
        "volatile int sink;\nint (*volatile pointer)(int);\n"
        "static __attribute__((noipa)) void g(int* values) { sink = values[0]; }\n"
        f"static __attribute__((noipa)) {function}\n"
        "void model_run(void) { g((int[]){1}); sink = f(sink); }\n"
    )
    with pytest.raises(ValueError, match=_UNBOUNDED[function]):
        stack.deepest(tmp_path, board, "-O2", tmp_path / "built")


@pytest.mark.parametrize("board", _BOARDS)
def test_functions_of_libraries_count(board: str, tmp_path: Path) -> None:
    (tmp_path / "model.c").write_text(
        "#include <stdint.h>\nvolatile int64_t a, b;\nvoid model_run(void) { a = a / b; }\n"
    )
    most, path = stack.deepest(tmp_path, board, "-O2", tmp_path / "built")
    assert len(path) > 1 and most >= 8
