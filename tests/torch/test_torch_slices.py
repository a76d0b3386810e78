"""Slices of a module are watched at other sizes, and exported if watching tells too little."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from larq_engine.converter.torch_reader import slices
from larq_engine.converter.torch_reader.exporting import Resized, export
from larq_engine.converter.torch_reader.slices import read_slices


def _unused(x):
    x[:, :, 2:]
    return x[:, :, 1:, :-1] + x[:, :, 1:, 3:4]


def _circular(x):
    return F.pad(x[:, :, 1:], (1, 2, 0, 1), mode="circular")[:, 2:, :-1]


def _twice(x):
    return x[:, :, 1:][:, :, 1:] + x[:, :, 2:]


def _by_sizes(x):
    return x.narrow(2, 1, x.shape[2] - 2)[..., x.shape[3] - 5 : x.shape[3] - 2]


def _changed_part(x):
    y = x * 2
    y[:, :, 1:] += 1
    return y[:, :, :-1]


_WATCHED = {
    "numbers": lambda x: x[:, 1:-1, 1:6, -3:],
    "by their sizes": _by_sizes,
    "unused": _unused,
    "circular pad": _circular,
    "one behind the other": _twice,
    "half": lambda x: x[:, :, : x.shape[2] // 2],
    "beside a negative pad": lambda x: F.pad(x, (-1, 0, 1, -2))[:, 1:],
}
# These forms run other operators at some sizes, or have other slices in the export.
_EXPORTED = {
    "no more than an image": lambda x: x[:, :, :7],
    "a part that is changed": _changed_part,
}


class _Module(nn.Module):
    def __init__(self, compute):
        super().__init__()
        self.compute, self.layer = compute, nn.Conv2d(4, 4, 1)

    def forward(self, x):
        return self.compute(self.layer(x))


@pytest.mark.parametrize("form", [*_WATCHED, *_EXPORTED])
def test_both_ways_tell_the_same(form, monkeypatch):
    module, x = _Module((_WATCHED | _EXPORTED)[form]).eval(), torch.randn(1, 4, 9, 10)
    exported = export(module, (x,))
    resized = Resized(module, exported)
    found = read_slices(exported.original, resized)
    is_exported = any(made is not None for made in resized._exports.values())
    assert found.known and is_exported == (form in _EXPORTED)
    monkeypatch.setattr(slices, "_watched", lambda *_: None)
    assert read_slices(exported.original, Resized(module, exported)) == found
