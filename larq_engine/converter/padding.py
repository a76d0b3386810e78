"""The padding of an LceBconv2d: SAME, or given numbers of pixels."""

from collections.abc import Mapping

from larq_engine.converter import schema

SAME, VALID = schema.PADDING["SAME"], schema.PADDING["VALID"]

# Pixels before and after the image, for its height and for its width. If the type is `Pads | None`,
# None means SAME, whose pads depend on the size of the image.
Pads = tuple[tuple[int, int], tuple[int, int]]
NO_PADS: Pads = ((0, 0), (0, 0))

# These options replace "padding". LCE would ignore them beside "padding" and compute something
# else, but it refuses an operator without "padding".
_KEYS = (("pad_top", "pad_bottom"), ("pad_left", "pad_right"))


def same_pads(size: int, taps: int, stride: int, dilation: int) -> tuple[int, int]:
    """Returns the pads of SAME along one direction."""
    extent = (taps - 1) * dilation + 1
    positions = -(-size // stride)
    # The total of the pads matters, not only the number of positions. With a stride of 2, symmetric
    # padding has the same number of positions, but is shifted by a pixel.
    total = max(0, (positions - 1) * stride + extent - size)
    return total // 2, total - total // 2


def is_size_free(taps: int, stride: int) -> bool:
    """Tells whether SAME pads equally along this direction for all sizes of the image."""
    return taps == 1 or stride == 1


def padding_options(pads: Pads | None) -> dict[str, int]:
    """Returns the options that say how an LceBconv2d pads."""
    if pads is None or pads == NO_PADS:
        return {"padding": SAME if pads is None else VALID}
    return {
        key: pixels
        for keys, axis in zip(_KEYS, pads, strict=True)
        for key, pixels in zip(keys, axis, strict=True)
    }


def with_padding(options: Mapping[str, int], pads: Pads | None) -> dict[str, int]:
    """Returns the options with their padding replaced."""
    old = {"padding", *(key for keys in _KEYS for key in keys)}
    kept = {key: value for key, value in options.items() if key not in old}
    return kept | padding_options(pads)


def read_pads(options: Mapping[str, int]) -> Pads | None:
    """Returns the padding of an LceBconv2d with these options."""
    if "padding" in options:
        return None if options["padding"] == SAME else NO_PADS
    (top, bottom), (left, right) = _KEYS
    return (options[top], options[bottom]), (options[left], options[right])


def is_zero_padded(options: Mapping[str, int]) -> bool:
    """Tells whether an LceBconv2d reads pads that are neither +1 nor -1."""
    return options["pad_values"] == 0 and read_pads(options) != NO_PADS
