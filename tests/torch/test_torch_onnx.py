"""Networks that PyTorch and Brevitas export as ONNX, read by `larq_engine.convert_onnx`."""

from dataclasses import replace

import pytest
import torch

import larq_engine
from tests.torch import networks
from tests.torch.cases import CASES
from tests.torch.test_torch_networks import assert_results_are_those_of_pytorch


def brevitas(module, image, path):
    from brevitas.export import export_qonnx

    export_qonnx(module, image, export_path=path, dynamo=False)


def newer(module, image, path):
    batch = ({0: torch.export.Dim.DYNAMIC},)
    torch.onnx.export(module, (image,), path, dynamo=True, dynamic_shapes=batch, verbose=False)


def older(module, image, path):
    torch.onnx.export(module, (image,), path, dynamo=False)


# The exporter fuses the batch norm behind these layers into them and gives them its name.
_RENAMED = {
    f"blocks.{block}.pointwise.{layer}": f"blocks.{block}.norms.{layer}"
    for block in (0, 1)
    for layer in (0, 1)
}

EXPORTS = [
    *[("ReActNet", newer), ("XNOR-Net", newer), ("XNOR-Net", older), ("Brevitas", brevitas)],
    *[("AdaBin", newer), ("AdaBin", older), ("AdaBin without padding", newer)],
]


@pytest.mark.parametrize(("name", "export"), EXPORTS)
def test_export(name, export, tmp_path):
    case = CASES[name]
    module = networks.with_random_statistics(case.make)
    path = str(tmp_path / "network.onnx")
    export(module, torch.randn(1, *case.shape), path)
    converted = larq_engine.convert_onnx(path, **dict(case.options))
    binary = {layer.name for layer in converted.report.layers if layer.became == "binary"}
    assert binary == {_RENAMED.get(layer, layer) for layer in case.binary}
    assert converted.report.operators["TRANSPOSE"] == 1
    assert_results_are_those_of_pytorch(replace(case, options=()), module, converted)
