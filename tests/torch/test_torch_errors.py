"""Modules that cannot be converted raise an error that says what to do."""

import re
import subprocess
import sys

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import larq_engine
from larq_engine import ConversionError, convert_torch
from larq_engine.converter.options import SignOfZero
from larq_engine.converter.torch_reader import comparing
from larq_engine.converter.torch_reader.exporting import Resized, export
from larq_engine.converter.torch_reader.lowering import lower
from larq_engine.converter.torch_reader.signs import rewrite_signs

X = torch.randn(1, 3, 8, 8)


class Binary(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(32, 3, 3, 3))

    def forward(self, x):
        return F.conv2d(x, torch.where(self.weight >= 0, 1.0, -1.0))


class ByData(Binary):
    def forward(self, x):
        self.weight.data = torch.sign(self.weight.data)
        return F.conv2d(x, self.weight)


class InPlace(Binary):
    def forward(self, x):
        with torch.no_grad():
            self.weight.copy_(self.weight + x.mean())
        return F.conv2d(x, self.weight)


class Branch(Binary):
    def forward(self, x):
        return super().forward(x) if x.sum() > 0 else x


class Random(Binary):
    def forward(self, x):
        return super().forward(x) + torch.rand(1)


class Counting(Binary):
    """A module that counts its calls."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls.add_(1)
        return super().forward(x) * self.calls


class Returns(nn.Module):
    def __init__(self, make):
        super().__init__()
        self.make = make

    def forward(self, x):
        return self.make(x)


class ThreeValues(nn.Module):
    def forward(self, x):
        return torch.sign(x)


def refused(error, words, module, inputs=X, **options):
    with pytest.raises(error) as caught:
        convert_torch(module, inputs, **options)
    for word in words:
        assert word in str(caught.value), caught.value


@pytest.mark.parametrize(
    ("module", "got"),
    [
        (Binary, "the class Binary; make a module of it first"),
        ({"weight": X}, "a dict, as of state_dict() or torch.load; build the module"),
        ("model.pt", "got str"),
    ],
)
def test_what_is_no_module(module, got):
    refused(TypeError, ["module: expected a torch.nn.Module, got ", got], module)


@pytest.mark.parametrize(
    ("inputs", "got"),
    [(None, "NoneType"), ((), "[]"), ((X, 3), "[Tensor, int]"), ((1, 3, 8, 8), "[int, ")],
)
def test_what_are_no_inputs(inputs, got):
    words = ["example_inputs: expected a tensor, or a tuple of", f"got {got}"]
    refused(TypeError, words, Binary().eval(), inputs)


def test_inputs_of_another_type():
    refused(ValueError, ["example_inputs[0]: expected float32"], Binary().eval(), X.double())


def test_inputs_without_values():
    words = ["example_inputs[0]: expected values, got the empty shape (0, 3, 8, 8)"]
    refused(ValueError, words, Binary().eval(), X[:0])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda x: (x + 1, None), "expected tensors as outputs, got None as 'output_1'"),
        (lambda x: {"y": x + 1, "size": 3}, "expected tensors as outputs, got 3 as 'size'"),
        (lambda x: (), "expected outputs, got none"),
    ],
)
def test_outputs_that_are_no_tensors(make, words):
    refused(ConversionError, ["module Returns: ", words], Returns(make).eval())


def test_training_mode():
    refused(ValueError, ["evaluation mode, got it in training", "module.eval()"], Binary())
    module = nn.Sequential(Binary(), nn.Dropout()).eval()
    module[1].train()
    refused(ValueError, ["got its part '1' (Dropout) in training mode"], module)


def test_another_device():
    words = ["expected it on the CPU, got 'weight' on meta; call module.cpu()"]
    refused(ValueError, words, Binary().eval().to("meta"))


def test_another_type():
    words = ["expected float32, got 'weight' in torch.float16; call module.float()"]
    refused(ValueError, words, Binary().eval().half())


@pytest.mark.parametrize("sign_of_zero", ["1", 1, None, {"act": 1}, {"act": "0"}, {0: "+1"}])
def test_another_sign_of_zero(sign_of_zero):
    words = ['sign_of_zero: expected "error", "+1" or "-1", or a dictionary', "got "]
    refused(ValueError, words, Binary().eval(), sign_of_zero=sign_of_zero)


def test_tensors_changed_behind_pytorchs_back():
    words = ["module Sequential, in '1': torch.export cannot trace it", "clamp(-1, 1)"]
    words.append("F.conv2d(x, w, ...) in place of")
    refused(ConversionError, words, nn.Sequential(nn.ReLU(), ByData()).eval())


def test_weights_changed_in_place():
    words = ["module InPlace: expected it to leave 'weight' as it is", "compute a new tensor"]
    refused(ConversionError, words, InPlace().eval())


def test_a_branch_that_depends_on_values():
    words = ["module Branch (File ", "test_torch_errors.py", ", line ", "torch.where"]
    refused(ConversionError, words, Branch().eval())


def test_a_random_module():
    words = ["self-check: module Random", "is it random", "check=False"]
    refused(ConversionError, words, Random().eval())


def test_a_module_that_counts_its_calls():
    words = ["self-check: module Counting", "from one call to the next?"]
    refused(ConversionError, words, Counting().eval())


class Largest(Binary):
    def forward(self, x):
        return torch.topk(super().forward(x), 3).values


def test_an_operator_that_the_host_does_not_have():
    words = ["self-check: module Largest: this host has no STABLEHLO_SORT", "out of the module"]
    refused(ConversionError, words, Largest().eval())


class Signs(nn.Module):
    """A layer behind the sign of the module's input."""

    def __init__(self, before=nn.Identity):
        super().__init__()
        self.before, self.act, self.layer = before(), ThreeValues(), Binary()

    def forward(self, x):
        return self.layer(self.act(self.before(x)))


def test_a_sign_of_three_values():
    words = [
        "torch.sign in 'act'",
        "test_torch_errors.py",
        "which a CONV_2D reads",
        'sign_of_zero="+1"',
    ]
    words += ["write torch.where(x >= 0, 1.0, -1.0)", "--sign-of-zero 'act=+1'"]
    refused(ConversionError, words, Signs().eval())
    report = convert_torch(Signs().eval(), X, sign_of_zero="-1").report
    assert "torch.sign(0) is -1 here and 0 in PyTorch, in 'act'." in str(report)
    assert "torch.sign(0)" in report.to_json()


class SignsItself(nn.Module):
    """A layer behind a sign that the outermost module writes in its own forward."""

    def __init__(self):
        super().__init__()
        self.layer = Binary()

    def forward(self, x):
        return self.layer(torch.sign(x))


def test_a_sign_of_the_outermost_module_is_named_by_its_class():
    words = ["torch.sign in 'SignsItself' (File ", "sign_of_zero={'SignsItself': \"+1\"}"]
    refused(ConversionError, words, SignsItself().eval())
    for name in ("SignsItself", "Signs*", ""):  # named_modules() calls it ""
        report = convert_torch(SignsItself().eval(), X, sign_of_zero={name: "-1"}).report
        assert "torch.sign(0) is -1 here and 0 in PyTorch, in 'SignsItself'." in str(report)
        assert " values at 'SignsItself'" in str(report) or "met no 0" in str(report)


def test_a_sign_of_three_values_that_no_binary_layer_reads():
    x = X.clone()
    x[0, 0, 0, 0] = 0
    converted = convert_torch(ThreeValues().eval(), x)
    got = larq_engine.Interpreter(bytes(converted)).predict(x.numpy())
    np.testing.assert_array_equal(got, torch.sign(x).numpy())


def test_a_layer_that_has_no_sign():
    words = ["sign_of_zero: expected layers with a sign of three values, got 'act2'; there are"]
    refused(ValueError, [*words, "'act'"], Signs().eval(), sign_of_zero={"act2": "+1"})


class Net(nn.Module):
    """Two signs, one after the other."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(32, 32, 3, 3))

    def forward(self, x):
        for _ in range(2):
            x = F.conv2d(torch.where(x >= 0, 1.0, -1.0), self.weight, padding=1)
        return x


@pytest.fixture
def parts():
    torch.manual_seed(1)
    module = Net().eval()
    exported = export(module, (torch.randn(1, 32, 8, 8),))
    signs = rewrite_signs(exported.rewritten, SignOfZero.read("error"))
    resized = Resized(module, exported)
    return module, resized, signs.jumps, lower(exported, channels_last=False, slices={})


def test_the_comparison_follows_signs(parts):
    assert re.match(
        r"2 signs and 1 output agree with PyTorch", comparing.compare_with_torch(*parts)[0]
    )


def test_the_comparison_finds_a_wrong_sign(parts):
    """The file's second sign is of other values than the module's."""
    lowered = parts[3]
    (graph,) = lowered.model.graphs
    second = [op for op in graph.ops if op.kind == "ADD"][-1]
    constant = second.inputs[1]
    second.inputs[1] = type(constant)("wrong", (), "FLOAT32", data=-constant.data * 5)
    with pytest.raises(ConversionError) as caught:
        comparing.compare_with_torch(*parts)
    assert re.fullmatch(
        r"self-check: module Net: expected the \.tflite file to have the signs of 'where_1', got "
        r"others in \d+ of 2048 places; please report it .* without this check",
        str(caught.value),
    )


def test_the_comparison_finds_another_sign_of_zero():
    """No rounding excuses it: file and module both have exactly 0 there."""
    torch.manual_seed(1)
    module, x = Net().eval(), torch.randint(-1, 2, (1, 32, 8, 8)).float()
    exported = export(module, (x,))
    jumps = rewrite_signs(exported.rewritten, SignOfZero.read("error")).jumps
    lowered = lower(exported, channels_last=False, slices={})
    first = next(op for op in lowered.model.graphs[0].ops if op.kind == "ADD")
    constant = first.inputs[1]
    first.inputs[1] = type(constant)("wrong", (), "FLOAT32", data=-constant.data)
    zeros = int((x == 0).sum())
    with pytest.raises(ConversionError, match=rf"signs of 'where', got others in {zeros} of 2048"):
        comparing.compare_with_torch(module, Resized(module, exported), jumps, lowered)


def test_the_comparison_finds_a_wrong_value(parts):
    module, _, _, _ = parts
    with torch.no_grad():
        module.weight[3, 5] *= 1.01
    with pytest.raises(ConversionError, match=r"self-check: module Net"):
        comparing.compare_with_torch(*parts)


_WITHOUT = """
import sys
sys.modules[{missing!r}] = None
import larq_engine
try:
    larq_engine.convert_torch(None, None)
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize("missing", ["torch", "litert_torch"])
def test_a_missing_package_is_named_with_the_command(missing):
    code = _WITHOUT.format(missing=missing)
    if missing == "litert_torch":
        code = code.replace("(None, None)", "(torch.nn.Identity().eval(), torch.ones(1))")
        code = code.replace("import larq_engine\n", "import larq_engine, torch\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{missing}: ")
    assert "pip install 'PATH[torch]'" in done.stdout
    assert "in a virtual environment without the extra 'converter'" in done.stdout


def test_importing_the_package_imports_no_torch():
    code = "import larq_engine, sys; larq_engine.convert_torch; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    assert "convert_torch" in dir(larq_engine)
