"""Reads bodies of requests: arrays that numpy.save writes, and bytes that strangers send."""

import io
import json

import numpy as np
import pytest

from larq_engine.batch.row_body import read_row


def _body(array: np.ndarray, version: tuple[int, int] | None = None) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version)
    return file.getvalue()


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
@pytest.mark.parametrize(
    "array",
    [
        np.arange(24, dtype=np.float32).reshape(2, 3, 4),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.float64(3),
        np.zeros((0, 3), np.uint8),
        np.arange(3, dtype=">i4"),
    ],
    ids=["C", "Fortran", "scalar", "empty", "big-endian"],
)
def test_what_numpy_saves(array, version):
    got = read_row(_body(np.asarray(array), version))
    assert np.array_equal(got, array) and got.shape == np.shape(array)


@pytest.mark.parametrize(
    "array",
    [np.arange(6).reshape(2, 3), np.array([[0.5], [-2.0]]), np.array(3), np.array([True, False])],
)
def test_numbers_in_json(array):
    got = read_row(b" " + json.dumps(array.tolist()).encode())
    assert np.array_equal(got, array) and (got.shape, got.dtype) == (array.shape, array.dtype)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"[1, 2", "got something else"),
        (b"[[1, 2], [3]]", "got something else"),
        (b"[" * 100_000, "got something else"),
        (b"[1, null]", "got null"),
        (b"{}", "got null, an object"),
        (b"[" + b"9" * 30 + b"]", "too large a number"),
        (b"9" * 10_000, "got something else"),
        (b'["' + b"a" * 1000 + b'", "b"]', "got texts or an object; send json.dumps"),
        (b'{"image": [1, 2]}', "got texts or an object; send json.dumps"),
        (b"Network", "got something else"),
    ],
)
def test_json_that_is_no_row(body, words):
    with pytest.raises(ValueError, match="body: expected numbers in JSON") as raised:
        read_row(body)
    assert words in str(raised.value)


def _claims(shape: str, descr: str = "'<f4'") -> bytes:
    """Makes a header that claims a shape, and four bytes of data."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + b"\0\0\0\0"


@pytest.mark.parametrize("shape", ["(1,)", "(True,)"])
def test_a_made_up_header(shape):
    assert read_row(_claims(shape)).shape == (1,)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x93NUMPY",
        b"PK\x03\x04",
        _body(np.zeros(3))[:-1],
        _body(np.zeros(3)) + b"\0",
        _claims("(10**12,)"),
        _claims("(1000000000000,)"),
        _claims("(-1, -1)"),
        _claims("(1,)", "'O'"),
        _claims("(1,)", "[('a', 'O')]"),
        _claims("(1,)", "'x'"),
        _claims("1"),
        _claims("(" + "1, " * 70 + ")"),
        _claims("(0,)", "'V0'"),
        _claims("(" * 300),
        b"\x93NUMPY\x09\x00" + bytes(200),
    ],
)
def test_what_is_none(body):
    with pytest.raises(ValueError, match="body: expected"):
        read_row(body)


def test_objects_are_not_unpickled():
    file = io.BytesIO()
    np.save(file, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="body: expected"):
        read_row(file.getvalue())
