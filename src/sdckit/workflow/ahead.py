"""Work that is begun on a thread of its own and waited for where its result is needed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from sdckit.numerics.threads import WAKE, WORKER

R = TypeVar("R")


def begun(make: Callable[[], R]) -> Callable[[], R]:
    """Begin work that is beside the rest: give what waits for its result, or raises its error, at every call.

    No warning is to come of it, since they are caught by process and not by thread.

    >>> begun(lambda: 2 + 2)()
    4
    """
    alone = ThreadPoolExecutor(1, thread_name_prefix=WORKER)  # kernels of it leave the other threads to the rest
    work = alone.submit(make)
    alone.shutdown(wait=False)
    return partial(_result, work)


def _result(work: Future[R]) -> R:
    """Wait in short intervals, between which an interruption is handled."""
    while not work.done():
        try:
            return work.result(timeout=WAKE)
        except TimeoutError:
            pass
    return work.result()
