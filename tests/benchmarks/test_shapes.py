"""The grid is the one of LCE's paper."""

from benchmarks.shapes import CONV_SHAPES, GRID_SHAPES


def test_grid() -> None:
    assert len({shape.name for shape in GRID_SHAPES}) == len(GRID_SHAPES) == 48
    macs = [shape.macs for shape in GRID_SHAPES]
    assert min(macs) == 8 * 8 * 9 * 32 * 32
    assert max(macs) == 64 * 64 * 25 * 256 * 256
    assert round(sum(macs) / 1e9, 1) == 22.5


def test_a_title_says_the_size_once() -> None:
    assert [str(shape) for shape in (CONV_SHAPES[0], GRID_SHAPES[0])] == [
        "A 56x56x64",
        "8x8x32 k3",
    ]
