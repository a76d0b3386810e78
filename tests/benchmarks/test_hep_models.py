"""The networks are those of HEP-BNN's tables, and binary wherever the tables say so."""

import pytest

import larq_engine
from larq_engine.placing.profile import Profile
from tests.converter.frameworks import require_keras

require_keras()

from benchmarks.placing import hep_bnn, hep_models  # noqa: E402  imports TensorFlow

# Products for an image, layer by layer, from the tables' shapes.
BINARY = {
    "fashion": [64 * 64 * 9 * 14**2, 7 * 7 * 64 * 2048, 2048 * 10],
    "cifar": [
        *(64 * 64 * 9 * 32**2, 64 * 256 * 9 * 16**2, 256 * 256 * 9 * 16**2),
        *(256 * 512 * 9 * 8**2, 512 * 512 * 9 * 8**2, 512 * 16 * 1024, 1024 * 10),
    ],
}
FIRST = {"fashion": 9 * 64 * 28**2, "cifar": 3 * 9 * 64 * 32**2}


@pytest.fixture(scope="module", params=["fashion", "cifar"])
def profiled(request: pytest.FixtureRequest) -> tuple[str, Profile]:
    content = bytes(hep_models.convert(request.param))
    return request.param, larq_engine.profile(content, rounds=1, seconds=0.01, batch=[2]).profile


# Kinds of the published profile, and beginnings of Keras' names.
KINDS = {
    "conv": "quant_conv2d",
    "threshold": "batch_normalization",
    "pool": "max_pooling2d",
    "flatten": "flatten",
    "dense": "quant_dense",
}


def test_layers_are_those_of_the_tables() -> None:
    """Layers are counted: the published program's thresholds before pooling are equivalent."""
    names = [layer.name for layer in hep_models.build("cifar").layers[1:]]  # without the input
    published = [layer.kind.split()[0] for layer in hep_bnn.LAYERS[1:]]
    assert len(names) == len(published)
    for kind, name in KINDS.items():
        assert sum(found.startswith(name) for found in names) == published.count(kind)
    assert len(hep_models.build("fashion").layers[1:]) == 10


def test_all_but_the_first_layer_is_binary(profiled: tuple[str, Profile]) -> None:
    name, profile = profiled
    of_kind = {
        kind: [op.macs[2] // 2 for op in profile.ops if op.op == kind]
        for kind in ("LceBconv2d", "CONV_2D", "FULLY_CONNECTED")
    }
    assert of_kind == {
        "LceBconv2d": BINARY[name],
        "CONV_2D": [FIRST[name]],
        "FULLY_CONNECTED": [],
    }


def test_macs_of_cifar(profiled: tuple[str, Profile]) -> None:
    name, profile = profiled
    total = sum(op.macs.get(2, 0) for op in profile.ops if op.op == "LceBconv2d") / 2e6
    assert round(total) == {"fashion": 14, "cifar": 461}[name]
