"""How an LceBconv2d pads: as SAME asks for, or by given numbers of pixels."""

from collections.abc import Mapping

from larq_engine.converter import schema

SAME, VALID = schema.PADDING["SAME"], schema.PADDING["VALID"]

# Pixels before and after the image, of its height and of its width. Where None is taken too, it is
# SAME, which pads as the size of the image asks.
Pads = tuple[tuple[int, int], tuple[int, int]]
NO_PADS: Pads = ((0, 0), (0, 0))

# They stand in the place of "padding". Beside it LCE would ignore them and compute something else;
# an operator without "padding" it refuses.
_KEYS = (("pad_top", "pad_bottom"), ("pad_left", "pad_right"))


def same_pads(size: int, taps: int, stride: int, dilation: int) -> tuple[int, int]:
    """What SAME pads along one direction."""
    extent = (taps - 1) * dilation + 1
    positions = -(-size // stride)
    # The total decides, not only the number of positions: a symmetric padding of a stride of 2 has
    # the same number and is shifted by a pixel.
    total = max(0, (positions - 1) * stride + extent - size)
    return total // 2, total - total // 2


def is_size_free(taps: int, stride: int) -> bool:
    """Whether SAME pads as much along this direction whatever the size of the image."""
    return taps == 1 or stride == 1


def padding_options(pads: Pads | None) -> dict[str, int]:
    """The options that say how an LceBconv2d pads."""
    if pads is None or pads == NO_PADS:
        return {"padding": SAME if pads is None else VALID}
    return {
        key: pixels
        for keys, axis in zip(_KEYS, pads, strict=True)
        for key, pixels in zip(keys, axis, strict=True)
    }


def with_padding(options: Mapping[str, int], pads: Pads | None) -> dict[str, int]:
    """The options with another padding."""
    old = {"padding", *(key for keys in _KEYS for key in keys)}
    kept = {key: value for key, value in options.items() if key not in old}
    return kept | padding_options(pads)


def read_pads(options: Mapping[str, int]) -> Pads | None:
    """How an LceBconv2d with these options pads."""
    if "padding" in options:
        return None if options["padding"] == SAME else NO_PADS
    (top, bottom), (left, right) = _KEYS
    return (options[top], options[bottom]), (options[left], options[right])


def is_zero_padded(options: Mapping[str, int]) -> bool:
    """Whether an LceBconv2d counts pixels that are neither +1 nor -1."""
    return options["pad_values"] == 0 and read_pads(options) != NO_PADS
