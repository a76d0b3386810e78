"""The README's picture is that of the kept results."""

import re

from benchmarks import headline


def test_the_picture_is_drawn_from_what_is_kept() -> None:
    assert headline.PICTURE.read_bytes() == headline.draw(headline.read_runs())


def test_each_contender_is_a_bar_of_each_model_on_each_core() -> None:
    picture = headline.PICTURE.read_text()
    bars = len(headline.MODELS) * len(headline.SHOWN_CORES)
    for label, _ in headline.SHOWN.values():
        # Each bar has its text as a label, as a title and in the description.
        assert len(re.findall(rf"{label}: \d+\.\d ms", picture)) == 3 * bars
