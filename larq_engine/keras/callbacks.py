"""Provides callbacks that change numbers of optimizers during training."""

import inspect
from collections.abc import Callable
from typing import Any

import keras
from keras import ops

__all__ = ["HyperparameterScheduler"]


class HyperparameterScheduler(keras.callbacks.Callback):
    """Sets a number of an optimizer, such as Bop's gamma, before each epoch or step.

    Args:
        schedule: A function of the number of the epoch or step, counted from 0, that returns the
            new value. If it takes two arguments, the second is the value so far.
        hyperparameter: The name of the number, an attribute of the optimizer.
        optimizer: The optimizer; the model's own if None. For a CaseOptimizer, name the optimizer
            in it.
        update_freq: "epoch" or "step".
        verbose: 1 to print each new value.
        log_name: The value's name in the history; the hyperparameter's name if None.
    """

    def __init__(
        self,
        schedule: Callable[..., Any],
        hyperparameter: str,
        optimizer: keras.optimizers.Optimizer | None = None,
        update_freq: str = "epoch",
        verbose: int = 0,
        log_name: str | None = None,
    ) -> None:
        super().__init__()
        if update_freq not in ("epoch", "step"):
            raise ValueError(
                "HyperparameterScheduler: expected the update_freq epoch or step, got "
                f"{update_freq!r}"
            )
        self.schedule = schedule
        self.hyperparameter = hyperparameter
        self.optimizer = optimizer
        self.update_freq = update_freq
        self.verbose = verbose
        self.log_name = log_name or hyperparameter
        self._takes_value = _takes_two(schedule)

    def set_model(self, model: Any) -> None:
        super().set_model(model)
        if self.optimizer is None:
            self.optimizer = model.optimizer
        self._variable()  # raises an error before training begins if there is none

    def _variable(self) -> Any:
        """Returns the number's variable. In JAX, asking for the model brings it up to date."""
        assert self.model is not None
        found = getattr(self.optimizer, self.hyperparameter, None)
        if isinstance(found, keras.Variable):
            return found
        raise ValueError(
            f"HyperparameterScheduler: expected a variable of {type(self.optimizer).__name__}, "
            f"which training reads at each step, got {self.hyperparameter!r}, {_describe(found)}; "
            "take learning_rate (in Keras 2 also lr), or Bop's gamma or threshold if it is a number"
        )

    def _set(self, number: int, kind: str) -> None:
        variable = self._variable()
        now = ops.convert_to_numpy(variable).item()
        new = self.schedule(number, now) if self._takes_value else self.schedule(number)
        variable.assign(new)
        if self.verbose > 0:
            value = ops.convert_to_numpy(variable).item()
            print(f"{kind} {number}: {self.log_name} is now {value:g}.")

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if self.update_freq == "epoch":
            self._set(epoch, "Epoch")

    def on_train_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        if self.update_freq == "step":
            assert self.model is not None and self.optimizer is not None  # asking for it syncs JAX
            # Steps count over all epochs; `batch` begins again in each epoch.
            self._set(int(ops.convert_to_numpy(self.optimizer.iterations)), "Step")

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if logs is not None:
            logs[self.log_name] = ops.convert_to_numpy(self._variable()).item()


def _takes_two(schedule: Callable[..., Any]) -> bool:
    try:
        inspect.signature(schedule).bind(0, 0.0)
    except TypeError:
        return False
    return True


def _describe(found: Any) -> str:
    if found is None:
        return "which it does not have"
    return f"a {type(found).__name__} that is part of the compiled step"
