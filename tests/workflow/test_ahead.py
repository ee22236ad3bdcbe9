"""Work on a thread of its own: done once, its result or its error given wherever it is asked for."""

from __future__ import annotations

import threading

import pytest

from sdckit.workflow.ahead import begun


def test_it_is_done_once_beside_the_rest() -> None:
    go, done = threading.Event(), list[str]()

    def make() -> str:
        go.wait(60)
        done.append(threading.current_thread().name)
        return "made"

    wait = begun(make)
    assert not done
    go.set()
    assert [wait(), wait()] == ["made", "made"]
    assert len(done) == 1
    assert done[0] != threading.current_thread().name


@pytest.mark.parametrize("error", [TimeoutError("late"), ValueError("bad")])
def test_its_error_is_that_of_whoever_asks(error: Exception) -> None:
    def fail() -> None:
        raise error

    wait = begun(fail)
    for _ in range(2):
        with pytest.raises(type(error), match=str(error)):
            wait()
