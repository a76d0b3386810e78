"""Leaves metrics out of what is converted. Needs no TensorFlow."""

import contextlib
from collections.abc import Iterator
from typing import Any

_UPDATE = "update_state"


@contextlib.contextmanager
def without_metrics(model: Any) -> Iterator[None]:
    """Keeps the metrics of a Keras model from being updated while the block runs.

    Layers may update metrics when they are called, as larq's do for flip_ratio. A trace would
    contain these updates, and no output of the model depends on them.
    """
    with contextlib.ExitStack() as stack:
        for metric in filter(_is_metric, model.submodules):
            stack.enter_context(_without_updates(metric))
        yield


@contextlib.contextmanager
def _without_updates(metric: Any) -> Iterator[None]:
    # This goes around Keras, which would track a new attribute and gives each metric its own
    # method.
    attributes = vars(metric)
    method = attributes[_UPDATE]
    attributes[_UPDATE] = lambda *args, **kwargs: None
    try:
        yield
    finally:
        attributes[_UPDATE] = method


def _is_metric(module: Any) -> bool:
    """Tells whether it is a metric, by names, so that Keras is not imported to find that out."""
    return any(
        base.__name__ == "Metric" and base.__module__.split(".")[0] in ("keras", "tf_keras")
        for base in type(module).__mro__
    )
