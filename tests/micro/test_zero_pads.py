"""Binary convolutions whose taps outside of the image count nothing, beside the engine."""

from pathlib import Path

import numpy as np
import pytest

import larq_engine
from tests.micro import boards, c_model
from tests.model_builder import ABSENT, ModelBuilder, bconv_options
from tests.oracle import Conv, pack_bits

_MANY = 6000  # half of the signs of 24 taps outside are more ones than 16 bits count

_LAYERS = {
    "3x3": Conv((1, 8, 8, 64), (3, 3), 33, pad_value=0),
    "5x5 with strides": Conv((1, 9, 7, 32), (5, 5), 32, stride=(2, 3), pad_value=0),
    "dilated": Conv((1, 6, 9, 96), (3, 3), 8, dilation=(2, 3), pad_value=0),
    "one pixel": Conv((1, 1, 1, 40), (3, 3), 5, pad_value=0),
    "wider than the image": Conv((1, 3, 2, 32), (7, 9), 4, pad_value=0),
    "taps on one side": Conv((1, 4, 4, 32), (2, 2), 7, padding=((0, 3), (2, 0)), pad_value=0),
    "many products": Conv((1, 1, 1, _MANY), (5, 5), 2, pad_value=0),
}
_every_layer = pytest.mark.parametrize("name", _LAYERS)


def _model(conv: Conv) -> bytes:
    """Returns a layer of bits whose sums stay whole numbers, as floats."""
    random = np.random.default_rng(1)
    builder = ModelBuilder()
    signs = random.choice([-1, 1], conv.filter_shape)
    words = -(-conv.input_shape[-1] // 32)
    x = builder.tensor((*conv.input_shape[:3], words), np.int32)
    y = builder.tensor(conv.output_shape, np.float32)
    ones = builder.constant(np.ones(conv.output_shape[-1], np.float32))
    zeros = builder.constant(np.zeros(conv.output_shape[-1], np.float32))
    inputs = [x, builder.constant(pack_bits(signs)), ones, zeros, ABSENT]
    builder.custom("LceBconv2d", inputs, [y], bconv_options(conv))
    return builder.finish([x], [y])


def _bits(conv: Conv) -> np.ndarray:
    random = np.random.default_rng(2)
    return pack_bits(random.choice([-1, 1], (3, *conv.input_shape[1:])))


def _expected(content: bytes, bits: np.ndarray) -> np.ndarray:
    with larq_engine.Interpreter(content, host="none") as interpreter:
        return np.concatenate([interpreter.predict(image[None]) for image in bits])


@_every_layer
def test_taps_outside_count_nothing(name: str, tmp_path: Path) -> None:
    conv = _LAYERS[name]
    content, bits = _model(conv), _bits(conv)
    for flags in ((), ("-DLE_PLAIN", *c_model.SANITIZE)):
        (y,) = c_model.run(content, [bits], flags=flags, folder=tmp_path / f"{len(flags)}")
        np.testing.assert_array_equal(y, _expected(content, bits))


@pytest.mark.parametrize("board", ["m4", "m55"])
@_every_layer
def test_on_boards(name: str, board: str, tmp_path: Path) -> None:
    boards.require()
    conv = _LAYERS[name]
    content, bits = _model(conv), _bits(conv)
    larq_engine.export_c(content).save(tmp_path / "model")
    elf = boards.build(tmp_path / "model", board, tmp_path / "built")
    outputs = boards.run(elf, board, bits.tobytes()).outputs
    assert outputs == _expected(content, bits).tobytes()
