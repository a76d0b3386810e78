"""Provides the backend that Keras 3 has in this process, and its gradients.

KERAS_BACKEND chooses it; TensorFlow is the default. tools/test_keras_backends.sh runs the tests on
the other backends, whose packages are in another environment.
"""

import importlib
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.converter.frameworks import require_keras

NAME = os.environ.get("KERAS_BACKEND", "tensorflow")


def require_backend() -> None:
    """Skips the calling module if TensorFlow is the backend and is not installed."""
    if NAME == "tensorflow":
        require_keras()


Upstream = Callable[[tuple[int, ...]], np.ndarray]


def value_and_gradients(layer: Any, x: np.ndarray, upstream: Upstream) -> list[np.ndarray]:
    """Returns a built layer's value for x, and the gradients of x and of the layer's weights.

    `upstream` makes the gradient of a value of a shape.
    """
    return [np.asarray(each) for each in _GRADIENTS[NAME](layer, x, upstream)]


def _of_tensorflow(layer: Any, x: np.ndarray, upstream: Upstream) -> Sequence[Any]:
    tf = importlib.import_module("tensorflow")
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = layer(x)
    of = [x, *(weight.value for weight in layer.trainable_weights)]
    return [y, *tape.gradient(y, of, output_gradients=tf.constant(upstream(tuple(y.shape))))]


def _of_jax(layer: Any, x: np.ndarray, upstream: Upstream) -> Sequence[Any]:
    jax = importlib.import_module("jax")

    # It is compiled as a whole: compiling its operators one by one takes ten times as long.
    @jax.jit
    def run(x: Any, weights: Sequence[Any]) -> Any:
        def call(x: Any, weights: Sequence[Any]) -> Any:
            return layer.stateless_call(weights, [], x)[0]

        y, back = jax.vjp(call, x, weights)
        dx, dweights = back(jax.numpy.asarray(upstream(y.shape)))
        return [y, dx, *dweights]

    return run(x, [weight.value for weight in layer.trainable_weights])


def _of_torch(layer: Any, x: np.ndarray, upstream: Upstream) -> Sequence[Any]:
    torch = importlib.import_module("torch")
    x = torch.tensor(x, requires_grad=True)
    y = layer(x)
    of = [x, *(weight.value for weight in layer.trainable_weights)]
    return [y.detach(), *torch.autograd.grad(y, of, torch.from_numpy(upstream(tuple(y.shape))))]


_GRADIENTS: dict[str, Callable[[Any, np.ndarray, Upstream], Sequence[Any]]] = {
    "jax": _of_jax,
    "tensorflow": _of_tensorflow,
    "torch": _of_torch,
}
