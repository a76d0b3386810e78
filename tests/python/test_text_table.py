"""Tables as text."""

from larq_engine.python.text_table import align_columns


def test_columns_are_aligned():
    lines = align_columns(("name", "n"), [("a", "1"), ("long one", "20")], {"n"})
    assert lines == ["name       n", "--------  --", "a          1", "long one  20"]


def test_names_do_not_move_the_cursor():
    lines = align_columns(("name\x1b[1m",), [("a\x1b[2Jb\n\x07",), ("größe",)], ())
    assert lines == ["name\ufffd[1m", "--------", "a\ufffd[2Jb\ufffd\ufffd", "größe"]
