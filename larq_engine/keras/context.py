"""What a thread has switched on: reading weights as layers compute with them, and metrics.

Each thread has its own, so that one that saves a model does not change what another one reads.
"""

import contextlib
import threading
from collections.abc import Iterable, Iterator

__all__ = ["get_training_metrics", "metrics_scope", "quantized_scope", "should_quantize"]

_METRICS = ("flip_ratio",)


class _State(threading.local):
    quantized = False
    calls = 0  # of quantized layers that this thread is in

    def __init__(self) -> None:
        self.metrics: set[str] = set()


_state = _State()


@contextlib.contextmanager
def quantized_scope(quantize: bool) -> Iterator[bool]:
    """Lets weights be read as layers compute with them, for example to save binary weights.

    In this block `get_weights`, `save`, `save_weights` and `numpy()` of quantized weights give what
    the layers' quantizers make of them. Training goes on with the latent weights all the same.

    Args:
        quantize: False for the latent weights, inside of a scope that is True.
    """
    before = _state.quantized
    _state.quantized = quantize
    try:
        yield quantize
    finally:
        _state.quantized = before


def should_quantize() -> bool:
    """Whether this thread is in a `quantized_scope` that is True."""
    return _state.quantized


@contextlib.contextmanager
def layer_call() -> Iterator[None]:
    """Lets the block, the call of a quantized layer, compute with what `quantized_scope` says.

    Out of such calls tensors of weights stay latent whatever the scope: optimizers, constraints and
    JAX's training loop read them and write back what they read.
    """
    _state.calls += 1
    try:
        yield
    finally:
        _state.calls -= 1


def computes_quantized() -> bool:
    """Whether this thread is in a quantized layer's call, and in a `quantized_scope` of True."""
    return _state.quantized and _state.calls > 0


@contextlib.contextmanager
def metrics_scope(metrics: Iterable[str] = ()) -> Iterator[set[str]]:
    """Gives the quantizers of weights that layers make in this block these metrics.

    Args:
        metrics: Names of metrics; there is "flip_ratio".

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
    """The metrics of the scopes that this thread is in: the set itself, which may be changed."""
    return _state.metrics


def check_metrics(where: str, names: Iterable[str]) -> None:
    """Raises ValueError if there is no metric of one of the names."""
    for name in names:
        if name not in _METRICS:
            raise ValueError(
                f"{where}: expected metrics among {', '.join(_METRICS)}, got {name!r}; take the "
                "name of one, or leave it out"
            )
