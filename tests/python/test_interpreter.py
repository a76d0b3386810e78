"""Interpreters have properties, take every form of input and any batch, and can be resized."""

import io
import pickle
import re
import threading
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from larq_engine.python import batching, hosts, library, progress
from larq_engine.testing import Interpreter as LceInterpreter
from tests import oracle
from tests.hosts import HOSTS
from tests.model_builder import ModelBuilder, bconv_model, one_op_model
from tests.numpy_net import Net, random_images
from tests.oracle import Conv

_INTEROP = Path(__file__).parents[1] / "interop" / "data"


def lce_model(batch: int = 1, rng: np.random.Generator | None = None) -> bytes:
    """Builds a small binary convolution whose file fixes the batch."""
    rng = rng or np.random.default_rng(5)
    conv = Conv((batch, 5, 5, 40), (3, 3), 9, stride=(2, 1))
    filters = oracle.signs(rng.standard_normal(conv.filter_shape))
    multiplier = rng.uniform(-1, 1, 9).astype(np.float32)
    return bconv_model(conv, filters, multiplier, multiplier[::-1].copy())


def two_by_two(signatures: int = 1) -> bytes:
    """Builds a + b and a * b of inputs a and b [1, 3], named in that many signatures."""
    builder = ModelBuilder()
    a, b = builder.tensor((1, 3), name="tensor_a"), builder.tensor((1, 3), name="tensor_b")
    total, product = builder.tensor((1, 3), name="sum:0"), builder.tensor((1, 3), name="product:0")
    builder.builtin("ADD", [a, b], [total])
    builder.builtin("MUL", [a, b], [product])
    for _ in range(signatures):
        # The signature has the reverse order, so that a mix-up of order and names shows.
        builder.signature({"b": b, "a": a}, {"product": product, "sum": total})
    return builder.finish([a, b], [total, product])


def baked_model(batch: int, signature: tuple[int, ...] | None = None) -> bytes:
    """Builds a model that doubles [batch, 6] and reshapes it to a constant [batch, 2, 3]."""
    builder = ModelBuilder()
    x = builder.tensor((batch, 6), name="x", signature=signature)
    twice = builder.tensor((batch, 6))
    y = builder.tensor((batch, 2, 3), name="y")
    builder.builtin("ADD", [x, x], [twice])
    builder.builtin("RESHAPE", [twice, builder.constant(np.array([batch, 2, 3], np.int32))], [y])
    return builder.finish([x], [y])


def mixing_model() -> bytes:
    """Builds sums over axis 0, which are right only for the batch of 1 that the file fixes."""
    row = {"shape": (1, 4)}
    return one_op_model("CUMSUM", row, row, ("x", np.array(0, np.int32)))


class CountedRuns:
    """Counts the batch sizes that a session is asked to run."""

    def __init__(self, interpreter: larq_engine.Interpreter, monkeypatch) -> None:
        self.batches: Counter[int] = Counter()
        run = interpreter._session.run

        def counted(arrays):
            self.batches[len(arrays[0])] += 1
            return run(arrays)

        monkeypatch.setattr(interpreter._session, "run", counted)


def test_properties_of_a_float_model():
    interpreter = larq_engine.Interpreter(_INTEROP / "residual_relu_bn_add.float.tflite")
    assert interpreter.input_names == ["input_1"]
    assert interpreter.output_names == ["dense"]
    assert interpreter.input_types == [np.float32]
    assert interpreter.output_types == [np.float32]
    assert interpreter.input_shapes == [(1, 16, 16, 3)]
    assert interpreter.output_shapes == [(1, 10)]
    assert interpreter.input_scales == interpreter.output_scales == [None]
    assert interpreter.input_zero_points == interpreter.output_zero_points == [None]
    assert isinstance(interpreter.input_types[0], np.dtype)


@pytest.mark.parametrize("host", HOSTS)
def test_properties_of_a_quantized_model(host):
    builder = ModelBuilder()
    per_tensor = {"scale": 0.5, "zero_point": -3}
    per_channel = {"scale": [0.25, 0.5], "zero_point": [0, 0], "quantized_dimension": 1}
    x = builder.tensor((1, 2), np.int8, name="x", **per_tensor)
    y = builder.tensor((1, 2), np.int8, name="y", **per_tensor)
    c = builder.tensor((1, 2), np.int8, name="c", **per_channel)
    d = builder.tensor((1, 2), name="d")
    builder.builtin("ADD", [x, x], [y])
    builder.builtin("DEQUANTIZE", [c], [d])
    interpreter = larq_engine.Interpreter(builder.finish([x, c], [y, d]), host=host)
    assert interpreter.input_types == [np.int8, np.int8]
    assert interpreter.output_types == [np.int8, np.float32]
    assert interpreter.input_scales == [0.5, [0.25, 0.5]]
    assert interpreter.input_zero_points == [-3, 0]
    assert interpreter.output_scales == [0.5, None]
    assert interpreter.output_zero_points == [-3, None]
    got = interpreter.predict([np.array([[1, 2]], np.int8), np.array([[4, 4]], np.int8)])
    np.testing.assert_array_equal(got[0], [[5, 7]])
    np.testing.assert_array_equal(got[1], [[1.0, 2.0]])


def test_names_are_those_of_the_only_signature():
    names = {count: larq_engine.Interpreter(two_by_two(count)).input_names for count in (0, 1, 2)}
    assert names == {0: ["tensor_a", "tensor_b"], 1: ["a", "b"], 2: ["tensor_a", "tensor_b"]}
    assert larq_engine.Interpreter(two_by_two()).output_names == ["sum", "product"]


def test_equal_tensor_names_are_replaced():
    builder = ModelBuilder()
    a, b = builder.tensor((1, 3), name="same"), builder.tensor((1, 3), name="same")
    y = builder.tensor((1, 3), name="y")
    builder.builtin("ADD", [a, b], [y])
    assert larq_engine.Interpreter(builder.finish([a, b], [y])).input_names == [
        "tensor_0",
        "tensor_1",
    ]


@pytest.mark.parametrize("host", HOSTS)
def test_forms_of_input_and_output(host, rng):
    interpreter = larq_engine.Interpreter(two_by_two(), host=host)
    a, b = (rng.standard_normal((4, 3)).astype(np.float32) for _ in range(2))
    forms = {
        "list": [a, b],
        "tuple": (a, b),
        "iterator of lists": iter([list(pair) for pair in zip(a, b, strict=True)]),
        "zip": zip(a, b, strict=True),
        "generator of tuples": (pair for pair in zip(a, b, strict=True)),
    }
    for name, x in forms.items():
        got = interpreter.predict(x)
        assert isinstance(got, list), name
        np.testing.assert_array_equal(got[0], a + b, err_msg=name)
        np.testing.assert_array_equal(got[1], a * b, err_msg=name)
    for x in ({"b": b, "a": a}, iter([{"a": i, "b": j} for i, j in zip(a, b, strict=True)])):
        named = interpreter.predict(x)
        assert list(named) == ["sum", "product"]
        np.testing.assert_array_equal(named["sum"], a + b)
        np.testing.assert_array_equal(named["product"], a * b)


def test_one_input_and_output_need_no_list(rng):
    x = rng.standard_normal((4, 6)).astype(np.float32)
    expected = (2 * x).reshape(4, 2, 3)

    class Tensor:
        """A tensor as other frameworks have them: convertible to an array, and iterable."""

        def __array__(self, dtype=None, copy=None):
            return x

        def __iter__(self):
            raise AssertionError("iterated instead of converted")

    class DataSet:
        """A data set that is iterable, but no iterator."""

        def __iter__(self):
            return iter(x)

    interpreter = larq_engine.Interpreter(baked_model(1))
    for form in (x, [x], (x,), Tensor(), iter(x), DataSet(), ([sample] for sample in x)):
        got = interpreter.predict(form)
        assert isinstance(got, np.ndarray)
        np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(interpreter.predict({"x": x})["y"], expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.uint16, np.float16, np.bool_])
def test_casts_that_lose_nothing(dtype):
    x = np.array([[0, 1, 1, 0, 1, 0]], dtype)
    got = larq_engine.Interpreter(baked_model(1)).predict(x)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, 2.0 * x.reshape(1, 2, 3))


def test_memory_order_and_byte_order_do_not_matter(rng):
    x = rng.standard_normal((3, 6)).astype(np.float32)
    interpreter = larq_engine.Interpreter(baked_model(1))
    for same in (np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2], x.astype(">f4")):
        np.testing.assert_array_equal(interpreter.predict(same), 2 * x.reshape(3, 2, 3))


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("kernel", ["auto", "reference"])
def test_a_batch_in_one_invoke_equals_single_samples(kernel, host, rng, monkeypatch):
    interpreter = larq_engine.Interpreter(lce_model(), kernel=kernel, host=host)
    x = rng.standard_normal((7, 5, 5, 40)).astype(np.float32)
    single = np.concatenate([interpreter.predict(sample[np.newaxis]) for sample in x])
    np.testing.assert_array_equal(interpreter.predict(x), single)
    runs = CountedRuns(interpreter, monkeypatch)
    np.testing.assert_array_equal(interpreter.predict(x), single)
    assert runs.batches == {7: 1}
    np.testing.assert_array_equal(interpreter.predict(x[2:3]), single[2:3])
    np.testing.assert_array_equal(interpreter.predict(x[:4]), single[:4])
    assert runs.batches == {7: 1, 1: 1, 4: 1}
    assert interpreter.input_shapes == [(1, 5, 5, 40)]


def test_large_data_go_in_pieces(rng, monkeypatch):
    interpreter = larq_engine.Interpreter(lce_model())
    x = rng.standard_normal((7, 5, 5, 40)).astype(np.float32)
    whole = interpreter.predict(x)
    # A sample has floats, two words of bits for each pixel, and the result.
    activations = x[0].nbytes + 5 * 5 * 2 * 4 + whole[0].nbytes
    monkeypatch.setattr(batching, "_MAX_ACTIVATION_BYTES", 4 * activations - 1)
    runs = CountedRuns(interpreter, monkeypatch)
    np.testing.assert_array_equal(interpreter.predict(x), whole)
    assert runs.batches == {3: 2, 1: 1}


@pytest.mark.parametrize("pieces", [1, 16])
def test_data_in_order_are_not_copied(pieces, rng, monkeypatch):
    """Only the results grow with the data among what Python holds at a time."""
    net = Net(rng)
    x = random_images(rng, 64, 8, 8, 64)
    model = net.finish(net.bits(net.input(x)))
    per_sample = (x.nbytes + model.expected[0].nbytes) // len(x)
    monkeypatch.setattr(batching, "_MAX_ACTIVATION_BYTES", len(x) // pieces * per_sample)
    interpreter = model.open()
    interpreter.predict(x)
    tracemalloc.start()
    try:
        got = interpreter.predict(x)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(got, model.expected[0])
    assert most < x.nbytes / 8


def test_pieces_are_as_large_as_what_a_graph_makes_of_its_input(rng, monkeypatch):
    """Activations count, scaled from the declared size of the input to that of the data."""
    builder = ModelBuilder()
    x = builder.tensor((1, 1, 1, 2), name="x", signature=(-1, -1, -1, 2))
    wide = builder.tensor((1, 1, 1, 6))
    y = builder.tensor((1, 6), name="y")
    builder.builtin("CONCATENATION", [x, x, x], [wide], axis=3)
    builder.builtin("MEAN", [wide, builder.constant(np.array([1, 2], np.int32))], [y])
    interpreter = larq_engine.Interpreter(builder.finish([x], [y]))
    data = rng.standard_normal((5, 5, 6, 2)).astype(np.float32)
    monkeypatch.setattr(batching, "_MAX_ACTIVATION_BYTES", 2 * (4 * data[0].nbytes + 6 * 30 * 4))
    runs = CountedRuns(interpreter, monkeypatch)
    expected = np.tile(data.mean((1, 2)), 3)
    np.testing.assert_allclose(interpreter.predict(data), expected, atol=1e-6)
    assert runs.batches == {2: 2, 1: 1}


def test_a_batch_is_open_only_if_it_is_for_every_input(monkeypatch):
    builder = ModelBuilder()
    a = builder.tensor((1, 3), name="a", signature=(-1, 3))
    b, both, y = builder.tensor((1, 3), name="b"), builder.tensor((1, 3)), builder.tensor((1, 3))
    builder.builtin("ADD", [a, b], [both])
    builder.builtin("CUMSUM", [both, builder.constant(np.array(0, np.int32))], [y])
    interpreter = larq_engine.Interpreter(builder.finish([a, b], [y]))
    runs = CountedRuns(interpreter, monkeypatch)
    data = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.testing.assert_array_equal(interpreter.predict([data, data]), 2 * data)
    assert runs.batches == {1: 4}


def test_an_open_batch_that_the_outputs_do_not_have(monkeypatch):
    """The file lies: the enlarged run works, and puts all samples into one row."""
    x, y = {"shape": (1, 6), "signature": (-1, 6)}, {"shape": (1, 6)}
    model = one_op_model("RESHAPE", x, y, ("x", np.array([1, -1], np.int32)))
    interpreter = larq_engine.Interpreter(model)
    runs = CountedRuns(interpreter, monkeypatch)
    data = np.arange(18, dtype=np.float32).reshape(3, 6)
    for _ in range(2):
        np.testing.assert_array_equal(interpreter.predict(data), data)
    assert runs.batches == {3: 1, 1: 6}


def test_an_iterator_may_use_the_same_interpreter():
    interpreter = larq_engine.Interpreter(baked_model(1))

    def powers():
        value = np.ones((1, 6), np.float32)
        for _ in range(3):
            value = interpreter.predict(value).reshape(1, 6)
            yield value[0]

    got: list[np.ndarray] = []
    thread = threading.Thread(target=lambda: got.append(interpreter.predict(powers())), daemon=True)
    thread.start()
    thread.join(60)
    assert got, "waits for itself"
    np.testing.assert_array_equal(got[0][:, 0, 0], [4, 8, 16])


def test_a_batch_may_change_after_a_resize(rng, monkeypatch):
    """The input is resized to another batch, and to images of another size."""
    interpreter = larq_engine.Interpreter(lce_model())
    for shape in ((4, 5, 5, 40), (1, 6, 9, 40)):
        interpreter.resize([shape])
        x = rng.standard_normal((7, *shape[1:])).astype(np.float32)
        apart = np.concatenate([interpreter.predict(sample[np.newaxis]) for sample in x])
        runs = CountedRuns(interpreter, monkeypatch)
        np.testing.assert_array_equal(interpreter.predict(x), apart)
        assert runs.batches == {7: 1}


def test_an_open_batch_is_taken_whole(rng, monkeypatch):
    row = {"shape": (1, 4), "signature": (-1, 4)}
    interpreter = larq_engine.Interpreter(one_op_model("ADD", row, row, ("x", "x")))
    runs = CountedRuns(interpreter, monkeypatch)
    data = rng.standard_normal((5, 4)).astype(np.float32)
    np.testing.assert_array_equal(interpreter.predict(data), 2 * data)
    assert runs.batches == {5: 1}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("signature", [None, (-1, 6)])
def test_a_batch_baked_into_the_graph_runs_in_its_pieces(signature, host, rng, monkeypatch):
    x = rng.standard_normal((6, 6)).astype(np.float32)
    for batch in (1, 2, 3):
        interpreter = larq_engine.Interpreter(baked_model(batch, signature), host=host)
        expected = (2 * x).reshape(6, 2, 3)
        np.testing.assert_array_equal(interpreter.predict(x), expected)
        runs = CountedRuns(interpreter, monkeypatch)
        np.testing.assert_array_equal(interpreter.predict(x), expected)
        assert runs.batches == {batch: 6 // batch}
        np.testing.assert_array_equal(interpreter.predict(iter(x)), expected)


def test_a_fixed_batch_that_does_not_divide_the_samples():
    interpreter = larq_engine.Interpreter(baked_model(4))
    for x in (np.zeros((6, 6), np.float32), iter(np.zeros((6, 6), np.float32))):
        with pytest.raises(ValueError, match="expected a multiple of 4 samples, the batch"):
            interpreter.predict(x)
    assert interpreter.predict(np.zeros((8, 6), np.float32)).shape == (8, 2, 3)


@pytest.mark.parametrize("host", HOSTS)
def test_samples_that_would_mix_run_alone(host, rng):
    x = rng.standard_normal((5, 4)).astype(np.float32)
    got = larq_engine.Interpreter(mixing_model(), host=host).predict(x)
    np.testing.assert_array_equal(got, x)


def test_outputs_without_a_batch_are_joined():
    """The output is the sum over all but the last axis of each sample, [4] for a batch of 1."""
    axes = np.array([0, 1], np.int32)
    model = one_op_model("SUM", {"shape": (1, 3, 4)}, {"shape": (4,)}, ("x", axes))
    interpreter = larq_engine.Interpreter(model)
    data = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.testing.assert_array_equal(interpreter.predict(data), data.sum(axis=1).reshape(-1))


def test_inputs_that_share_no_batch_are_taken_as_they_are():
    builder = ModelBuilder()
    a, b = builder.tensor((2, 3), name="a"), builder.tensor((), name="b")
    y = builder.tensor((2, 3), name="y")
    builder.builtin("MUL", [a, b], [y])
    interpreter = larq_engine.Interpreter(builder.finish([a, b], [y]))
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(interpreter.predict([data, np.float32(3)]), 3 * data)
    with pytest.raises(ValueError, match=r"expected shape \(2, 3\), got \(4, 3\)"):
        interpreter.predict([np.zeros((4, 3), np.float32), np.float32(3)])
    with pytest.raises(ValueError, match="share no batch axis"):
        interpreter.predict(iter([[data, np.float32(3)]]))


def test_open_height_and_width_follow_the_data(rng):
    conv = Conv((1, 1, 1, 32), (3, 3), 4)
    filters = oracle.signs(rng.standard_normal(conv.filter_shape))
    ones, zeros = np.ones(4, np.float32), np.zeros(4, np.float32)
    model = bconv_model(conv, filters, ones, zeros, input_signature=(-1, -1, -1, 32))
    interpreter = larq_engine.Interpreter(model)
    for shape in ((1, 6, 5, 32), (3, 2, 9, 32), (1, 1, 1, 32)):
        x = rng.standard_normal(shape).astype(np.float32)
        expected = oracle.dot_products(Conv(shape, (3, 3), 4), oracle.signs(x), filters)
        np.testing.assert_array_equal(interpreter.predict(x), expected)


def test_open_sizes_that_a_valid_window_does_not_fit_wait_for_the_data(rng):
    conv = Conv((1, 1, 1, 32), (3, 5), 4, padding="VALID")
    filters = oracle.signs(rng.standard_normal(conv.filter_shape))
    ones, zeros = np.ones(4, np.float32), np.zeros(4, np.float32)
    model = bconv_model(conv, filters, ones, zeros, input_signature=(1, -1, -1, 32))
    interpreter = larq_engine.Interpreter(model)
    shape = (1, 6, 7, 32)
    x = rng.standard_normal(shape).astype(np.float32)
    expected = oracle.dot_products(
        Conv(shape, (3, 5), 4, padding="VALID"), oracle.signs(x), filters
    )
    np.testing.assert_array_equal(interpreter.predict(x), expected)
    with pytest.raises(ValueError, match="expected an image that holds the filter of 3 x 5"):
        interpreter.predict(x[:, :2])


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("kernel", ["auto", "reference"])
def test_resize_after_a_run(kernel, host, rng):
    conv = Conv((1, 5, 5, 40), (3, 3), 9)
    filters = oracle.signs(rng.standard_normal(conv.filter_shape))
    ones, zeros = np.ones(9, np.float32), np.zeros(9, np.float32)
    interpreter = larq_engine.Interpreter(
        bconv_model(conv, filters, ones, zeros), kernel=kernel, host=host
    )
    shapes = [(1, 5, 5, 40), (1, 9, 4, 40), (3, 9, 4, 40), (1, 1, 1, 40), (2, 30, 31, 40)]
    for shape in [*shapes, *reversed(shapes)]:
        interpreter.resize({"x": shape} if shape[0] > 1 else [list(shape)])
        assert interpreter.input_shapes == [shape]
        x = rng.standard_normal(shape).astype(np.float32)
        expected = oracle.dot_products(Conv(shape, (3, 3), 9), oracle.signs(x), filters)
        np.testing.assert_array_equal(interpreter.predict(x), expected)
        assert interpreter.output_shapes == [expected.shape]


def test_resize_of_some_inputs_keeps_the_others():
    interpreter = larq_engine.Interpreter(two_by_two())
    interpreter.resize({"a": np.array([4, 3])})  # a is broadcast against b of one row
    assert interpreter.input_shapes == [(4, 3), (1, 3)]
    a, b = np.ones((4, 3), np.float32), np.full((1, 3), 2, np.float32)
    np.testing.assert_array_equal(interpreter.predict([a, b])[0], a + b)


def test_resize_makes_no_samples_of_the_parts_of_an_image():
    """A RESHAPE to [-1, 12] takes an image of twice the height and width for four samples."""
    target = np.array([-1, 12], np.int32)
    model = one_op_model("RESHAPE", {"shape": (1, 2, 2, 3)}, {"shape": (1, 12)}, ("x", target))
    interpreter = larq_engine.Interpreter(model)
    with pytest.raises(ValueError, match="as many samples as the inputs, 1, got 4: a RESHAPE"):
        interpreter.resize([(1, 4, 4, 3)])
    assert interpreter.input_shapes == [(1, 2, 2, 3)]
    interpreter.resize([(4, 2, 2, 3)])
    assert interpreter.output_shapes == [(4, 12)]


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_bar(monkeypatch):
    interpreter = larq_engine.Interpreter(baked_model(1))
    x = np.zeros((3, 6), np.float32)
    samples = (sample for sample in x)
    for data, shown in ((x, "3/3"), (iter(x), "3/3"), (samples, "3sample")):
        screen = _Terminal()
        monkeypatch.setattr("sys.stderr", screen)
        interpreter.predict(data, verbose=1)
        assert shown in screen.getvalue()


def test_a_log_gets_a_line_and_no_carriage_returns(capfd):
    interpreter = larq_engine.Interpreter(baked_model(1))
    x = np.zeros((3, 6), np.float32)
    interpreter.predict(x)
    assert capfd.readouterr().err == ""
    interpreter.predict(x, verbose=1)
    assert re.fullmatch(r"predict: 3 samples in \d+\.\d s\n", capfd.readouterr().err)
    larq_engine.convert_tflite(baked_model(1), verbose=1)
    steps = capfd.readouterr().err
    assert steps.startswith("converting: reading the model\nconverting: rewriting\n")
    assert "\r" not in steps


@pytest.mark.parametrize(
    ("screen", "quiet_seconds", "shown"),
    [(_Terminal, 0.0, True), (io.StringIO, 0.0, False), (_Terminal, 1e9, False)],
)
def test_long_work_shows_progress_to_a_person(screen, quiet_seconds, shown, monkeypatch):
    error = screen()
    monkeypatch.setattr("sys.stderr", error)
    monkeypatch.setattr(progress, "_QUIET_SECONDS", quiet_seconds)
    larq_engine.Interpreter(baked_model(1)).predict(np.zeros((3, 6), np.float32))
    assert ("3/3" in error.getvalue()) == shown


@pytest.mark.parametrize(
    "make", [lambda m: larq_engine.Interpreter(m, num_threads=3), lambda m: LceInterpreter(m, 3)]
)
def test_num_threads_reaches_the_host_and_the_plugin(make, monkeypatch):
    seen = []
    module = hosts.import_host(None)
    load, interpreter = hosts.load_in, module.Interpreter

    def spy_load(host, options):
        seen.append(options["num_threads"])
        return load(host, options)

    def spy_interpreter(*arguments, **options):
        seen.append(options["num_threads"])
        return interpreter(*arguments, **options)

    monkeypatch.setattr(hosts, "load_in", spy_load)
    monkeypatch.setattr(module, "Interpreter", spy_interpreter)
    monkeypatch.setattr(library, "usable_cpus", lambda: 4)
    make(lce_model())
    assert seen == [3, 3]
    monkeypatch.setattr(library, "usable_cpus", lambda: 2)
    make(lce_model())
    assert seen == [3, 3, 3, 2], "the plug-in looks for itself, the host does not"


@pytest.mark.parametrize("make", [larq_engine.Interpreter, LceInterpreter])
def test_threads_that_do_not_run_are_not_reported(make, monkeypatch):
    monkeypatch.setattr(library, "usable_cpus", lambda: 2)
    with pytest.warns(UserWarning, match="num_threads: expected .*, got 16; 2 threads will run"):
        interpreter = make(lce_model(), num_threads=16)
    assert " on cpu, 2 threads: " in repr(interpreter)
    monkeypatch.setattr(library, "usable_cpus", lambda: 8)
    with pytest.warns(UserWarning, match="got 16; 8 threads will run"):
        copy = pickle.loads(pickle.dumps(interpreter))
    assert " on cpu, 8 threads: " in repr(copy), "a larger machine runs more of them"


def test_num_threads_may_be_any_whole_number():
    x = np.ones((1, 6), np.float32)
    got = larq_engine.Interpreter(baked_model(1), num_threads=np.int64(2)).predict(x)
    np.testing.assert_array_equal(got, np.full((1, 2, 3), 2))


def test_num_threads_gives_the_same_result(rng):
    x = rng.standard_normal((2, 5, 5, 40)).astype(np.float32)
    single = larq_engine.Interpreter(lce_model()).predict(x)
    for threads in (2, 3, 16):
        got = larq_engine.Interpreter(lce_model(), num_threads=threads).predict(x)
        np.testing.assert_array_equal(got, single)


def test_results_are_copies(rng):
    interpreter = larq_engine.Interpreter(baked_model(1))
    x = rng.standard_normal((1, 6)).astype(np.float32)
    first = interpreter.predict(x)
    interpreter.predict(-x)
    np.testing.assert_array_equal(first, 2 * x.reshape(1, 2, 3))


def test_samples_do_not_see_each_other_through_a_recurrent_layer():
    builder = ModelBuilder()
    x = builder.tensor((1, 2, 3), name="x")
    weights = builder.constant(np.eye(3, dtype=np.float32))
    bias = builder.constant(np.zeros(3, np.float32))
    state = builder.tensor((1, 3), name="state")
    builder.graph.tensors[state].isVariable = True
    y = builder.tensor((1, 2, 3), name="y")
    builder.builtin("UNIDIRECTIONAL_SEQUENCE_RNN", [x, weights, weights, bias, state], [y])
    interpreter = larq_engine.Interpreter(builder.finish([x], [y]))
    samples = np.ones((3, 2, 3), np.float32)
    # The state after a step is the sum of the inputs so far.
    expected = np.cumsum(samples, axis=1)
    np.testing.assert_array_equal(interpreter.predict(samples), expected)
    np.testing.assert_array_equal(interpreter.predict(samples[:1]), expected[:1])
