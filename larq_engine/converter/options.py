"""Options of a conversion."""

import fnmatch
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TARGETS = ("arm", "fpga", "microcontroller", "xcore")
COMPATIBILITIES = ("larq_engine", "lce")

_SIGNS_OF_ZERO = {"error": None, "+1": 1.0, "-1": -1.0}

ALL_LAYERS = "*"  # as a pattern of layers


SIGNATURE = "serving_default"  # the signature of a SavedModel that is converted if none is named


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a conversion, which are checked when they are made.

    The front doors' functions repeat these names, types and defaults, and describe them. A test
    compares the functions and the command's options with this class.

    Raises:
        ValueError: An option has another value than those described.
        TypeError: An option has another type.
    """

    inference_input_type: Any = "float32"
    inference_output_type: Any = "float32"
    target: str = "arm"
    experimental_default_int8_range: tuple[float, float] | None = None
    representative_dataset: Any = None
    max_output_error: float | None = None
    compatibility: str = "larq_engine"
    check: bool = True
    verbose: int = 0
    signature_keys: Sequence[str] | None = None
    unsafe: bool = False
    channels_last: bool = False
    sign_of_zero: str | Mapping[str, str] = "error"
    open_batch: bool = False

    def __post_init__(self) -> None:
        int8_range = self.experimental_default_int8_range
        _check("target", self.target, TARGETS)
        _check("compatibility", self.compatibility, COMPATIBILITIES)
        type_name("inference_input_type", self.inference_input_type)
        type_name("inference_output_type", self.inference_output_type)
        if int8_range is not None:
            check_int8_range(int8_range)
        if int8_range is not None and self.has_samples:
            raise ValueError(
                "expected `representative_dataset` or `experimental_default_int8_range`, got both; "
                "leave out the range, which only shows how fast int8 would be"
            )
        if self.max_output_error is not None:
            _check_limit(self.max_output_error, has_samples=self.has_samples)
        if self.signature_keys is not None:
            _check_signature_keys(self.signature_keys)
        SignOfZero.read(self.sign_of_zero)

    @property
    def file_types(self) -> tuple[str, str]:
        """The names of the types of the file's inputs and outputs."""
        return (
            type_name("inference_input_type", self.inference_input_type),
            type_name("inference_output_type", self.inference_output_type),
        )

    @property
    def has_samples(self) -> bool:
        """Tells whether layers that are not binary can become int8."""
        return self.representative_dataset is not None

    @property
    def for_xcore(self) -> bool:
        """Tells whether the file is for XMOS's tools, without zero padding and pooled bits."""
        return self.target == "xcore"

    @property
    def for_hardware(self) -> bool:
        """Tells whether layers become binary wherever they can, as no host computes them."""
        return self.target == "fpga"

    @property
    def for_integers(self) -> bool:
        """Tells whether the file is for chips that compute with integers alone, if they can."""
        return self.target == "microcontroller"

    @property
    def for_lce(self) -> bool:
        """True for XMOS's tools too, which read LCE's operators as LCE writes them."""
        return self.compatibility == "lce" or self.for_xcore


@dataclass(frozen=True)
class SignOfZero:
    """The values for 0 of signs of three values, as a bit has only two values.

    Attributes:
        layers: +1 or -1, or None for neither, by the name of a layer or a pattern such as "block.*"
            or "*". A name counts before patterns, and patterns in their order.
    """

    layers: Mapping[str, float | None]

    @staticmethod
    def read(value: Any) -> "SignOfZero":
        """Reads an argument: one value for all layers, or a dictionary from layers to values.

        Raises:
            ValueError: It is neither.
        """
        layers = value if isinstance(value, Mapping) else {ALL_LAYERS: value}
        for layer, choice in layers.items():
            known = isinstance(choice, str) and choice in _SIGNS_OF_ZERO
            if not isinstance(layer, str) or not known:
                got = repr(value) if layers is not value else f"{layer!r}: {choice!r}"
                raise ValueError(
                    'sign_of_zero: expected "error", "+1" or "-1", or a dictionary from layers to '
                    f"these, got {got}; a sign of 0 is 0, which no bit can be"
                )
        return SignOfZero({layer: _SIGNS_OF_ZERO[choice] for layer, choice in layers.items()})

    def of(self, layer: str) -> float | None:
        """Returns what the signs of a layer give for 0; None if the caller has not said."""
        if layer in self.layers:
            return self.layers[layer]
        return next((zero for name, zero in self.layers.items() if _fits(layer, name)), None)

    def renamed(self, old: str, new: str) -> "SignOfZero":
        """Returns the same values, with another name for a layer."""
        return SignOfZero(
            {new if layer == old else layer: zero for layer, zero in self.layers.items()}
        )

    def check_layers(self, known: Iterable[str]) -> None:
        """Raises ValueError for a name that fits no layer with signs of three values."""
        layers = sorted(set(known))
        for name in self.layers:
            if name != ALL_LAYERS and not any(_fits(layer, name) for layer in layers):
                there = ", ".join(map(repr, layers)) or "none"
                raise ValueError(
                    f"sign_of_zero: expected layers with a sign of three values, got {name!r}; "
                    f"there are {there}"
                )


def _fits(layer: str, name: str) -> bool:
    return layer == name or fnmatch.fnmatchcase(layer, name)


def _check(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        names = " or ".join(f'"{choice}"' for choice in known)
        raise ValueError(f"Expected `{name}` to be {names}, but got {value!r}.")


def type_name(argument: str, kind: Any) -> str:
    """Returns the name of an inference type, given as a TensorFlow type, a NumPy type or a name."""
    name = getattr(kind, "name", None) or getattr(kind, "__name__", None) or str(kind)
    if name not in ("float32", "int8"):
        raise ValueError(f"Expected `{argument}` to be float32 or int8, but got {kind!r}.")
    return str(name)


def check_int8_range(int8_range: tuple[float, float]) -> None:
    """Raises ValueError unless the range contains 0, as ranges of int8 must."""
    text = f"Expected `experimental_default_int8_range` to be (min, max), but got {int8_range!r}."
    try:
        low, high = (math.nan if isinstance(end, str) else float(end) for end in int8_range)
    except (TypeError, ValueError):
        raise ValueError(text) from None
    # The smallest scale that XNNPACK accepts is 2.0**-126, and the range is divided into 255 steps.
    if not low <= 0 <= high or not 255 * 2.0**-126 <= high - low < math.inf:
        raise ValueError(f"{text} It must hold 0 and have some width, as in (-6, 6).")


def _check_limit(limit: Any, *, has_samples: bool) -> None:
    """Raises ValueError or TypeError if this cannot be a limit of an output's error."""
    if isinstance(limit, bool) or not isinstance(limit, (int, float)):
        raise TypeError(
            f"max_output_error: expected a number such as 0.02, got {type(limit).__name__}"
        )
    if not (math.isfinite(limit) and limit >= 0):
        raise ValueError(
            f"max_output_error: expected a number of 0 or more, got {limit}; 0.02 lets outputs be "
            "off by 2 % of their size"
        )
    if not has_samples:
        raise ValueError(
            "max_output_error: expected a representative_dataset with it, on which the error is "
            "measured, got none; give samples, or leave the limit out"
        )


def _check_signature_keys(keys: Sequence[str]) -> None:
    """Raises ValueError unless these are different names of signatures."""
    names = [] if isinstance(keys, str) else [key for key in keys if isinstance(key, str)]
    if not names or len(set(names)) != len(keys):
        raise ValueError(
            f"signature_keys: expected a list of different names of signatures, got {keys!r}; "
            f"as in [{SIGNATURE!r}]"
        )
