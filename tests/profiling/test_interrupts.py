"""An interrupt that comes while an object is deleted is not lost."""

import os
import signal
import threading

import pytest

from larq_engine.profiling.interrupts import Interrupts


@pytest.fixture(autouse=True)
def _python_handles_it():
    """Makes Python handle SIGINT, which it ignores if the tests run in a shell's background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class _SlowToGo:
    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_one_that_python_drops_is_found_again():
    with Interrupts() as interrupts:
        interrupts.check()
        _SlowToGo()
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_others_handlers_stay():
    def mine(*_):
        pass

    before = signal.signal(signal.SIGINT, mine)
    try:
        with Interrupts() as interrupts:
            assert signal.getsignal(signal.SIGINT) is mine
            _SlowToGo()
            interrupts.check()
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_are_left_alone():
    failed = []

    def run():
        try:
            with Interrupts() as interrupts:
                interrupts.check()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert not failed
