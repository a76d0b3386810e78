"""Truncated and corrupted files raise ValueError, or run if only weights are damaged; no crash.

The tests need only what tflite_runtime's environment has: that host follows every offset unchecked.
"""

import struct
from collections import Counter
from pathlib import Path

import pytest

from tests.crash_box import load_and_run
from tests.hosts import HOSTS

_MODELS = sorted((Path(__file__).parent / "data").glob("*.tflite"))


@pytest.mark.parametrize("host", HOSTS)
def test_truncated_files(host, box, full):
    model = min(_MODELS, key=lambda path: path.stat().st_size).read_bytes()
    step = 1 if full else 41
    for size in [*range(0, len(model), step), len(model) - 1]:
        kind, message = box.call(load_and_run, model[:size], host)
        assert kind == "ValueError", size
        assert f"model ({size} bytes): expected " in message
        assert "copy or convert it again" in message or "give the content of a .tflite" in message


def _with_buffer_outside(model: bytes, offset: int, size: int) -> bytes:
    """Replaces the last constant by one whose data are elsewhere in the file."""

    def read(code: str, position: int) -> int:
        return int(struct.unpack_from("<" + code, model, position)[0])

    root = read("I", 0)
    field = root + read("H", root - read("i", root) + 4 + 2 * 4)  # Model's field 4 has the buffers
    vector = field + read("I", field)
    last = vector + 4 * read("I", vector)
    model += bytes(-len(model) % 8)
    # The layout is of a table of 24 bytes: no field 0, fields 1 and 2 at bytes 8 and 16.
    layout = struct.pack("<5H6x", 10, 24, 0, 8, 16)
    table = len(model) + len(layout)
    content = bytearray(model + layout + struct.pack("<i4xQQ", len(layout), offset, size))
    struct.pack_into("<I", content, last, table - last)
    return bytes(content)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("offset", [2**64 - 2**44, 2**64 - 4096, 2**40])
def test_data_that_lie_outside_the_file(offset, host, box):
    """Hosts add the offset to the address of the file and read there."""
    model = _with_buffer_outside(_MODELS[0].read_bytes(), offset, 4)
    kind, message = box.call(load_and_run, model, host)
    assert kind == "ValueError"
    assert f"expected data of 4 bytes at byte {offset}, got a file of {len(model)}; " in message


@pytest.mark.parametrize("host", HOSTS)
def test_corrupted_files(host, box, full, rng):
    outcomes: Counter[str] = Counter()
    for case in range(5000 if full else 150):
        content = bytearray(_MODELS[case % len(_MODELS)].read_bytes())
        for position in rng.integers(len(content), size=rng.integers(1, 5)):
            content[position] = rng.integers(256)
        try:
            kind, message = box.call(load_and_run, bytes(content), host)
        except AssertionError as crash:
            raise AssertionError(f"case {case}") from crash
        assert kind in ("", "ValueError"), (case, kind, message)
        assert bool(kind) == bool(message), case
        outcomes[kind] += 1
    assert min(outcomes[""], outcomes["ValueError"]) > 20, "damage of both sorts was tried"
