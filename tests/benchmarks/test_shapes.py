"""The layers A to D do the same work, and their titles have their sizes."""

from benchmarks.shapes import CONV_SHAPES, ConvShape


def test_all_do_the_same_work() -> None:
    assert {shape.macs for shape in CONV_SHAPES} == {56 * 56 * 9 * 64 * 64}


def test_a_title_says_the_size_once() -> None:
    named = ConvShape("8x8x32 k3", size=8, channels=32)
    assert [str(shape) for shape in (CONV_SHAPES[0], named)] == ["A 56x56x64", "8x8x32 k3"]
