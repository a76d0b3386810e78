"""TensorFlow's commentary is dropped; nothing else is."""

import os
import threading

import pytest

from larq_engine.converter.quiet import quiet_tensorflow

COMMENTARY = (
    b"WARNING: All log messages before absl::InitializeLog() is called are written to STDERR\n"
    b"I0000 00:00:1795244750.465657   15109 reader.cc:83] Reading SavedModel\n"
    b"W0000 00:00:1795244750.465128   15109 tf_tfl_flatbuffer_helpers.cc:367] Ignored\n"
    b"2026-05-21 10:11:12.123456: I tensorflow/cc/saved_model/loader.cc:218] Running\n"
    b"fully_quantize: 0, inference_type: 6\n"
    b"E0000 00:00:1795376324.490781    3086 cuda_platform.cc:52] failed call to cuInit: INTERNAL\n"
)


@pytest.fixture(autouse=True)
def _no_choice_of_the_user(monkeypatch):
    monkeypatch.delenv("TF_CPP_MIN_LOG_LEVEL", raising=False)


def test_commentary_is_dropped_and_other_lines_are_not(capfd):
    with quiet_tensorflow():
        os.write(2, COMMENTARY + b"E0000 00:00:17 15109 x.cc:1] a problem\nImportant: mine\n")
    assert capfd.readouterr().err == "E0000 00:00:17 15109 x.cc:1] a problem\nImportant: mine\n"


def test_the_terminal_is_back_after_an_error(capfd):
    with pytest.raises(KeyError), quiet_tensorflow():
        os.write(2, b"details of the error\n")
        raise KeyError
    os.write(2, b"I0000 00:00:17 later\n")
    assert capfd.readouterr().err == "I0000 00:00:17 later\n"


def test_the_users_own_choice_is_left(capfd, monkeypatch):
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "0")
    with quiet_tensorflow():
        os.write(2, COMMENTARY)
    assert capfd.readouterr().err == COMMENTARY.decode()


def test_threads_take_turns(capfd):
    """A thread that restored another one's file would leave the terminal without output."""
    inside = threading.Event()
    leave = threading.Event()

    def first():
        with quiet_tensorflow():
            inside.set()
            leave.wait()

    def second():
        with quiet_tensorflow():
            os.write(2, b"second\n")

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    threads[0].start()
    inside.wait()
    threads[1].start()
    leave.set()
    for thread in threads:
        thread.join()
    os.write(2, b"after\n")
    assert capfd.readouterr().err == "second\nafter\n"
