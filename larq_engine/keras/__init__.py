"""Provides larq's layers, quantizers, constraints and optimizers for Keras 3, on all its backends.

`import larq_engine.keras as lq` stands in for `import larq as lq`: names, arguments, values and
gradients are larq's. Importing this package imports Keras; importing larq_engine does not import
this package.
"""

from typing import Any

from larq_engine.keras.requirement import require_keras_3

require_keras_3()

from larq_engine.keras import (  # noqa: E402, what they import is checked first
    activations,
    callbacks,
    constraints,
    context,
    layers,
    layers_base,
    math,
    metrics,
    models,
    optimizers,
    quantized_variable,
    quantizers,
    utils,
)

__all__ = [
    "activations",
    "callbacks",
    "constraints",
    "context",
    "layers",
    "layers_base",
    "math",
    "metrics",
    "models",
    "optimizers",
    "quantized_variable",
    "quantizers",
    "utils",
]


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"larq_engine.keras has no {name!r}; of larq's modules it has {', '.join(__all__)}"
    )
