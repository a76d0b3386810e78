"""The README's picture is that of the kept results."""

import re

from benchmarks import headline
from benchmarks.kept import read_kept


def test_the_picture_is_drawn_from_what_is_kept() -> None:
    assert headline.PICTURE.read_bytes() == headline.draw(read_kept(headline.SOURCE)["convs"])


def test_each_contender_is_a_bar_of_each_layer() -> None:
    picture = headline.PICTURE.read_text()
    for label, _ in headline.SHOWN.values():
        # Each of four layers has a text, and two more for those who do not see the picture.
        assert len(re.findall(rf"{label}: \d\.\d\d\d ms", picture)) == 12
