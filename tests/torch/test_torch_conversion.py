"""Shapes, names and layouts of files of PyTorch modules, and the command that makes them."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import larq_engine
from larq_engine import ConversionError
from larq_engine.command_line import main
from larq_engine.converter import schema
from tests.torch.networks import SignConv1d, with_random_statistics


class SignConv(nn.Conv2d):
    def forward(self, x):
        weight = torch.where(self.weight >= 0, 1.0, -1.0)
        return F.conv2d(torch.where(x >= 0, 1.0, -1.0), weight, padding=self.padding)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 32, 3, padding=1)
        self.block = nn.Sequential(SignConv(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU())
        self.scores = nn.Linear(64 * 4 * 4, 10)

    def forward(self, image):
        x = F.max_pool2d(self.block(self.first(image)), 2)
        return self.scores(x.view(x.size(0), -1))


class Image(nn.Module):
    """A module from an image to an image."""

    def __init__(self):
        super().__init__()
        self.conv = SignConv(32, 32, 3, padding=1)

    def forward(self, image):
        return {"same": image + self.conv(image), "mean": image.mean(1)}


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = SignConv1d(32, 64, 3, bias=False)

    def forward(self, sound, loudness):
        return self.conv(sound) * loudness, sound


X = torch.randn(1, 3, 8, 8, generator=torch.Generator().manual_seed(1))


@pytest.fixture(scope="module")
def net():
    return with_random_statistics(Net)


def agree(got, module, *inputs):
    with torch.no_grad():
        expected = module(*inputs).numpy()
    np.testing.assert_allclose(got, expected, atol=1e-4 * np.abs(expected).max())


def test_names_are_pytorchs(net):
    converted = larq_engine.convert_torch(net, X)
    assert [layer.name for layer in converted.report.layers] == ["first", "block.0", "scores"]
    assert [layer.became for layer in converted.report.layers] == ["float", "binary", "float"]
    model = larq_engine.Interpreter(converted)
    assert (model.input_names, model.output_names) == (["image"], ["output_0"])
    assert model.input_shapes == [(1, 3, 8, 8)]
    agree(model.predict(X.numpy()), net, X)


def test_the_report_says_what_was_compared(net):
    converted = larq_engine.convert_torch(net, X)
    assert converted.report.self_check.startswith("1 sign and 1 output agree with PyTorch, for")
    assert "tensors agree with the float model" in converted.report.self_check
    assert larq_engine.convert_torch(net, X, check=False).report.self_check == ""


def test_channels_last(net):
    converted = larq_engine.convert_torch(net, X, channels_last=True)
    model = larq_engine.Interpreter(converted)
    assert model.input_shapes == [(1, 8, 8, 3)]
    agree(model.predict(X.permute(0, 2, 3, 1).numpy()), net, X)


def test_outputs_with_channels_last():
    module, x = Image().eval(), torch.randn(1, 32, 6, 5)
    converted = larq_engine.convert_torch(module, x, channels_last=True)
    model = larq_engine.Interpreter(converted)
    assert dict(zip(model.output_names, model.output_shapes, strict=True)) == {
        "same": (1, 6, 5, 32),
        "mean": (1, 5, 6),
    }
    with torch.no_grad():
        expected = module(x)["same"].permute(0, 2, 3, 1).numpy()
    got = dict(zip(model.output_names, model.predict(x.permute(0, 2, 3, 1).numpy()), strict=True))
    np.testing.assert_allclose(got["same"], expected, atol=1e-4)


def test_an_open_batch(net):
    converted = larq_engine.convert_torch(net, X, open_batch=True)
    images = torch.randn(7, 3, 8, 8)
    model = larq_engine.Interpreter(converted)
    agree(model.predict(images.numpy()), net, images)
    signatures = _signatures(converted)
    assert signatures and all(signature[0] == -1 for signature in signatures)


class Summed(nn.Module):
    """A module whose results depend on the size of the batch."""

    def __init__(self, compute):
        super().__init__()
        self.compute = compute

    def forward(self, x):
        return self.compute(x)


_MIXES_BATCHES = {
    "its size": lambda x: x * x.shape[0],
    "a variance": lambda x: x - x.var(0),
}


@pytest.mark.parametrize("form", _MIXES_BATCHES)
def test_an_open_batch_that_results_depend_on(form):
    """A graph holds the size that it was made with, so the file would be wrong with another one."""
    module, x = Summed(_MIXES_BATCHES[form]).eval(), torch.randn(3, 5, 4)
    with pytest.raises(ConversionError, match=r"batch.*open_batch=False"):
        larq_engine.convert_torch(module, x, open_batch=True)
    agree(larq_engine.Interpreter(larq_engine.convert_torch(module, x)).predict(x), module, x)


def test_an_open_batch_that_branches():
    module = Summed(lambda x: x + 1 if x.shape[0] > 3 else x * 2 - 1).eval()
    with pytest.raises(ConversionError, match=r"the same operators for a batch of 3 as for one of"):
        larq_engine.convert_torch(module, torch.ones(1, 3), open_batch=True)


def test_an_open_batch_that_is_averaged():
    module, x = Summed(lambda x: x - x.mean(0)).eval(), torch.randn(3, 5, 4)
    model = larq_engine.Interpreter(larq_engine.convert_torch(module, x, open_batch=True))
    for batch in (1, 4):
        images = torch.randn(batch, 5, 4)
        agree(model.predict(images.numpy()), module, images)


_POSITIVE = {
    "logarithm": lambda x: torch.where(torch.log(x) >= 0, 1.0, -1.0),
    "root": torch.sqrt,
    "infinity": lambda x: torch.where(x > 1, x, -torch.inf),
}


@pytest.mark.parametrize("form", _POSITIVE)
def test_values_that_are_not_finite_or_not_negative(form):
    """Such values are no reason to refuse: random inputs are as positive as the examples."""
    module, x = Summed(_POSITIVE[form]).eval(), torch.rand(1, 3, 40) + 0.5
    got = larq_engine.Interpreter(larq_engine.convert_torch(module, x)).predict(x.numpy())
    np.testing.assert_allclose(got, module(x).numpy(), rtol=1e-5)


_POOLS = {
    "pads that do not count": lambda: nn.AvgPool2d(3, 2, 1, count_include_pad=False),
    "rounded up": lambda: nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False),
    "another divisor": lambda: nn.AvgPool2d(3, 2, 1, divisor_override=4),
}


@pytest.mark.parametrize("form", _POOLS)
def test_pools_behind_a_convolution(form):
    """litert_torch makes files of several graphs of some of them."""
    torch.manual_seed(1)
    module, x = nn.Sequential(nn.Conv2d(3, 4, 3), _POOLS[form]()).eval(), torch.randn(1, 3, 8, 8)
    converted = larq_engine.convert_torch(module, x)
    agree(larq_engine.Interpreter(converted).predict(x.numpy()), module, x)


def test_inputs_with_a_gradient(net):
    x = X.clone().requires_grad_()
    agree(larq_engine.Interpreter(larq_engine.convert_torch(net, x)).predict(X.numpy()), net, X)
    assert x.grad is None and x.requires_grad


def test_one_tensor_for_two_inputs():
    module = Two().eval()
    module.forward = lambda sound, loudness: sound - 2 * loudness
    x, y = torch.randn(2, 1, 32, 20)
    model = larq_engine.Interpreter(larq_engine.convert_torch(module, (x, x)))
    agree(model.predict([x.numpy(), y.numpy()]), module, x, y)


def test_a_parameter_as_an_output(net):
    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.tensor([2.0]))

        def forward(self, x):
            return x * self.scale, self.scale

    _, scale = larq_engine.Interpreter(larq_engine.convert_torch(Both().eval(), X)).predict(X)
    assert scale == [2]


def _signatures(content):
    from larq_engine.converter import schema

    (graph,) = schema.read(content).graphs
    return [tensor.signature for tensor in (*graph.inputs, *graph.outputs)]


def test_several_inputs_and_outputs():
    module = Two().eval()
    inputs = (torch.randn(1, 32, 20), torch.rand(1, 1, 1) + 0.5)
    converted = larq_engine.convert_torch(module, inputs)
    model = larq_engine.Interpreter(converted)
    assert model.input_names == ["sound", "loudness"]
    assert model.output_names == ["output_0", "output_1"]
    assert converted.report.count("binary") == 1
    louder, sound = model.predict([tensor.numpy() for tensor in inputs])
    with torch.no_grad():
        np.testing.assert_allclose(louder, module(*inputs)[0].numpy(), rtol=1e-5, atol=1e-5)
    assert np.array_equal(sound, inputs[0].numpy())


def test_the_module_is_left_as_it_was(net):
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    larq_engine.convert_torch(net, X, check=False)
    after = net.state_dict()
    assert list(before) == list(after)
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert not net.training


_FILE = """
import torch
from beside import make

def make_model():
    return make().eval(), torch.ones(1, 32, 6, 6)

def make_nothing():
    return make()

def make_weights():
    return make().state_dict(), torch.ones(1, 32, 6, 6)

def make_no_tensor():
    return make().eval(), (1, 32, 6, 6)
"""

_BESIDE = """
import torch
from torch import nn

class Sign(nn.Module):
    def forward(self, x):
        return torch.sign(x)

def make():
    conv = nn.Conv2d(32, 32, 3)
    conv.weight.data.sign_()
    return nn.Sequential(Sign(), conv)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model.py").write_text(_FILE)
    (tmp_path / "beside.py").write_text(_BESIDE)
    return tmp_path


def test_the_command(folder):
    command = [sys.executable, "-m", "larq_engine", "convert", f"{folder}/model.py:make_model"]
    command += ["-o", f"{folder}/out.tflite", "--sign-of-zero=+1", "--channels-last"]
    command += ["--open-batch", "--report", f"{folder}/report.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "1 layer: 1 binary" in done.stdout
    assert "torch.sign(0) is +1 here and 0 in PyTorch, in '0'" in done.stdout
    assert done.stderr == ""
    layers = json.loads((folder / "report.json").read_text())["layers"]
    assert [layer["name"] for layer in layers] == ["1"]
    model = larq_engine.Interpreter(folder / "out.tflite")
    assert model.input_shapes == [(1, 6, 6, 32)]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("model.py:make_nothing", "return a module and its example inputs, got Sequential"),
        (
            "model.py:make_weights",
            "module: expected a torch.nn.Module, got a dict, as of state_dict",
        ),
        ("model.py:make_no_tensor", "example_inputs: expected a tensor, or a tuple of the tensors"),
        ("model.py:made", "expected a function of that name, got a file with make, make_model"),
        ("other.py:make_model", "expected a Python file, got none; check the path"),
    ],
)
def test_what_the_command_refuses(folder, capsys, name, words, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    assert main(["convert", f"{folder}/{name}", "-o", f"{folder}/out.tflite"]) == 1
    assert words in capsys.readouterr().err
    assert not (folder / "out.tflite").exists()


class Stem(nn.Module):
    """A float layer, whose results are signed and summed up."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(32, 64, 3, padding=1)
        self.second = SignConv(64, 64, 3, padding=1, bias=False)

    def forward(self, image):
        x = self.first(image)
        return x + self.second(x) / 32


def test_int8_with_samples():
    """Samples are as the file takes them: here in PyTorch's order of dimensions."""
    images = torch.randn(3, 1, 32, 8, 8, generator=torch.Generator().manual_seed(1))
    samples = [[image.numpy()] for image in images]
    converted = larq_engine.convert_torch(Stem().eval(), images[0], representative_dataset=samples)
    assert converted.report.summarize() == "1 binary, 1 int8"
    assert converted.report.int8.samples == 3
    (signs,) = converted.report.int8.signs
    assert signs.changed < 0.02 * signs.signs


def test_int8_ends_with_samples():
    images = torch.randn(3, 1, 32, 8, 8, generator=torch.Generator().manual_seed(1))
    converted = larq_engine.convert_torch(
        Stem().eval(),
        images[0],
        channels_last=True,
        target="microcontroller",
        inference_input_type="int8",
        inference_output_type="int8",
        representative_dataset=[[image.numpy().transpose(0, 2, 3, 1)] for image in images],
    )
    graph = schema.read(converted).graphs[0]
    assert [tensor.dtype for tensor in (*graph.inputs, *graph.outputs)] == ["INT8", "INT8"]
    assert graph.inputs[0].shape == (1, 8, 8, 32)


@pytest.mark.parametrize("shape", [(9, 10), (10, 9), (8, 8)], ids=str)
@pytest.mark.parametrize(("window", "stride", "padding"), [(3, 2, 0), (3, 2, 1), (2, 3, 0)])
def test_max_pools_that_round_up(shape, window, stride, padding):
    """Windows end with the image in one dimension, and beyond it in the other."""
    pool = nn.MaxPool2d(window, stride, padding, ceil_mode=True).eval()
    x = torch.randn(2, 3, *shape)
    converted = larq_engine.convert_torch(pool, x, check=False)
    np.testing.assert_array_equal(larq_engine.Interpreter(converted).predict(x.numpy()), pool(x))
