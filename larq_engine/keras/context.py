"""Holds what a thread has switched on: metrics, and reading weights as layers compute with them.

Each thread has a state of its own: a thread that saves a model does not change what another thread
reads.
"""

import contextlib
import threading
from collections.abc import Iterable, Iterator

__all__ = ["get_training_metrics", "metrics_scope", "quantized_scope", "should_quantize"]

_METRICS = ("flip_ratio",)


class _State(threading.local):
    quantized = False
    calls = 0  # depth of calls of quantized layers

    def __init__(self) -> None:
        self.metrics: set[str] = set()


_state = _State()


@contextlib.contextmanager
def quantized_scope(quantize: bool) -> Iterator[bool]:
    """Makes weights read as layers compute with them, for example to save binary weights.

    In this block `get_weights`, `save`, `save_weights` and `numpy()` of quantized weights return
    the quantized values. Training still uses the latent weights.

    Args:
        quantize: False for the latent weights, inside a scope with True.
    """
    before = _state.quantized
    _state.quantized = quantize
    try:
        yield quantize
    finally:
        _state.quantized = before


def should_quantize() -> bool:
    """Tells whether this thread is in a `quantized_scope(True)`."""
    return _state.quantized


@contextlib.contextmanager
def layer_call() -> Iterator[None]:
    """Marks the block as the call of a quantized layer, for which `quantized_scope` counts.

    Outside of these calls, tensors of weights are latent in any scope: optimizers, constraints and
    JAX's training loop read tensors and write back what they read.
    """
    _state.calls += 1
    try:
        yield
    finally:
        _state.calls -= 1


def computes_quantized() -> bool:
    """Tells whether this thread is in a quantized layer's call and in a `quantized_scope(True)`."""
    return _state.quantized and _state.calls > 0


@contextlib.contextmanager
def metrics_scope(metrics: Iterable[str] = ()) -> Iterator[set[str]]:
    """Adds metrics to the quantizers of weights that layers make in this block.

    Args:
        metrics: Names of metrics; the only one is "flip_ratio".

    Raises:
        ValueError: There is no such metric.
    """
    names = list(metrics)
    check_metrics("metrics_scope", names)
    before = set(_state.metrics)
    _state.metrics.update(names)
    try:
        yield _state.metrics
    finally:
        _state.metrics.clear()
        _state.metrics.update(before)


def get_training_metrics() -> set[str]:
    """Returns the metrics of this thread's scopes: the set itself, which may be changed."""
    return _state.metrics


def check_metrics(where: str, names: Iterable[str]) -> None:
    """Raises ValueError if one of the names is no metric."""
    for name in names:
        if name not in _METRICS:
            raise ValueError(
                f"{where}: expected metrics among {', '.join(_METRICS)}, got {name!r}; take the "
                "name of one, or leave it out"
            )
