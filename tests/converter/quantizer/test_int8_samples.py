"""Data sets in all accepted forms, and the errors for what is no data set."""

import numpy as np
import pytest

import larq_engine
from larq_engine import ConversionError
from larq_engine.converter.api import convert_tflite
from larq_engine.converter.converted_model import ConvertedModel
from larq_engine.converter.quantizer.samples import from_file
from tests.converter.graphs import Net
from tests.converter.onnx_models import OnnxNet

_SHAPES = ((1, 8, 8, 32), (1, 8, 8, 16))


def _content(*, signature: bool = False, batch: int | None = None) -> bytes:
    rng = np.random.default_rng(0)
    net = Net()
    opened = {} if batch is None else {"signature": (-1, 8, 8, 32)}
    x = net.input(*_SHAPES[0], **opened)
    y = net.input(*_SHAPES[1], **({} if batch is None else {"signature": (-1, 8, 8, 16)}))
    filters = rng.normal(size=(32, 3, 3, 32)).astype(np.float32)
    left = net.conv(x, filters, padding="SAME")
    right = net.conv(y, rng.normal(size=(32, 3, 3, 16)).astype(np.float32), padding="SAME")
    z = net.conv(
        net.op("ADD", left, right),
        rng.normal(size=(16, 3, 3, 32)).astype(np.float32),
        padding="SAME",
    )
    if signature:
        net.builder.signature({"left": x.number, "right": y.number}, {"sum": z.number})
    return net.finish(z)


def _samples(count: int = 3) -> list[list[np.ndarray]]:
    rng = np.random.default_rng(1)
    return [[rng.normal(size=shape).astype(np.float32) for shape in _SHAPES] for _ in range(count)]


def _convert(dataset, *, signature: bool = True) -> ConvertedModel:
    return convert_tflite(_content(signature=signature), representative_dataset=dataset)


_NAMES = ("left", "right")

_FORMS = {
    "function": lambda: lambda: iter(_samples()),
    "list": _samples,
    "tuples": lambda: [tuple(sample) for sample in _samples()],
    "generator": lambda: (sample for sample in _samples()),
    "dictionaries": lambda: [dict(zip(_NAMES, sample, strict=True)) for sample in _samples()],
    "signature": lambda: {
        "signature_0": [dict(zip(_NAMES, sample, strict=True)) for sample in _samples()]
    },
    "without batch": lambda: [[array[0] for array in sample] for sample in _samples()],
    "one batch": lambda: [[np.concatenate(arrays) for arrays in zip(*_samples(), strict=True)]],
}


@pytest.mark.parametrize("form", _FORMS)
def test_all_forms_are_alike(form):
    converted = _convert(_FORMS[form]())
    assert converted == _convert(_samples())
    assert converted.report.int8.samples == 3
    assert converted.report.count("int8") == 3
    assert [output.name for output in converted.report.int8.outputs] == ["sum"]
    assert 0 < converted.report.int8.outputs[0].relative < 0.05


def test_a_dictionary_where_there_is_no_signature():
    with pytest.raises(ValueError, match=r"names no signature, got a dictionary of \['input_0'\]"):
        _convert({"input_0": []}, signature=False)


def test_nothing_gains(net):
    x = net.input(1, 4, 4, 3)
    content = net.finish(net.op("ADD", x, 1.0))
    converted = convert_tflite(content, representative_dataset=[np.zeros((1, 4, 4, 3), np.float32)])
    assert converted.report.operators == {"ADD": 1}
    text = str(converted.report)
    assert "the ranges of 1 sample:" in text and "No operator gains by it." in text


def test_nothing_but_zeros(net, rng):
    """A tensor that is always zero gets a scale, too."""
    x = net.input(1, 4, 4, 32)
    content = net.finish(net.conv(x, rng.normal(size=(64, 3, 3, 32)).astype(np.float32)))
    zeros = np.zeros((1, 4, 4, 32), np.float32)
    converted = convert_tflite(content, representative_dataset=[zeros])
    assert {tensor.scale for tensor in converted.report.int8.tensors} == {1.0}
    assert not larq_engine.Interpreter(converted).predict(zeros).any()


def test_names_of_tensors_where_there_is_no_signature():
    samples = [dict(zip(("input_0", "input_1"), sample, strict=True)) for sample in _samples()]
    assert _convert(samples, signature=False).report.int8.samples == 3


def test_an_open_batch():
    converted = convert_tflite(_content(batch=-1), representative_dataset=_samples())
    data = [np.concatenate(arrays) for arrays in zip(*_samples(), strict=True)]
    assert larq_engine.Interpreter(converted).predict(data).shape == (3, 8, 8, 16)


def _one(**changed: np.ndarray):
    sample = dict(zip(_NAMES, _samples()[0], strict=True))
    return [sample | changed]


_NAN = np.full(_SHAPES[0], np.nan, np.float32)


@pytest.mark.parametrize(
    ("dataset", "error", "text"),
    [
        (5, TypeError, "expected a function that returns samples, or an iterable.* got int"),
        ("file.npz", TypeError, "got str"),
        (lambda: None, TypeError, "got NoneType"),
        (np.array(3.0, np.float32), TypeError, "got an array of no dimension"),
        ([], ValueError, "expected at least one sample, got none"),
        (lambda: iter([]), ValueError, "expected at least one sample, got none"),
        ([3.0], TypeError, "sample #0: expected a list of arrays.* got float"),
        ([_samples()[0][:1]], ValueError, r"sample #0: inputs: expected 2 array\(s\).* got 1"),
        (_one(other=np.zeros(3)), ValueError, r"expected the names \['left', 'right'\], got"),
        (_one(left=np.zeros((2, 2), np.float32)), ValueError, "'left'.*expected shape"),
        (_one(left=np.zeros(_SHAPES[0])), TypeError, "expected float32, got float64"),
        (_one(left=_NAN), ValueError, "'left'.*expected finite numbers, got NaN"),
        ({"other": []}, ValueError, r"signatures \['signature_0'\] to samples, got \['other'\]"),
        ([*_samples(), 4], TypeError, "sample #3"),
    ],
)
def test_what_is_no_data_set(dataset, error, text):
    with pytest.raises(error, match=f"representative_dataset: .*{text}"):
        _convert(dataset)


def test_an_overflow_inside():
    samples = [[array * np.float32(3e37) for array in _samples()[0]]]
    with pytest.raises(ConversionError, match=r"NaN or infinity in '.*'; look at the weights"):
        _convert(samples)


def test_beside_a_range():
    with pytest.raises(TypeError, match="experimental_default_int8_range"):
        convert_tflite(_content(), experimental_default_int8_range=(-1, 1))  # type: ignore[call-arg]


def test_files(tmp_path):
    arrays = {name: np.concatenate([s[n] for s in _samples()]) for n, name in enumerate(_NAMES)}
    np.savez(tmp_path / "samples.npz", **arrays)
    assert _convert(from_file(tmp_path / "samples.npz")) == _convert(_samples())
    np.save(tmp_path / "samples.npy", arrays["left"])
    np.testing.assert_array_equal(from_file(tmp_path / "samples.npy"), arrays["left"])
    np.savez(tmp_path / "uneven.npz", left=arrays["left"], right=arrays["right"][:2])
    with pytest.raises(ValueError, match="same number of samples along axis 0, got"):
        from_file(tmp_path / "uneven.npz")
    np.savez(tmp_path / "empty.npz")
    with pytest.raises(ValueError, match="same number of samples"):
        from_file(tmp_path / "empty.npz")
    (tmp_path / "text.npy").write_text("no numbers")
    with pytest.raises(ValueError, match=r"text.npy': expected a .npy or .npz file"):
        from_file(tmp_path / "text.npy")
    with pytest.raises(FileNotFoundError):
        from_file(tmp_path / "absent.npy")


def test_an_onnx_model(rng):
    """Samples are as the ONNX model takes them, and the batch stays open."""
    net = OnnxNet()
    x = net.input("batch", 32, 8, 8)
    weights = [rng.normal(size=(32, 32, 3, 3)).astype(np.float32) / 16 for _ in range(2)]
    y = net.conv(x, weights[0], pads=[1] * 4)
    y = net.op("Add", y, net.conv(net.bipolar(y), np.sign(weights[1]), pads=[1] * 4))
    samples = [{"input_0": rng.normal(size=(1, 32, 8, 8)).astype(np.float32)} for _ in range(3)]
    converted = larq_engine.convert_onnx(net.finish(y), representative_dataset=samples)
    assert converted.report.summarize() == "1 binary, 1 int8"
    data = np.concatenate([sample["input_0"] for sample in samples])
    assert larq_engine.Interpreter(converted).predict(data).shape == (3, 32, 8, 8)
    (signs,) = converted.report.int8.signs
    assert signs.changed < 0.02 * signs.signs
