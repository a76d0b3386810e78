"""Models that together use all kernels, in the forms that take the most stack."""

import itertools
from pathlib import Path

import numpy as np

import larq_engine
from tests.micro import float_models, transposed_models
from tests.micro.integer_networks import IntegerNetwork
from tests.model_builder import ABSENT, ModelBuilder, add_quantize, bconv_options
from tests.oracle import Conv, odd_numbers, pack_planes

KERNELS = Path(larq_engine.__file__).parent / "micro" / "c"

# Seeds and layers of networks that have all kernels of int8.
_INTEGERS = {1: 30, 44: 30, 25: 12}

# Taps of 4 words. Sums of up to 36 words have kernels of their own, others share one.
_SIZES = ((3, 1), (3, 3), (5, 2))
_OUTPUTS = ("bits", "int8", "float")


def write_all(folder: Path) -> list[tuple[Path, int]]:
    """Returns folders of models, and the most stack that each says it takes."""
    # None of these layers needs the deepest ways to round.
    ways = ("le_rescale_away", "le_rescale_near_away")
    models = dict.fromkeys(ways, _binary_layers()) | {
        "floats": float_models.all_operators().content()
    }
    models["transposed"] = transposed_models.model(1)[0]
    models |= {f"integers{seed}": IntegerNetwork(seed).build(n) for seed, n in _INTEGERS.items()}
    made = []
    for name, content in models.items():
        exported = larq_engine.export_c(content)
        exported.save(folder / name)
        made.append((folder / name, exported.stack_bytes))
    for way in ways:
        _round_as(way, folder / way)
    return made


def _round_as(way: str, folder: Path) -> None:
    source = (folder / "model.c").read_text().replace("le_rescale32_byte", way)
    (folder / "model.c").write_text(f'#include "le_rescale_float.h"\n{source}')
    for name in ("le_rescale_float.h", "le_float_bits.h"):
        (folder / name).write_bytes((KERNELS / name).read_bytes())


def _binary_layers() -> bytes:
    """Returns layers of all outputs, also of several bits, and what makes their inputs."""
    rng = np.random.default_rng(0)
    builder = ModelBuilder()
    shape = (1, 5, 4, 128)
    floats, numbers = builder.tensor(shape, np.float32), builder.tensor(shape, np.uint8)
    limits = np.arange(3, dtype=np.float32)[:, None]
    images = {
        1: add_quantize(builder, floats, shape),
        2: add_quantize(builder, floats, shape, limits=limits),
        8: add_quantize(builder, numbers, shape, of_bytes=True),
    }
    results = []
    for bits, taps, pad, output in itertools.product(images, _SIZES, (1, 0), _OUTPUTS):
        if bits > 1 and taps != (3, 3):
            continue
        conv = Conv(shape, taps, 33, pad_value=pad, activation="RELU", bits_in=bits)
        weights = builder.constant(pack_planes(odd_numbers(rng, 1, conv.filter_shape), 1))
        factors = [builder.constant(rng.normal(0, 9, 33).astype(np.float32)) for _ in range(2)]
        ends = [*factors, ABSENT]
        if output == "bits":
            ends = [ABSENT, ABSENT, builder.constant(np.arange(33, dtype=np.int32))]
            results.append(builder.tensor((1, 5, 4, 2), np.int32))
        elif output == "float":
            results.append(builder.tensor((1, 5, 4, 33), np.float32))
        else:
            results.append(builder.tensor((1, 5, 4, 33), np.int8, scale=9.0, zero_point=3))
        operands = [images[bits], weights, *ends]
        builder.custom("LceBconv2d", operands, [results[-1]], bconv_options(conv))
    return builder.finish([floats, numbers], results)
