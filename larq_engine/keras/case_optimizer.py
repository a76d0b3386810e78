"""Provides an optimizer that gives each weight to one of several optimizers."""

import warnings
from collections.abc import Callable
from typing import Any

import keras
from keras import saving


@saving.register_keras_serializable("larq_engine")
class CaseOptimizer(keras.optimizers.Optimizer):
    """Trains each weight with the optimizer whose predicate holds for it.

    Args:
        predicate_optimizer_pairs: Pairs of a function of a variable and an optimizer.
        default_optimizer: The optimizer of weights for which no predicate holds. If None, these
            weights never change.
        name: The optimizer's name.
    """

    def __init__(
        self,
        *predicate_optimizer_pairs: tuple[Callable[[Any], bool], keras.optimizers.Optimizer],
        default_optimizer: keras.optimizers.Optimizer | None = None,
        name: str = "optimizer_case",
    ) -> None:
        for number, (predicate, optimizer) in enumerate(predicate_optimizer_pairs):
            if not callable(predicate):
                raise TypeError(
                    f"CaseOptimizer: expected a function first in pair {number}, got "
                    f"{type(predicate).__name__}; a pair is (predicate, optimizer)"
                )
            _check_optimizer(f"second in pair {number}", optimizer)
        if default_optimizer is not None:
            _check_optimizer("as default_optimizer", default_optimizer)
        super().__init__(learning_rate=1.0, name=name)
        self.pred_opt_pairs = predicate_optimizer_pairs
        self.default = default_optimizer
        defaults = [] if default_optimizer is None else [default_optimizer]
        self.optimizers = [optimizer for _, optimizer in predicate_optimizer_pairs] + defaults
        # The number of each variable's optimizer; None: it has none. A saved model sets it before
        # `build`.
        self._owners: list[int | None] | None = None

    def build(self, variables: Any) -> None:
        if self.built:
            return
        super().build(variables)
        if self._owners is None:
            self._owners = [self._find_owner(variable) for variable in variables]
        for number, optimizer in enumerate(self.optimizers):
            owned = [variable for variable in variables if self._owner_of(variable) == number]
            # Predicates may well leave no weight to the default optimizer.
            if not owned and optimizer is not self.default:
                raise ValueError(
                    f"CaseOptimizer: expected weights for the optimizer '{optimizer.name}', got "
                    "none; leave it out, or mark weights for it (Bop: NoOp(precision=1))"
                )
            optimizer.build(owned)
        self._warn_of_untrained([each for each in variables if self._owner_of(each) is None])

    def _warn_of_untrained(self, variables: Any) -> None:
        names = ", ".join(f"'{variable.path}'" for variable in variables)
        if names:
            warnings.warn(
                f"CaseOptimizer: no optimizer trains {names}; these stay as they are. Give it a "
                "default_optimizer, or set trainable=False where that is meant",
                stacklevel=2,
            )

    def _find_owner(self, variable: Any) -> int | None:
        claims = [
            number for number, (claims, _) in enumerate(self.pred_opt_pairs) if claims(variable)
        ]
        if len(claims) > 1:
            names = " and ".join(f"'{self.optimizers[number].name}'" for number in claims)
            raise ValueError(
                f"CaseOptimizer: expected one optimizer for the weight '{variable.path}', got "
                f"{names}; let one predicate alone be true of it"
            )
        if claims:
            return claims[0]
        return None if self.default is None else len(self.pred_opt_pairs)

    def _owner_of(self, variable: Any) -> int | None:
        assert self._owners is not None
        return self._owners[self._get_variable_index(variable)]

    def apply(self, grads: Any, trainable_variables: Any = None) -> None:
        if trainable_variables is None:
            trainable_variables = self._trainable_variables
        else:
            trainable_variables = list(trainable_variables)
            if not self.built:
                self.build(trainable_variables)
            self._check_variables_are_known(trainable_variables)
        pairs = list(zip(grads, trainable_variables, strict=True))
        for number, optimizer in enumerate(self.optimizers):
            own = [pair for pair in pairs if self._owner_of(pair[1]) == number]
            optimizer.apply([gradient for gradient, _ in own], [weight for _, weight in own])
        self.iterations.assign_add(1)

    def finalize_variable_values(self, var_list: Any) -> None:
        """Lets each optimizer set the final values of its weights, such as averages (`use_ema`)."""
        for number, optimizer in enumerate(self.optimizers):
            own = [variable for variable in var_list if self._owner_of(variable) == number]
            if own:
                optimizer.finalize_variable_values(own)

    @property
    def learning_rate(self) -> Any:
        """Raises AttributeError: each of the optimizers has a learning rate of its own."""
        raise AttributeError(
            "CaseOptimizer has no learning rate; take that of one of its optimizers, or set it "
            "with callbacks.HyperparameterScheduler(schedule, 'learning_rate', optimizer)"
        )

    @learning_rate.setter
    def learning_rate(self, learning_rate: Any) -> None:
        _ = self.learning_rate  # the same error

    @property
    def variables(self) -> list[Any]:
        return [*super().variables, *(each for one in self.optimizers for each in one.variables)]

    def get_config(self) -> dict[str, Any]:
        serialize = keras.optimizers.serialize
        return {
            "name": self.name,
            "optimizer_configs": [serialize(optimizer) for _, optimizer in self.pred_opt_pairs],
            "default_config": None if self.default is None else serialize(self.default),
            "owners": self._owners,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> "CaseOptimizer":
        """Makes a saved optimizer. Predicates are not saved; the owner of each weight is."""

        def make(saved: Any) -> Any:
            return keras.optimizers.deserialize({**saved}, custom_objects)  # Keras changes it

        pairs = [(lambda variable: False, make(saved)) for saved in config["optimizer_configs"]]
        default = config["default_config"]
        made = cls(
            *pairs,
            default_optimizer=None if default is None else make(default),
            name=config["name"],
        )
        made._owners = config["owners"]
        return made


def _check_optimizer(where: str, optimizer: Any) -> None:
    if not isinstance(optimizer, keras.optimizers.Optimizer):
        raise TypeError(
            f"CaseOptimizer: expected an optimizer of Keras 3 {where}, got "
            f"{type(optimizer).__name__}"
        )
