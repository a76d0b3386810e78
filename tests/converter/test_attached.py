"""Labels and other files in a zip archive behind the flatbuffer stay there."""

import io
import zipfile

import numpy as np
import pytest

import larq_engine
from larq_engine.converter.api import convert_tflite
from larq_engine.converter.io_types import (
    modify_integer_quantized_model_io_type,
    strip_lcedequantize_ops,
)
from tests.converter.graphs import Net, run_engine, run_stock, signs

_FILES = {"labels.txt": b"cat\ndog\n" * 100, "folder/vocabulary.bin": bytes(range(256))}


def _model(rng) -> bytes:
    """Builds a model from int8 to a binary layer to a sign that is an output."""
    net = Net()
    x = net.input(1, 4, 4, 32)
    q = net.op("QUANTIZE", x, dtype=np.int8, scale=0.5)
    y = net.conv(net.sign(net.op("DEQUANTIZE", q)), signs(rng, 32, 3, 3, 32))
    return net.finish(net.sign(y))


def _with_files(content: bytes, *, own_offsets: bool) -> bytes:
    """Appends an archive to a model, as `zip` and Python do it.

    With `own_offsets`, it is an archive of its own that was copied behind the model.
    """
    whole = io.BytesIO(b"" if own_offsets else content)
    with zipfile.ZipFile(whole, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = b"two files"
        for name, data in _FILES.items():
            archive.writestr(name, data)
    return content * own_offsets + whole.getvalue()


def _assert_whole(content: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == _FILES
        assert archive.comment == b"two files"
        assert archive.infolist()[0].compress_type == zipfile.ZIP_DEFLATED
        # Readers that know nothing of the bytes in front find each file at its offset, too.
        for info in archive.infolist():
            assert content[info.header_offset :].startswith(b"PK\3\4")
    end = content.rindex(b"PK\5\6")
    assert content[int.from_bytes(content[end + 16 : end + 20], "little") :][:4] == b"PK\1\2"


@pytest.mark.parametrize("own_offsets", [False, True])
def test_files_behind_the_flatbuffer_stay(own_offsets, rng):
    content = _with_files(_model(rng), own_offsets=own_offsets)
    converted = convert_tflite(content)
    assert "LceBconv2d" in converted.report.operators
    _assert_whole(converted)
    assert converted.report.size_after == len(converted)
    data = [rng.uniform(-4, 4, (1, 4, 4, 32)).astype(np.float32)]
    np.testing.assert_array_equal(run_engine(converted, data)[0], run_stock(content, data)[0])
    for changed in (
        modify_integer_quantized_model_io_type(converted, "int8"),
        strip_lcedequantize_ops(converted),
        convert_tflite(converted),
        convert_tflite(content, inference_input_type="int8"),
    ):
        _assert_whole(changed)
        larq_engine.Interpreter(changed)


def test_nothing_is_attached_to_other_files(rng):
    converted = convert_tflite(_model(rng))
    assert not zipfile.is_zipfile(io.BytesIO(converted))


def test_a_damaged_archive_is_an_error(rng):
    content = bytearray(_with_files(_model(rng), own_offsets=False))
    content[content.index(b"PK\3\4") + 50] ^= 0xFF
    with pytest.raises(ValueError, match="expected the zip archive behind the model"):
        convert_tflite(bytes(content))


def test_what_only_ends_like_an_archive_is_none(rng):
    """Weights may hold any bytes, even those that end an archive."""
    content = _model(rng) + b"PK\5\6" + bytes(18)
    assert "LceBconv2d" in convert_tflite(content[:-18] + bytes([255]) * 18).report.operators


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_files_that_are_far_larger_than_the_archive_are_refused(rng, method):
    """Large files are refused before they are unpacked: 2 MB of such labels took 4 GB."""
    whole = io.BytesIO(_model(rng))
    with zipfile.ZipFile(whole, "a", method) as archive:
        archive.writestr("labels.txt", bytes(100 << 20))
    with pytest.raises(ValueError, match=r"expected (at most|files in the archive)"):
        convert_tflite(whole.getvalue(), check=False)


def test_files_without_end_are_refused(rng):
    whole = io.BytesIO(_model(rng))
    with zipfile.ZipFile(whole, "a") as archive:
        for number in range(10_001):
            archive.writestr(str(number), b"")
    with pytest.raises(ValueError, match="expected at most 10000 files in the archive, got 10001"):
        convert_tflite(whole.getvalue(), check=False)
