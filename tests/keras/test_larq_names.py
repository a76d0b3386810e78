"""larq_engine.keras has larq's public names, or the documents say why not."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

from tests.converter.frameworks import require_keras

require_keras()

import keras  # noqa: E402
import larq  # noqa: E402

import larq_engine.keras as lq  # noqa: E402

PAGE = Path(__file__).resolve().parents[2] / "docs" / "moving_from_larq.md"
# Besides the modules that larq lists, those that its users import for layers of their own.
MODULES = [*larq.__all__, "layers_base", "quantized_variable"]
LAYERS = lq.layers.__all__
# Arguments of Keras 3 that do not concern what these layers quantize.
NEW_IN_KERAS_3 = {"lora_rank", "lora_alpha", "quantization_config"}
OWN = {
    *("input_quantizer", "kernel_quantizer", "depthwise_quantizer", "pointwise_quantizer"),
    "pad_values",
}


def public_names(module):
    """Returns the names of `__all__`, or those that the module itself defines."""
    listed = getattr(module, "__all__", None)
    return set(listed) if listed else defined_names(module)


def defined_names(module):
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    }


def test_all_names_of_larq():
    """Exactly the names of the page's table are missing."""
    missing = set()
    for name in MODULES:
        theirs = importlib.import_module(f"larq.{name}")
        ours = vars(getattr(lq, name))
        missing |= {f"{name}.{each}" for each in public_names(theirs) if each not in ours}
    table = PAGE.read_text().split("What is left out of larq's public names:")[1].split("\n\n")[1]
    documented = {
        each for row in table.splitlines() for each in re.findall(r"`([\w.]+)`", row.split("|")[1])
    }
    assert missing == documented


def parameters(layer):
    return inspect.signature(layer).parameters


@pytest.mark.parametrize("name", LAYERS)
def test_arguments_have_larqs_names_and_order(name):
    ours, theirs = (parameters(getattr(module.layers, name)) for module in (lq, larq))
    assert list(ours) == list(theirs)


@pytest.mark.parametrize("name", LAYERS)
def test_defaults_are_those_of_keras(name):
    """Each argument also has a type, for editors."""
    ours = parameters(getattr(lq.layers, name))
    base = parameters(getattr(keras.layers, name.removeprefix("Quant")))
    assert set(ours) - OWN == set(base) - NEW_IN_KERAS_3
    for argument, parameter in ours.items():
        assert parameter.annotation is not inspect.Parameter.empty
        assert parameter.kind is not inspect.Parameter.VAR_POSITIONAL
        if argument not in OWN:
            assert parameter.default == base[argument].default
    assert inspect.getdoc(getattr(lq.layers, name))


@pytest.mark.parametrize("kind", [lq.optimizers.Bop, lq.metrics.FlipRatio, *lq.callbacks.__all__])
def test_signatures_of_others(kind):
    signature = inspect.signature(getattr(lq.callbacks, kind) if isinstance(kind, str) else kind)
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    assert kinds == {inspect.Parameter.POSITIONAL_OR_KEYWORD}
