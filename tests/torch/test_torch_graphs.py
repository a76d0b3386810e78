"""Signs and straight-through forms are rewritten in exported graphs, and other forms are not."""

import pytest
import torch
from torch import nn

from larq_engine.converter.errors import ConversionError
from larq_engine.converter.options import SignOfZero
from larq_engine.converter.torch_reader.exporting import export
from larq_engine.converter.torch_reader.folding import fold_constants
from larq_engine.converter.torch_reader.nodes import kind
from larq_engine.converter.torch_reader.signs import rewrite_signs
from larq_engine.converter.torch_reader.straight_through import remove_straight_through
from tests.torch.networks import InPlaceSign, PolynomialSign

# Values at which signs are decided.
EDGES = torch.tensor([[-2.0, -1.0, -0.5, -1e-40, -0.0, 0.0, 1e-40, 0.3, 1.0, 2.0]])

ERROR = SignOfZero.read("error")

# sign(sign(x) + 0.5) or sign(sign(x) - 0.5)
CANONICAL_SIGN = ["aten.sign.default", "aten.add.Tensor", "aten.sign.default"]


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def graph_of(module, *inputs):
    return export(module.eval(), inputs or (EDGES,)).rewritten


def kinds(graph_module):
    return [kind(node) for node in graph_module.graph.nodes if kind(node)]


def in_place(x):
    signs = x.sign()
    signs[signs == 0] = 1
    return signs


def masked(x):
    return torch.sign(x).masked_fill(x == 0, -1.0)


SIGNS = {
    "sum": lambda x: x.sign() + (x == 0),
    "sum with a cast": lambda x: (x == 0).float() + torch.sign(x),
    "difference": lambda x: torch.sign(x) - (x == 0).float(),
    "choice": lambda x: torch.where(x == 0, torch.ones_like(x), torch.sign(x)),
    "choice of the other": lambda x: torch.where(x != 0, torch.sign(x), -1.0),
    "comparison": lambda x: torch.where(x >= 0, 1.0, -1.0),
    "comparison with a tensor": lambda x: torch.where(x > torch.zeros(1), 1.0, -1.0),
    "Brevitas": lambda x: torch.ge(x, 0.0).to(x.dtype) * 2.0 - 1.0,
    "scaled first": lambda x: 2 * ((x > 0).float() - 0.5),
    "logical not": lambda x: torch.where(torch.logical_not(x < 0), 1.0, -1.0),
    "mask": masked,
    "assignment": in_place,
    "two assignments": InPlaceSign.apply,
    "twice": lambda x: torch.sign(torch.sign(x) + 0.1),
    "clamped": lambda x: torch.clamp(torch.sign(x) * 2 + 1, -1, 1),
    "cast to whole numbers": lambda x: ((x >= 0).to(torch.uint8).int() * 2 - 1).float(),
    "either": lambda x: ((x > 0) + (x == 0)).float() * 2 - 1,
    "copied": lambda x: (x.clone().sign() + (x.detach() == 0)).clone(),
}


@pytest.mark.parametrize("form", SIGNS)
def test_signs_are_written_alike(form):
    module = Function(SIGNS[form])
    graph_module = graph_of(module)
    found = rewrite_signs(graph_module, ERROR)
    assert [name for name in kinds(graph_module) if "clone" not in name] == CANONICAL_SIGN
    assert torch.equal(graph_module(EDGES), module(EDGES))
    assert len(found.jumps) == 1 and not found.plain


def test_a_sign_the_other_way_round():
    module = Function(lambda x: torch.where(x <= 0, 1.0, -1.0))
    graph_module = graph_of(module)
    rewrite_signs(graph_module, ERROR)
    assert kinds(graph_module) == [*CANONICAL_SIGN, "aten.neg.default"]
    assert torch.equal(graph_module(EDGES), module(EDGES))


NO_SIGNS = {
    "other sizes": lambda x: torch.where(x >= 0, 1.0, -0.5),
    "threshold": lambda x: torch.where(x >= 0.25, 1.0, -1.0),
    "0 and 1": lambda x: (x >= 0).float(),
    "of two values": lambda x: torch.where(x >= 0, 1.0, -1.0) + torch.where(x > 1, 0.0, 1.0) * 0.5,
    "hyperbolic tangent": torch.tanh,
    "cut to a whole number": lambda x: ((x.sign() + 0.5).to(torch.int32) * 2 - 1).float(),
    "true and true": lambda x: ((x > 0) + (x > 0)).float() - 1,
}


@pytest.mark.parametrize("form", NO_SIGNS)
def test_what_is_no_sign_stays(form):
    module = Function(NO_SIGNS[form])
    graph_module = graph_of(module)
    rewrite_signs(graph_module, ERROR)
    assert torch.equal(graph_module(EDGES), module(EDGES))


def test_a_sign_of_three_values_stays():
    """torch.sign(relu(x)) keeps its 0 in the graph, whatever sign_of_zero says.

    The value for 0 is chosen later, in the file, if it matters.
    """
    graph_module = graph_of(nn.Sequential(nn.ReLU(), Function(torch.sign)))
    found = rewrite_signs(graph_module, SignOfZero.read("+1"))
    assert torch.equal(graph_module(EDGES), torch.sign(torch.relu(EDGES)))
    assert [sign.layer for sign in found.plain.values()] == ["1"]
    assert {*found.jumps} == {*found.plain}


class Weighted(nn.Module):
    def __init__(self, values):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(values))

    def forward(self, x):
        return x * torch.sign(self.weight)


def test_weights_without_zeros_have_a_sign():
    graph_module = graph_of(Weighted([-0.5, 0.25]), torch.ones(3, 2))
    found = rewrite_signs(graph_module, ERROR)
    fold_constants(graph_module)
    assert kinds(graph_module) == ["aten.mul.Tensor"] and not found.constants
    assert torch.equal(graph_module(torch.ones(3, 2)), torch.tensor([[-1.0, 1.0]] * 3))


def test_weights_with_a_zero_are_asked_about():
    graph_module = graph_of(Weighted([-0.5, 0.0]), torch.ones(3, 2))
    with pytest.raises(ConversionError, match=r"1 of 2 constants.*sign_of_zero"):
        rewrite_signs(graph_module, ERROR)
    (zero,) = rewrite_signs(graph_module, SignOfZero.read("-1")).constants.values()
    assert zero == -1
    assert torch.equal(graph_module(torch.ones(3, 2)), torch.full((3, 2), -1.0))


def test_weights_of_0_and_1():
    graph_module = graph_of(Weighted([0.5, 0.0]), torch.ones(3, 2))
    rewrite_signs(graph_module, ERROR)
    assert torch.equal(graph_module(torch.ones(3, 2)), torch.tensor([[1.0, 0.0]] * 3))


def test_random_operators_are_no_constants():
    graph_module = graph_of(Function(lambda x: x + torch.rand(10)))
    fold_constants(graph_module)
    assert not torch.equal(graph_module(EDGES), graph_module(EDGES))


class InPlace(Weighted):
    def forward(self, x):
        with torch.no_grad():
            self.weight.copy_(torch.sign(self.weight))
        return x * self.weight


def test_weights_changed_in_place_by_themselves_are_constants():
    graph_module = graph_of(InPlace([-0.5, 0.25]), torch.ones(3, 2))
    rewrite_signs(graph_module, ERROR)
    fold_constants(graph_module)
    assert kinds(graph_module) == ["aten.mul.Tensor"]
    assert torch.equal(graph_module(torch.ones(3, 2)), torch.tensor([[-1.0, 1.0]] * 3))


def hard(x):
    return torch.clamp(x, -1, 1)


STRAIGHT_THROUGH = {
    "ReActNet": lambda s, x: s.detach() - hard(x).detach() + hard(x),
    "difference detached": lambda s, x: (s - x).detach() + x,
    "in front": lambda s, x: x + (s - x).detach(),
    "in the middle": lambda s, x: s.detach() + hard(x) - hard(x).detach(),
    "negative first": lambda s, x: -x.detach() + s.detach() + x,
    "taken away": lambda s, x: x - (x - s).detach(),
    "of three": lambda s, x: (s - x).detach() + (x - 2 * x).detach() + 2 * x,
    "without gradients": lambda s, x: (s.detach() - x).detach() + x,
}


@pytest.mark.parametrize("form", STRAIGHT_THROUGH)
def test_straight_through_forms(form):
    scale = torch.tensor(0.1)  # so that products are inexact

    def signs(x):
        return scale * torch.where(x >= 0, 1.0, -1.0)

    module = Function(lambda x: STRAIGHT_THROUGH[form](signs(x), x))
    graph_module = graph_of(module, torch.randn(4, 50))
    remove_straight_through(graph_module)
    x = torch.randn(4, 50)
    assert torch.equal(graph_module(x), signs(x))


NOT_STRAIGHT_THROUGH = {
    "nothing detached": lambda s, x: (s - x) + x,
    "more than one left": lambda s, x: (s - x).detach() + x + s,
    "twice": lambda s, x: (s - x).detach() + 2 * x,
    "another value": lambda s, x: (s - x).detach() + hard(x),
    "scaled difference": lambda s, x: torch.sub(s, x, alpha=2).detach() + x,
    "negative": lambda s, x: x.detach() - s.detach() - x,
}


@pytest.mark.parametrize("form", NOT_STRAIGHT_THROUGH)
def test_what_is_not_straight_through_stays(form):
    module = Function(lambda x: NOT_STRAIGHT_THROUGH[form](torch.where(x >= 0, 1.0, -1.0), x))
    graph_module = graph_of(module, torch.randn(4, 50))
    remove_straight_through(graph_module)
    x = torch.randn(4, 50)
    assert torch.equal(graph_module(x), module(x))


def test_a_polynomial_for_gradients_goes():
    graph_module = graph_of(PolynomialSign())
    remove_straight_through(graph_module)
    rewrite_signs(graph_module, ERROR)
    assert kinds(graph_module) == ["aten.sign.default"]
