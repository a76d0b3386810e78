"""HEP-BNN's two networks, as its tables I and II have them, with weights drawn at random.

They are those of examples/published without what its tables do not have: the scaling of bytes
before the first layer, and batch norm and softmax after the last one.
"""

from __future__ import annotations

from typing import Any

import larq_engine
from benchmarks.published import comparing, hep_bnn, tf

NETWORKS = {"fashion": hep_bnn.fashion, "cifar": hep_bnn.cifar}


def build(name: str) -> Any:
    """The network in Keras."""
    tf.keras.utils.set_random_seed(1)
    model = NETWORKS[name]()
    comparing.make_up_norms(model)
    *_, last_dense, _norm, _softmax = model.layers
    _image, scaling, *_ = model.layers
    return tf.keras.Model(scaling.output, last_dense.output)


def convert(name: str) -> larq_engine.ConvertedModel:
    """The network for the engine."""
    return larq_engine.convert_keras_model(build(name))
