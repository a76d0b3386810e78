"""Networks that the tests convert, the options, and the layers that must become binary."""

from dataclasses import dataclass
from typing import Any

from tests.torch import networks


@dataclass(frozen=True)
class Case:
    make: Any
    shape: tuple[int, ...]
    binary: tuple[str, ...]
    options: tuple[tuple[str, Any], ...] = ()


_PLUS_ONE = (("sign_of_zero", "+1"),)
_CHANNELS_LAST = (("channels_last", True),)

CASES = {
    "Bi-Real-18": Case(
        lambda: networks.BiReal18(width=32),
        (3, 64, 64),
        tuple(f"blocks.{number}.conv" for number in range(16)),
        _PLUS_ONE + _CHANNELS_LAST,
    ),
    "ReActNet": Case(
        networks.ReActNet,
        (3, 32, 32),
        tuple(
            f"blocks.{block}.{layer}"
            for block, layers in enumerate(
                [("conv3x3", "pointwise.0", "pointwise.1")] * 2 + [("conv3x3", "pointwise.0")]
            )
            for layer in layers
        ),
        _PLUS_ONE,
    ),
    "XNOR-Net": Case(networks.XnorNet, (3, 32, 32), ("conv1", "conv2", "conv3")),
    "AdaBin": Case(networks.AdaBinNet, (3, 32, 32), ("conv1", "conv2")),
    "AdaBin without padding": Case(
        lambda: networks.AdaBinNet(padding=0), (3, 32, 32), ("conv1", "conv2")
    ),
    "MLP": Case(networks.Mlp, (1, 28, 28), ("layers.1", "layers.2", "layers.3"), _CHANNELS_LAST),
    "keywords": Case(networks.KeywordNet, (1, 8000), ("conv1", "conv2", "conv3")),
    "Brevitas": Case(networks.BrevitasNet, (3, 32, 32), ("conv1", "conv2", "conv3")),
}
