"""A wrong file is found even if the module has steps at which rounding decides."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from larq_engine.converter.errors import ConversionError
from larq_engine.converter.options import SignOfZero
from larq_engine.converter.torch_reader.comparing import compare_with_torch
from larq_engine.converter.torch_reader.exporting import Resized, export
from larq_engine.converter.torch_reader.forced_run import ForcedRun
from larq_engine.converter.torch_reader.lowering import lower
from larq_engine.converter.torch_reader.signs import rewrite_signs
from larq_engine.converter.torch_reader.zeros import choose_zero

ERROR = SignOfZero.read("error")


class Steps(nn.Module):
    """A dense layer of a function with steps."""

    def __init__(self, compute):
        super().__init__()
        self.compute, self.dense = compute, nn.Linear(16, 4)

    def forward(self, x):
        return self.dense(self.compute(x))


def three(x):
    """Returns 3 in single precision, and a little less in double precision."""
    return x.sign().abs() * 0.3 / 0.1


# These functions give other values in double precision.
_STEPS = {
    "cast": lambda x: (x.sign() * 0.3 / 0.1).int().float(),
    "cast to bytes": lambda x: three(x).to(torch.uint8).float(),
    "cast to truth": lambda x: x * (three(x) - 3).bool(),
    "comparison": lambda x: x * (three(x) == 3),
    "rounding": lambda x: x * torch.floor(three(x)),
    "index": lambda x: x * (1 + torch.stack([three(x), 3 + 0 * x]).argmax(0)),
    "order": lambda x: x * (1 + torch.stack([three(x), 3 + 0 * x]).topk(1, dim=0).indices[0]),
    "remainder": lambda x: x + three(x) % 3,
    "division": lambda x: x * torch.div(three(x), 3, rounding_mode="floor"),
}


@pytest.mark.parametrize("form", _STEPS)
def test_double_precision_excuses_no_jump(form):
    """A run that took other steps does not tell how far rounding reaches."""
    torch.manual_seed(0)
    module, x = Steps(_STEPS[form]).eval(), torch.randn(2, 16)
    exported = export(module, (x,))
    run = ForcedRun(exported.original, rewrite_signs(exported.rewritten, ERROR).jumps, {})
    precise = run.in_double((x,), ("output_0",))
    assert precise
    with torch.no_grad():
        right = module(x)
    assert not run.compare((x,), {"output_0": right}, precise)
    for off in (0.01, 0.1, 1):
        wrong = {"output_0": right + off * right.abs().max()}
        assert "values are off by" in run.compare((x,), wrong, precise), off


class Quantizer(nn.Module):
    """A quantizer to steps of 0.1 by a cast; all values before the cast are near whole numbers."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(64, 32, bias=False), nn.Linear(32, 4)
        self.first.weight.data = torch.randint(-3, 4, (32, 64)) * 0.1

    def forward(self, x):
        return self.last((self.first(x) / 0.1).int().float() * 0.1)


def test_a_cast_to_whole_numbers_is_followed():
    torch.manual_seed(0)
    module = Quantizer().eval()
    exported = export(module, (torch.randint(-2, 3, (4, 64)).float(),))
    jumps = rewrite_signs(exported.rewritten, ERROR).jumps
    lowered = lower(exported, channels_last=False, slices={})
    compared, _ = compare_with_torch(module, Resized(module, exported), jumps, lowered)
    assert "and 1 output agree" in compared
    cast = next(op for op in lowered.model.graphs[0].ops if op.kind == "CAST")
    divided = cast.inputs[0].producer
    step = divided.inputs[1]
    divided.inputs[1] = type(step)("wrong", step.shape, step.dtype, data=step.data * 1.2)
    with pytest.raises(ConversionError, match=r"to have the signs of '_to_copy'"):
        compare_with_torch(module, Resized(module, exported), jumps, lowered)


def test_a_sign_that_is_not_found_in_the_file_is_told():
    module = Steps(torch.sign).eval()
    exported = export(module, (torch.randn(1, 16),))
    choice = SignOfZero.read("+1")
    signs = rewrite_signs(exported.rewritten, choice)
    lowered = lower(exported, channels_last=False, slices={})
    (remark,) = choose_zero(replace(lowered, nodes={}), signs, choice)[2]
    assert remark.startswith("sign_of_zero was not given to a sign that was not found in the file")
    assert "not found" not in str(choose_zero(lowered, signs, choice)[2])
