"""Counts the cycles in which a window walks over images and their pads."""

import numpy as np

from larq_engine.converter.graph import Array
from larq_engine.fpga.layers import Window


def window_times(window: Window, ready: Array, fold: int) -> Array:
    """Returns when the walk comes to each window; pixels are ready at these times."""
    moved, _, wanted = _walk(window, ready, fold)
    return moved[wanted]


def taken_times(window: Window, ready: Array, fold: int) -> Array:
    """Returns when the walk takes each pixel, of one image or of several that follow each other."""
    moved, inside, _ = _walk(window, ready, fold)
    return moved[inside]


def _walk(window: Window, ready: Array, fold: int) -> tuple[Array, Array, Array]:
    """Returns when the walk is at each place, and which places are pixels and which windows."""
    rows, columns = window.rows, window.columns
    images = len(ready) // (rows.size * columns.size)
    y, x = np.divmod(np.arange(rows.walked * columns.walked), columns.walked)
    inside = (y >= rows.before) & (y < rows.before + rows.size)
    inside &= (x >= columns.before) & (x < columns.before + columns.size)
    wanted = _is_position(y, rows.extent, rows.stride, rows.positions)
    wanted &= _is_position(x, columns.extent, columns.stride, columns.positions)
    inside, wanted = np.tile(inside, images), np.tile(wanted, images)
    come = np.zeros(inside.shape, np.int64)  # pads before the first pixel wait for nothing
    come[inside] = ready
    # A window takes `fold` cycles, in which the walk stands still, and other places take one.
    before = np.concatenate([[0], np.cumsum(np.where(wanted, fold, 1))[:-1]])
    return np.maximum.accumulate(come - before) + before, inside, wanted


def _is_position(place: Array, extent: int, stride: int, positions: int) -> Array:
    first = place - (extent - 1)
    return np.asarray((first >= 0) & (first % stride == 0) & (first // stride < positions))
