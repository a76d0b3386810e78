"""Files of several bits a value, made by an earlier version, give NumPy's recorded outputs.

`own/` has the files with inputs and outputs; own_models.py made them.
"""

import numpy as np
import pytest

import larq_engine
from larq_engine.converter import schema
from tests.hosts import HOSTS
from tests.interop.own_models import FOLDER, MODELS
from tests.kernel_rows import KERNELS


def _recorded(name: str) -> tuple[np.ndarray, list[np.ndarray]]:
    with np.load(FOLDER / f"{name}.npz") as recorded:
        outputs = [recorded[f"y{number}"] for number in range(len(recorded.files) - 1)]
        return recorded["x"], outputs


def _assert_same(got: object, expected: list[np.ndarray], what: object) -> None:
    outputs = got if isinstance(got, list) else [got]
    for output, y in zip(outputs, expected, strict=True):
        assert output.dtype == y.dtype
        np.testing.assert_array_equal(output, y, err_msg=str(what))


def _plain(options: object) -> object:
    """Returns options to compare: those of the host's operators are objects of the schema."""
    return vars(options) if hasattr(options, "__dict__") else options


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", MODELS)
def test_outputs_are_as_recorded(name, kernel, host):
    x, expected = _recorded(name)
    # A dense layer as small as this stays with the host, unless it is placed.
    options = {"kernel": kernel}
    if name.startswith("unpacked"):
        options = {"placement": "1:cpu" if kernel == "auto" else f"1:cpu:{kernel}"}
    for threads in (1, 2, 4):
        with larq_engine.Interpreter(
            FOLDER / f"{name}.tflite", host=host, num_threads=threads, **options
        ) as interpreter:
            _assert_same(interpreter.predict(x), expected, (threads, "all"))
            for i in range(len(x)):
                one = [y[i : i + 1] for y in expected]
                _assert_same(interpreter.predict(x[i : i + 1]), one, (threads, i))


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith("unpacked")])
def test_dense_layers_of_the_host(name, host):
    x, expected = _recorded(name)
    model = larq_engine.Interpreter(FOLDER / f"{name}.tflite", host=host)
    _assert_same(model.predict(x), expected, name)


@pytest.mark.parametrize("name", MODELS)
def test_outputs_are_worth_comparing(name):
    for y in _recorded(name)[1]:
        assert len(np.unique(y)) > y.size / 50 or len(np.unique(y)) > 30


@pytest.mark.parametrize("name", MODELS)
def test_the_script_makes_the_same_models(name):
    """Only the meaning is compared, as files of the same operators may be laid out differently."""
    made = MODELS[name]()
    x, outputs = _recorded(name)
    np.testing.assert_array_equal(made.x, x)
    _assert_same(list(made.outputs), outputs, name)
    stored, now = (
        schema.read(content).graphs[0]
        for content in ((FOLDER / f"{name}.tflite").read_bytes(), made.content)
    )
    assert [op.kind for op in stored.ops] == [op.kind for op in now.ops]
    for old, new in zip(stored.ops, now.ops, strict=True):
        assert _plain(old.options) == _plain(new.options)
        tensors = zip([*old.inputs, *old.outputs], [*new.inputs, *new.outputs], strict=True)
        for one, other in tensors:
            assert (one is None) == (other is None)
            if one is None or other is None:
                continue
            assert (one.shape, one.dtype, one.quantization) == (
                other.shape, other.dtype, other.quantization,
            )  # fmt: skip
            assert (one.data is None) == (other.data is None)
            if one.data is not None:
                np.testing.assert_array_equal(one.data, other.data)


def test_there_is_no_file_that_nobody_makes():
    assert sorted(MODELS) == sorted(path.stem for path in FOLDER.glob("*.tflite"))
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 200_000
