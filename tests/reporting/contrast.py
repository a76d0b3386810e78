"""Computes contrasts of colours as WCAG 2 defines them."""

from collections.abc import Sequence


def hex_parts(colour: str) -> list[int]:
    """Returns red, green and blue of #rrggbb."""
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def contrast(first: Sequence[int], second: Sequence[int]) -> float:
    """Returns the contrast, from 1 to 21."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Sequence[int]) -> float:
    red, green, blue = (_linear(part / 255) for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
