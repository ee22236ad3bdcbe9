"""Running kernels on threads, over slices of their input; jobs, the pieces of work that call many kernels."""

import contextlib
import itertools
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from sdckit import operating_system

T = TypeVar("T")
R = TypeVar("R")
WORKER = "sdckit-kernel"
SMALL_MATRIX = 2_000  # columns up to which threads of linear algebra cost more than they save
WAKE = 0.2  # seconds; Polars' handler of Ctrl-C lets a wait start anew, and a long one would swallow it


@cache
def n_threads() -> int:
    """Number of threads: the processors that this process may use."""
    return operating_system.n_processors()


def chunks(n: int, *, minimum: int = 1 << 15, parts: int | None = None) -> list[tuple[int, int]]:
    """Cut ``range(n)`` into contiguous slices, one per thread, none shorter than `minimum`.

    >>> chunks(10, minimum=4, parts=3)
    [(0, 5), (5, 10)]
    """
    parts = max(1, min(parts or n_threads(), n // minimum))
    return list(itertools.pairwise([n * i // parts for i in range(parts + 1)]))


@cache
def _pool(_process: int) -> ThreadPoolExecutor:
    """The thread pool of a process, since starting threads for every kernel would cost more than small kernels do."""
    # a process that was forked has none of its parent's threads and makes its own
    return ThreadPoolExecutor(max_workers=n_threads(), thread_name_prefix=WORKER)


def run(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Apply `function` to each item on threads; results in the order of the items.

    Nested calls run in the calling thread, so that no thread waits for another.
    """
    work: Sequence[T] = list(items)
    nested = threading.current_thread().name.startswith(WORKER)
    if len(work) <= 1 or n_threads() == 1 or nested:
        return [function(item) for item in work]
    futures = [_pool(os.getpid()).submit(function, item) for item in work]
    try:
        return [result_of(future) for future in futures]
    finally:
        for future in futures:
            future.cancel()


class _LinearAlgebra:
    """How many calls keep the libraries of linear algebra to one thread, and what sets their number back."""

    lock = threading.Lock()
    calls = 0
    set_back: Callable[[], None]


@contextlib.contextmanager
def linear_algebra(order: int) -> Iterator[None]:
    """Work on matrices of about `order` columns: on one thread up to `SMALL_MATRIX`.

    NumPy's library and SciPy's have threads of their own, which wait for more work by running idle: used in turn on
    small matrices, they keep each other from the processors.
    """
    if order > SMALL_MATRIX:
        yield
        return
    state = _LinearAlgebra
    with state.lock:
        if not state.calls:
            state.set_back = _libraries().limit(limits=1, user_api="blas").restore_original_limits
        state.calls += 1
    try:
        yield
    finally:
        with state.lock:
            state.calls -= 1
            if not state.calls:
                state.set_back()


@cache
def _libraries() -> ThreadpoolController:
    """The libraries that this process has loaded, with SciPy's and NumPy's among them."""
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()


def result_of(future: Future[R]) -> R:
    """The result of a piece of work; it waits in short intervals, between which an interruption is handled."""
    while True:
        try:
            return future.result(timeout=WAKE)
        except TimeoutError:
            if future.done():
                return future.result()


class _Jobs:
    """Jobs of a process: nesting depth of those running, and whether the first has ended."""

    running = 0
    ended = False


jobs = _Jobs()


@contextlib.contextmanager
def job() -> Iterator[None]:
    """A piece of work that calls many kernels; in the first of a process little work needs no kernel (`compiling`).

    >>> with job():
    ...     jobs.running > 0
    True
    """
    jobs.running += 1
    try:
        yield
    finally:
        jobs.running -= 1
        jobs.ended |= jobs.running == 0
