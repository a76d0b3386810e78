"""Predictor turns batches of rows into batches of rows; a bad row does not affect others."""

import multiprocessing
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from larq_engine.batch import Predictor
from larq_engine.batch.cpus import given_cpus
from larq_engine.python import library
from tests import oracle
from tests.model_builder import ModelBuilder, bconv_model, open_conv_model
from tests.oracle import Conv

_SHAPE = (6, 5, 40)


def _model(outputs: tuple[str, ...] = ("float",), batch: int = 1, **options: object) -> bytes:
    rng = np.random.default_rng(0)
    conv = Conv((batch, *_SHAPE), (3, 3), 8)
    filters = oracle.signs(rng.standard_normal(conv.filter_shape))
    multiplier, bias = rng.standard_normal((2, 8)).astype(np.float32)
    return bconv_model(conv, filters, multiplier, bias, outputs=outputs, **options)


def _sum_model(dtype: type = np.float32, shape: tuple[int, ...] = (1, 3)) -> bytes:
    """Makes a model from two inputs, a and b, to their sum y and twice that sum."""
    builder = ModelBuilder()
    a, b, y, z = (builder.tensor(shape, dtype, name=name) for name in "abyz")
    builder.builtin("ADD", [a, b], [y])
    builder.builtin("ADD", [y, y], [z])
    return builder.finish([a, b], [y, z])


def _open_model() -> bytes:
    """Makes a model of images of any size."""
    builder = ModelBuilder()
    x = builder.tensor((1, 1, 1, 2), name="x", signature=(-1, -1, -1, 2))
    y = builder.tensor((1, 1, 1, 2), name="y", signature=(-1, -1, -1, 2))
    builder.builtin("ADD", [x, x], [y])
    return builder.finish([x], [y])


def _images(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.standard_normal((count, *_SHAPE)).astype(np.float32)


def _objects(rows: list) -> np.ndarray:
    column = np.empty(len(rows), object)
    for number, row in enumerate(rows):
        column[number] = row
    return column


def test_a_column_of_rows(tmp_path, rng):
    path = tmp_path / "model.tflite"
    path.write_bytes(_model())
    images = _images(rng, 7)
    expected = larq_engine.Interpreter(path).predict(images)
    batch = {"id": np.arange(7), "image": images}
    got = Predictor(path, "image", outputs="scores")(batch)
    assert list(got) == ["id", "scores"]
    assert got["id"] is batch["id"]
    assert np.array_equal(got["scores"], expected)


_FORMS: dict[str, Callable[[np.ndarray], object]] = {
    "array": lambda x: x,
    "float64": lambda x: x.astype(np.float64),
    "not contiguous": lambda x: np.repeat(x, 2, axis=0)[::2],
    "objects": lambda x: _objects(list(x)),
    "lists": lambda x: x.tolist(),
    "list of arrays": list,
    "objects of objects": lambda x: _objects([_objects(list(map(_objects, row))) for row in x]),
}


@pytest.mark.parametrize("form", _FORMS)
def test_every_form_of_a_column(form, rng):
    images = _images(rng, 4)
    column = _FORMS[form](images.tolist() if form == "objects of objects" else images)
    got = Predictor(_model(), "x")({"x": column})
    assert np.array_equal(got["y_float"], Predictor(_model())({"x": images})["y_float"])


def test_several_inputs_and_outputs(rng):
    a, b = rng.standard_normal((2, 5, 3)).astype(np.float32)
    predict = Predictor(_sum_model(), {"a": "left", "b": "right"}, outputs={"z": "twice"})
    got = predict({"left": a, "right": b, "more": np.arange(5)})
    assert list(got) == ["more", "twice"]
    assert np.array_equal(got["twice"], (a + b) + (a + b))


@pytest.mark.parametrize("batch_size", [1, 2, np.int64(3), 100])
def test_rows_are_run_in_batches(batch_size, rng, monkeypatch):
    sizes = []
    predict = larq_engine.Interpreter.predict
    monkeypatch.setattr(
        larq_engine.Interpreter,
        "predict",
        lambda self, x: sizes.append(len(x["x"])) or predict(self, x),
    )
    images = _images(rng, 7)
    expected = Predictor(_model())({"x": images})["y_float"]
    sizes.clear()
    got = Predictor(_model(), batch_size=batch_size)({"x": images})
    assert sum(sizes) == 7 and max(sizes) == min(batch_size, 7)
    assert np.array_equal(got["y_float"], expected)


def test_a_fixed_batch_is_filled_up(rng):
    images = _images(rng, 7)
    got = Predictor(_model(batch=4))({"x": images})
    assert np.array_equal(got["y_float"], larq_engine.Interpreter(_model()).predict(images))


def test_no_rows():
    got = Predictor(_model(), on_error="null")({"x": np.empty((0, *_SHAPE), np.float32)})
    assert got["y_float"].shape == (0, 6, 5, 8) and got["y_float"].dtype == np.float32
    assert len(got["error"]) == 0
    assert len(Predictor(_model())({"x": []})["y_float"]) == 0


def test_images_of_several_sizes(rng):
    rows = [rng.standard_normal((size, 3, 2)).astype(np.float32) for size in (2, 4, 2, 5)]
    got = Predictor(_open_model(), on_error="null")({"x": _objects([*rows, np.zeros((2, 3))])})
    assert all(np.array_equal(y, 2 * x) for x, y in zip(rows, got["y"], strict=False))
    assert got["y"][4] is None
    assert "expected float32 of the shape (?, ?, 2), got the shape (2, 3)" in got["error"][4]


# ---- Bad rows ------------------------------------------------------------------------------------

_GOOD = np.ones(_SHAPE, np.float32)


def _with(value: float) -> np.ndarray:
    row = _GOOD.astype(np.float64)
    row[3, 2, 1] = value
    return row


class _NoArray:
    """An object that refuses to be an array, as PyTorch's tensors with gradients."""

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise RuntimeError("call detach")


_BAD = {
    "shape": (_GOOD[1:], "got the shape (5, 5, 40)"),
    "rank": (_GOOD[0], "got the shape (5, 40)"),
    "nothing": (None, "got None"),
    "text": ("image", "got <U5"),
    "bytes": (b"image", "got |S5"),
    "masked": (np.ma.masked_greater(_with(9), 8), "got masked values"),
    "dictionary": ({"a": 1}, "got dict"),
    "large numbers": ([2**80, 1], "got whole numbers of more than 64 bits"),
    "partly nothing": ([1.0, None], "got None"),
    "objects": ([1.0, Path()], "got PosixPath"),
    "no array": (_NoArray(), "got _NoArray, no array (call detach)"),
    "complex": (_GOOD.astype(np.complex64), "got complex64"),
    "ragged": ([[1.0, 2.0], [3.0]], "got lists that differ in length"),
    "NaN": (_with(np.nan), "got NaN"),
    "too large": (_with(1e300), "got values beyond the largest float32"),
}


@pytest.mark.parametrize("case", _BAD)
def test_a_bad_row(case, rng):
    row, words = _BAD[case]
    images = _images(rng, 3)
    batch = {"x": _objects([images[0], row, images[1], images[2]]), "id": np.arange(4)}
    expected = larq_engine.Interpreter(_model()).predict(images)
    got = Predictor(_model(), on_error="null")(batch)
    assert np.array_equal(got["y_float"][[0, 2, 3]], expected)
    assert got["y_float"].dtype == np.float32 and np.isnan(got["y_float"][1]).all()
    error = f"column 'x': expected float32 of the shape (6, 5, 40), {words}"
    assert list(got["error"]) == ["", error, "", ""]
    with pytest.raises(ValueError) as raised:
        Predictor(_model())(batch)
    remedy = "correct the row, or let rows like this be null with on_error='null'"
    assert str(raised.value) == f"row 1 of 4: {error}; {remedy}"


def test_nan_is_refused_here_and_computed_with_by_the_interpreter():
    """A sign makes +1 of NaN, and floats keep it, as `Interpreter.predict` documents."""
    x = _with(np.nan).astype(np.float32)
    ones = np.where(np.isnan(x), np.float32(1), x)
    interpreter = larq_engine.Interpreter(_model())
    assert np.array_equal(interpreter.predict(x[np.newaxis]), interpreter.predict(ones[np.newaxis]))
    row = np.full((1, 3), np.nan, np.float32)
    assert np.isnan(larq_engine.Interpreter(_sum_model()).predict([row, row])[0]).all()
    for model, batch in ((_model(), {"x": x[np.newaxis]}), (_sum_model(), {"a": row, "b": row})):
        with pytest.raises(ValueError, match="got NaN"):
            Predictor(model)(batch)


def test_what_is_no_batch_or_model():
    """The error names the batch's type, and does not print its values."""
    with pytest.raises(TypeError) as raised:
        Predictor(_model())(np.zeros((5, *_SHAPE), np.float32))
    assert str(raised.value) == (
        "batch: expected a dictionary from column to rows, got ndarray; as in predict({'x': rows})"
        ", or give arrays to larq_engine.Interpreter"
    )
    assert repr(Predictor(5)).startswith("<Predictor of int: ")


def test_rows_of_a_size_that_the_model_refuses():
    """The file leaves the size open, so only the refused row has an error."""
    rows = _objects([np.ones((5, 5, 2)), np.ones((1, 1, 2)), np.ones((3, 4, 2))])
    got = Predictor(open_conv_model(), on_error="null")({"x": rows})
    assert [bool(error) for error in got["error"]] == [False, True, False]
    assert "from (1, 5, 5, 2) to (1, 1, 1, 2): expected shapes that the model" in got["error"][1]
    assert [None if y is None else y.shape for y in got["y"]] == [(3, 3, 1), None, (1, 2, 1)]
    assert (got["y"][0] == 18).all()
    with pytest.raises(ValueError, match=r"^row 1 of 3: resize of input 'x'.*on_error='null'"):
        Predictor(open_conv_model())({"x": rows})


def test_a_masked_column(rng):
    images = np.ma.MaskedArray(_images(rng, 3), mask=False)
    expected = Predictor(_model())({"x": images.data})["y_float"]
    assert np.array_equal(Predictor(_model())({"x": images})["y_float"], expected)
    images[1, 0, 0, 0] = np.ma.masked
    got = Predictor(_model(), on_error="null")({"x": images})
    assert [error[-17:] for error in got["error"]] == ["", "got masked values", ""]
    assert np.array_equal(got["y_float"][[0, 2]], expected[[0, 2]])


def test_nan_in_an_array(rng):
    images = _images(rng, 5)
    images[2, 0, 0, 0] = np.nan
    got = Predictor(_model(), on_error="null")({"x": images})
    assert [bool(error) for error in got["error"]] == [False, False, True, False, False]
    assert np.isnan(got["y_float"][2]).all() and not np.isnan(got["y_float"][3]).any()


def test_all_rows_bad():
    got = Predictor(_model(), on_error="null")({"x": np.zeros((3, 2))})
    assert got["y_float"].shape == (3, 6, 5, 8) and np.isnan(got["y_float"]).all()
    assert all("got the shape (2,)" in error for error in got["error"])


def test_integer_outputs_are_none_where_a_row_is_bad(rng):
    """The column has objects even without a bad row: parts that are joined need one type."""
    model = _model(("int8",), scale=0.5, zero_point=3)
    images = _images(rng, 3)
    expected = larq_engine.Interpreter(model).predict(images)
    good = Predictor(model, on_error="null")({"x": images})["y_int8"]
    mixed = Predictor(model, on_error="null")({"x": [images[0], None, images[2]]})["y_int8"]
    assert good.dtype == mixed.dtype == object and mixed[1] is None
    assert all(np.array_equal(good[n], expected[n]) for n in range(3))
    assert np.array_equal(mixed[2], expected[2])
    assert Predictor(model)({"x": images})["y_int8"].dtype == np.int8


def test_integer_inputs_take_what_they_hold():
    predict = Predictor(_sum_model(np.int32), on_error="null")
    b = np.ones((4, 3), np.int64)
    a = _objects([np.array([1, 2, 3], np.uint8), [2**31, 0, 0], [1.0, 2.0, 3.0], [True] * 3])
    got = predict({"a": a, "b": b})
    assert [row if row is None else row.tolist() for row in got["y"]] == [
        *[[2, 3, 4], None, None],
        [2, 2, 2],
    ]
    assert "got values from 0 to 2147483648" in got["error"][1]
    assert "got float64" in got["error"][2]


def test_the_first_bad_column_is_told(rng):
    got = Predictor(_sum_model(), on_error="null")({"a": [None, [1, 2, 3]], "b": [None, [1, 2]]})
    assert got["error"][0].startswith("column 'a'") and got["error"][1].startswith("column 'b'")


# ---- What is wrong with all rows is an error -----------------------------------------------------


@pytest.mark.parametrize(
    ("make", "batch", "words"),
    [
        (lambda: Predictor(_model(), "image"), {"x": 0}, r"a column 'image', got \['x'\]"),
        (lambda: Predictor(_sum_model(), "a"), {}, r"from each of \['a', 'b'\].*got 'a'"),
        (lambda: Predictor(_sum_model(), {"a": "a"}), {}, r"from each of \['a', 'b'\]"),
        (lambda: Predictor(_model(), outputs={"q": "q"}), {"x": []}, r"some of \['y_float'\]"),
        (lambda: Predictor(_sum_model(), outputs="s"), {"a": [], "b": []}, r"some of \['y', 'z'\]"),
        (
            lambda: Predictor(_sum_model()),
            {"a": np.ones((2, 3)), "b": np.ones((3, 3))},
            r"as many rows in each column, got {'a': 2, 'b': 3}",
        ),
        (lambda: Predictor(_model()), {"x": np.float32(1)}, "a row at each index, got one value"),
        (lambda: Predictor(_model()), {"x": [], "y_float": []}, "does not have, got 'y_float'"),
        (lambda: Predictor(_model(), on_error="null"), {"x": [], "error": []}, "got 'error'"),
        (
            lambda: Predictor(_model(), on_error="null", error_column="y_float"),
            {"x": []},
            r"a column of its own .* got \['y_float', 'y_float'\]",
        ),
        (
            lambda: Predictor(_sum_model(), outputs={"y": "s", "z": "s"}),
            {"a": [], "b": []},
            r"a column of its own .* got \['s', 's'\]",
        ),
        (lambda: Predictor(_model(), 5), {"x": []}, r"from each of \['x'\].*got 5"),
        (lambda: Predictor(_model(), outputs=5), {"x": []}, r"some of \['y_float'\].*got 5"),
        (lambda: Predictor(b"no model"), {"x": []}, "model"),
        (lambda: Predictor("no.tflite"), {"x": []}, "no.tflite"),
        (lambda: Predictor(_model(), device="tpu"), {"x": []}, "device"),
    ],
)
def test_what_does_not_fit(make, batch, words):
    predict = make()
    with pytest.raises((ValueError, FileNotFoundError), match=words):
        predict(batch)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"on_error": "skip"}, r"on_error: expected one of \('raise', 'null'\), got 'skip'"),
        ({"batch_size": 0}, "batch_size: expected a positive integer or None, got 0"),
        ({"batch_size": True}, "batch_size: .* got True"),
        ({"batch_size": 2.0}, "batch_size: .* got 2.0"),
        ({"batch_size": np.int64(-1)}, "batch_size: .* got .*-1"),
        ({"on_error": "null", "error_column": None}, "error_column: expected a name, got None"),
        ({"on_error": "null", "error_column": ""}, "error_column: expected a name, got ''"),
        ({"nun_threads": 2}, "unexpected keyword argument 'nun_threads'"),
    ],
)
def test_arguments_are_checked_at_once(arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        Predictor("model.tflite", **arguments)


def test_outputs_must_have_rows(rng):
    builder = ModelBuilder()
    x, y = builder.tensor((1, 3), name="x", signature=(-1, 3)), builder.tensor((3,), name="y")
    builder.builtin("MEAN", [x, builder.constant(np.array([0], np.int32))], [y])
    with pytest.raises(ValueError, match=r"output 'y': expected a row for each of 2 rows"):
        Predictor(builder.finish([x], [y]))({"x": np.ones((2, 3))})


def test_inputs_must_have_rows():
    builder = ModelBuilder()
    x, y = builder.tensor((), name="x"), builder.tensor((), name="y")
    builder.builtin("ADD", [x, x], [y])
    with pytest.raises(ValueError, match=r"expected inputs with samples along their first axis"):
        Predictor(builder.finish([x], [y])).open()


# ---- Workers -------------------------------------------------------------------------------------


def _predict_with(predict: Predictor, images: np.ndarray) -> tuple[int, np.ndarray]:
    return os.getpid(), predict({"x": images})["y_float"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("is_open", [False, True])
def test_worker_processes(method, is_open, tmp_path, rng):
    path = tmp_path / "model.tflite"
    path.write_bytes(_model())
    images = _images(rng, 12)
    predict = Predictor(path)
    if is_open:
        predict.open()
    with multiprocessing.get_context(method).Pool(2) as pool:
        parts = [(predict, images[start : start + 3]) for start in range(0, 12, 3)]
        # A worker that hangs is ended with the pool.
        done = pool.starmap_async(_predict_with, parts, chunksize=1).get(timeout=300)
    assert all(pid != os.getpid() for pid, _ in done)
    got = np.concatenate([part for _, part in done])
    assert np.array_equal(got, predict({"x": images})["y_float"])


def test_a_copy_opens_the_model_where_it_is_used(tmp_path, rng):
    path = tmp_path / "model.tflite"
    content = pickle.dumps(Predictor(path, "x", outputs="y"))
    assert len(content) < 1000
    path.write_bytes(_model())
    assert Predictor(path).open()
    again = pickle.loads(pickle.dumps(pickle.loads(content).open()))
    assert again({"x": _images(rng, 2)})["y"].shape == (2, 6, 5, 8)


@pytest.mark.parametrize(
    ("num_threads", "usable", "given"),
    [
        *[("1", 8, 1), ("4", 8, 4), ("16", 8, 8), ("4,2", 8, 4), (" 3 ", 8, 3)],
        *[("", 8, 8), (None, 3, 3), ("0", 8, 8), ("many", 8, 8), ("-2", 8, 8), ("²", 8, 8)],
    ],
)
def test_threads_are_the_cpus_that_are_given(num_threads, usable, given, monkeypatch):
    monkeypatch.setattr(library, "usable_cpus", lambda: usable)
    if num_threads is None:
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    else:
        monkeypatch.setenv("OMP_NUM_THREADS", num_threads)
    assert given_cpus() == given


@pytest.mark.parametrize(("asked", "threads"), [(None, 2), (3, 3)])
def test_threads_reach_the_interpreter(asked, threads, monkeypatch):
    monkeypatch.setattr(library, "usable_cpus", lambda: 2)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    seen = []
    init = larq_engine.Interpreter.__init__
    monkeypatch.setattr(
        larq_engine.Interpreter,
        "__init__",
        lambda self, model, **options: seen.append(options) or init(self, model, **options),
    )
    Predictor(_model(), num_threads=asked, device="cpu").open()
    assert seen == [{"num_threads": threads, "device": "cpu"}]


def test_no_more_cpus_than_there_are():
    assert 1 <= library.usable_cpus() <= len(os.sched_getaffinity(0))


def test_a_subset_of_cpus(tmp_path: Path):
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert library.usable_cpus() == 1
    finally:
        os.sched_setaffinity(0, before)
