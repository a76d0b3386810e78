"""Signs of values of all kinds, against the module itself, on inputs with many zeros."""

import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import larq_engine
from larq_engine import ConversionError, convert_torch

CHANNELS = 32


class Layer(nn.Module):
    """A binary layer behind a form of sign; its sums are whole numbers, so nothing rounds."""

    def __init__(self, form, channels=CHANNELS):
        super().__init__()
        self.form = form
        self.weight = nn.Parameter(torch.randn(16, channels, 3, 3))

    def forward(self, x):
        return F.conv2d(self.form(x), torch.where(self.weight >= 0, 1.0, -1.0))


class Layers(nn.Module):
    """A layer for each form, on one input."""

    def __init__(self, forms):
        super().__init__()
        sizes = {name: form(torch.zeros(1, CHANNELS, 6, 6)).shape[1] for name, form in forms}
        self.layers = nn.ModuleDict({name: Layer(form, sizes[name]) for name, form in forms})

    def forward(self, x):
        return {name: layer(x) for name, layer in self.layers.items()}


NOT_NEGATIVE = {
    "relu": F.relu,
    "relu6": F.relu6,
    "abs": torch.abs,
    "square": lambda x: x * x,
    "power": lambda x: x**2,
    "clamp": lambda x: x.clamp(min=0),
    "clamp_both": lambda x: x.clamp(0, 2),
    "maximum": lambda x: torch.maximum(x, torch.zeros(1)),
    "hardsigmoid": lambda x: F.hardsigmoid(3 * x),
    "sigmoid": torch.sigmoid,
    "softmax": lambda x: torch.softmax(x, 1),
    "exp": lambda x: torch.exp(x),
    "max_pool": lambda x: F.max_pool2d(F.relu(x), 3, 1, 1),
    "avg_pool": lambda x: F.avg_pool2d(F.relu(x), 3, 1, 1),
    "sum": lambda x: F.relu(x) + F.relu(x - 1),
    "product": lambda x: F.relu(x) * torch.sigmoid(x),
    "joined": lambda x: torch.cat([F.relu(x), x.abs()], 1),
    "scaled": lambda x: F.relu(x) * 0.25,
    "moved": lambda x: F.relu(x).transpose(2, 3),
}


def whole_numbers(*shape):
    generator = torch.Generator().manual_seed(3)
    return torch.randint(-2, 3, shape, generator=generator).float()


def run(converted, module, x):
    """Returns results of the file and of the module, by names."""
    interpreter = larq_engine.Interpreter(bytes(converted))
    got = interpreter.predict(x.numpy())
    with torch.no_grad():
        expected = {name: value.numpy() for name, value in module(x).items()}
    return dict(zip(expected, got, strict=True)), expected


@pytest.mark.parametrize("sign_of_zero", ["error", "+1"])
def test_values_that_cannot_be_negative_have_two_signs(sign_of_zero):
    torch.manual_seed(0)
    forms = [(name, lambda x, f=f: torch.sign(f(x))) for name, f in NOT_NEGATIVE.items()]
    module, x = Layers(forms).eval(), whole_numbers(1, CHANNELS, 6, 6)
    converted = convert_torch(module, x, sign_of_zero=sign_of_zero)
    assert converted.report.remarks == ()
    assert {layer.name: layer.became for layer in converted.report.layers} == {
        f"layers.{name}": "binary" for name in NOT_NEGATIVE
    }
    got, expected = run(converted, module, x)
    for name, value in expected.items():
        np.testing.assert_array_equal(got[name], value, err_msg=name)


def test_a_sign_beside_one_of_two_values():
    """The option applies only to the sign of three values, whose zeros are counted."""
    torch.manual_seed(0)
    forms = [("plain", torch.sign), ("relu", lambda x: torch.sign(F.relu(x)))]
    module, x = Layers(forms).eval(), whole_numbers(1, CHANNELS, 6, 6)
    converted = convert_torch(module, x, sign_of_zero="+1")
    got, expected = run(converted, module, x)
    np.testing.assert_array_equal(got["relu"], expected["relu"])
    off = np.abs(got["plain"] - expected["plain"]).max()
    zeros = int((x == 0).sum())
    assert converted.report.remarks == (
        "torch.sign(0) is +1 here and 0 in PyTorch, in 'layers.plain'.",
    )
    remark = re.search(
        r"(\d+) of (\d+) values at 'layers.plain'\. Outputs are up to (\S+) off those of the "
        r"module as it is, which are up to (\S+)\.",
        converted.report.self_check,
    )
    largest = max(np.abs(value).max() for value in expected.values())
    assert remark is not None, converted.report.self_check
    assert [float(number) for number in remark.groups()] == [zeros, 2 * x.numel(), off, largest]


@pytest.mark.parametrize("sign_of_zero", ["+1", "-1"])
def test_signs_that_are_a_part_of_two_values(sign_of_zero):
    """The option applies to the sign that a layer reads."""
    torch.manual_seed(0)
    forms = {
        "relu": lambda x: F.relu(torch.sign(x)),
        "equal": lambda x: torch.sign(x) + (x == 0),
        "plain": lambda x: torch.sign(1 - x),
    }
    module, x = Layers(forms.items()).eval(), whole_numbers(1, CHANNELS, 6, 6)
    converted = convert_torch(module, x, sign_of_zero=sign_of_zero)
    assert converted.report.count("binary") == 3
    assert converted.report.remarks == (
        f"torch.sign(0) is {sign_of_zero} here and 0 in PyTorch, in 'layers.plain'.",
    )
    got, expected = run(converted, module, x)
    for name in ("relu", "equal"):
        np.testing.assert_array_equal(got[name], expected[name], err_msg=name)


def test_signs_of_single_layers():
    torch.manual_seed(0)
    forms = [("a", torch.sign), ("b", lambda x: torch.sign(1 - x))]
    module, x = Layers(forms).eval(), whole_numbers(1, CHANNELS, 6, 6)
    converted = convert_torch(module, x, sign_of_zero={"layers.a": "+1", "layers.*": "-1"})
    got, _ = run(converted, module, x)
    for name, zero in (("a", 1.0), ("b", -1.0)):
        layer, form = module.layers[name], dict(forms)[name]
        layer.form = lambda x, form=form, zero=zero: torch.where(form(x) == 0, zero, form(x))
        np.testing.assert_array_equal(got[name], layer(x).detach().numpy())


@pytest.mark.parametrize("again", [torch.sign, lambda x: torch.sign(x.clone())])
def test_signs_that_become_one(again):
    torch.manual_seed(0)
    module = Layers([("a", torch.sign), ("b", again)]).eval()
    x = whole_numbers(1, CHANNELS, 6, 6)
    converted = convert_torch(module, x, sign_of_zero="+1")
    assert converted.report.count("binary") == 2
    with pytest.raises(ConversionError, match=r"torch.sign in 'layers\..'.*give both the same"):
        convert_torch(module, x, sign_of_zero={"*.a": "+1", "*.b": "-1"})


def test_signs_that_become_one_beside_another():
    """The third sign needs no choice, so it does not prevent that the other two become one."""
    torch.manual_seed(0)
    forms = [("a", torch.sign), ("b", torch.sign), ("c", lambda x: torch.sign(F.relu(x)))]
    module, x = Layers(forms).eval(), whole_numbers(1, CHANNELS, 6, 6)
    converted = convert_torch(module, x, sign_of_zero={"*.a": "+1", "*.b": "+1"})
    assert converted.report.count("binary") == 3


@pytest.mark.parametrize(
    "form",
    [
        lambda x: torch.where(x >= 0, -1.0, 1.0),
        lambda x: -torch.where(x > 0, 1.0, -1.0),
        lambda x: torch.where(x >= 0, -1.0, 1.0).transpose(2, 3),
    ],
)
def test_a_negated_sign_is_followed(form):
    torch.manual_seed(0)
    module = Layers([("negated", form)]).eval()
    converted = convert_torch(module, torch.randn(1, CHANNELS, 6, 6))
    assert converted.report.self_check.startswith("1 sign and 1 output agree with PyTorch")
