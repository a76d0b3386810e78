"""The plug-in's words are all that remains of a host's message."""

import pytest

from larq_engine.python.errors import clean_message, host_errors, lacks_operator

_OURS = "LceBconv2d 'conv' (#7): option 'padding': expected 0 to 1, got 2; re-convert the model."


@pytest.mark.parametrize(
    "message",
    [
        _OURS,
        f"{_OURS} Node number 9 (larq_engine) failed to prepare.\n",
        f"{_OURS} Node number 9 (larq_engine) failed to prepare.\n"
        "Restored original execution plan after delegate application failure.",
        f"Failed to load delegate from some/place.so\n{_OURS}",
        f"{_OURS}\nEncountered unresolved custom op: LceBconv2d.\nSee instructions: "
        "https://www.tensorflow.org/lite/guide/ops_custom Node number 7 (LceBconv2d) failed to "
        "prepare.",
        f"{_OURS} Encountered unresolved custom op: LceQuantize.",
        f"{_OURS}\n\n{_OURS}",
    ],
)
def test_only_the_plugins_words_remain(message):
    assert clean_message(message) == _OURS


def test_what_the_host_alone_says_remains():
    for text in ("Encountered unresolved custom op: LceQuantize.", "Input tensor 3 lacks data"):
        assert clean_message(f"{text} Node number 7 (X) failed to invoke.") == text


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError(""), RuntimeError("  \n")])
def test_a_host_without_words(error):
    words = r"^load: expected shapes that .* and memory that suffices.*; check"
    with pytest.raises(ValueError, match=words) as caught, host_errors("load"):
        raise error
    assert caught.value.__cause__ is error


def test_an_operator_that_a_host_does_not_have_is_named():
    message = (
        "Didn't find op for builtin opcode 'STABLEHLO_SORT' version '1'. An older version of this "
        "builtin might be supported. Are you using an old TFLite binary with a newer model?\n"
        "Registration failed.\n"
    )
    expected = "this host has no STABLEHLO_SORT of version 1, which a newer host may have"
    assert clean_message(message) == expected
    assert lacks_operator(RuntimeError(message))
    assert not lacks_operator(RuntimeError("Node number 7 (X) failed to invoke."))
