"""Writes options of custom operators as no well-meaning program would.

A FlexBuffer ends with its root: the root's bytes, a byte for its type and width, a byte for its own
width. A map is a vector of values with their types behind them, and before its length the offset
and the width of the vector of its keys; offsets lead backwards.
"""

import struct
from random import Random
from typing import Any

from flatbuffers import flexbuffers

from tests.model_builder import flexbuffer_map

_KEYS = (
    "channels_in", "dilation_height_factor", "dilation_width_factor", "fused_activation_function",
    "pad_values", "padding", "stride_height", "stride_width", "filter_height", "filter_width",
    "axis", "pad_height", "", "x", "k" * 300,
)  # fmt: skip
_NUMBERS = (
    0, 1, 2, 3, 4, 5, 31, 32, 33, 64, 255, 65536, -1, -2, 2**31 - 1, 2**31, -(2**31), 2**32, 2**40,
    2**63 - 1, -(2**63),
)  # fmt: skip
_INT, _UINT, _KEY, _STRING, _MAP, _VECTOR = 1, 2, 4, 5, 9, 10


def _values(content: bytes) -> dict[str, Any]:
    try:
        value = flexbuffers.Loads(content)
    except Exception:  # an earlier mutation broke it
        return {}
    return value if isinstance(value, dict) else {}


def with_other_value(content: bytes, r: Random) -> bytes:
    """Returns a valid map with a value changed, left out or added."""
    options = _values(content)
    key = r.choice(sorted(options)) if options and r.random() < 0.8 else r.choice(_KEYS)
    way = r.randrange(8)
    if way == 0:
        options.pop(key, None)
    elif way == 1:
        options[key] = r.choice((1.5, float("nan"), 1e30, "text", "", None, True, b"blob"))
    elif way == 2:
        options[key] = r.choice(([1, 2], {"a": 1}, [[]], {}))
    else:
        options[key] = r.choice(_NUMBERS)
    return flexbuffer_map(options)


def with_other_structure(content: bytes, r: Random) -> bytes:
    """Returns damaged bytes, or a map of odd widths, shared keys and wrong counts."""
    way = r.randrange(8)
    if way == 0:
        return content[: r.randrange(len(content) + 1)]
    if way == 1:
        return r.randbytes(r.randrange(64))
    if way < 5:
        changed = bytearray(content)
        for _ in range(r.randrange(1, 4)):
            # The last bytes tell the type of the root.
            at = r.randrange(max(len(changed) - 12, 0), len(changed)) if r.random() < 0.5 else None
            changed[r.randrange(len(changed)) if at is None else at] = r.randrange(256)
        return bytes(changed)
    return _odd_map(_values(content), r)


def _odd_map(options: dict[str, Any], r: Random) -> bytes:
    width = r.choice((1, 1, 2, 4, 8))
    code = {1: "B", 2: "H", 4: "I", 8: "Q"}[width]
    mask = 256**width - 1
    entries = [(k, v if isinstance(v, int) else 0) for k, v in sorted(options.items())]
    if r.random() < 0.5 and entries:
        entries += [r.choice(entries) for _ in range(r.choice((1, 2, 50)))]
    if r.random() < 0.3:
        r.shuffle(entries)
    out = bytearray()
    places = []
    shared = r.random() < 0.2
    for key, _ in entries:
        if shared and places:
            places.append(places[0] + r.randrange(2))
            continue
        places.append(len(out))
        out += key.encode() + (b"" if r.random() < 0.05 else b"\0")
    out += bytes(-len(out) % width)

    def add(value: int) -> None:
        out.extend(struct.pack("<" + code, value & mask))

    def count(true: int) -> int:
        return r.choice((true,) * 6 + (0, true + 1, mask, mask // 2))

    add(count(len(entries)))
    keys = len(out)
    for place in places:
        add(len(out) - place + r.choice((0,) * 20 + (1, -1, 2**30)))
    add(len(out) - keys + r.choice((0,) * 8 + (1, mask)))
    add(r.choice((width,) * 8 + (0, 1, 3, 8, mask)))
    add(count(len(entries)))
    values = len(out)
    for _, value in entries:
        add(value)
    log = {1: 0, 2: 1, 4: 2, 8: 3}[width]
    types = (_INT, _UINT, _INT, _UINT, _KEY, _STRING, _MAP, _VECTOR, 3, 26, 36, 63)
    for _ in entries:
        kind = _INT if r.random() < 0.8 else r.choice(types)
        out.append(kind << 2 | r.choice((log,) * 5 + (0, 3)))
    out += bytes(-len(out) % width)
    add(len(out) - values)
    out.append(r.choice((_MAP,) * 8 + (_VECTOR, _INT, 25)) << 2 | r.choice((log,) * 8 + (0, 3)))
    out.append(r.choice((width,) * 8 + (0, 3, 255)))
    return bytes(out)
