"""HEP-BNN's two networks, as its tables I and II have them, with weights drawn at random.

They are those of examples/published without the parts that its tables do not have: the scaling of
bytes before the first layer, and batch norm and softmax after the last one.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from benchmarks import machine

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # larq is for Keras 2; read when TensorFlow is imported
sys.path.append(str(machine.ROOT / "examples"))  # the examples are programs, not a package

import tensorflow as tf
from published import comparing, hep_bnn

import larq_engine

NETWORKS = {"fashion": hep_bnn.fashion, "cifar": hep_bnn.cifar}


def build(name: str) -> Any:
    """Returns the network in Keras."""
    tf.keras.utils.set_random_seed(1)
    model = NETWORKS[name]()
    comparing.make_up_norms(model)
    *_, last_dense, _norm, _softmax = model.layers
    _image, scaling, *_ = model.layers
    return tf.keras.Model(scaling.output, last_dense.output)


def convert(name: str) -> larq_engine.ConvertedModel:
    """Returns the network for the engine."""
    return larq_engine.convert_keras_model(build(name))
