"""Slices cover everything once, in order; results keep the order; errors come out."""

from __future__ import annotations

import itertools
import os
import threading

import pytest
from hypothesis import given, strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from sdckit.numerics import threads
from sdckit.numerics.threads import SMALL_MATRIX, chunks, linear_algebra, n_threads, run


@given(st.integers(0, 10_000), st.integers(1, 5000), st.integers(1, 9))
def test_slices_cover_everything_once(n, minimum, parts):
    cut = chunks(n, minimum=minimum, parts=parts)
    assert cut[0][0] == 0
    assert cut[-1][1] == n
    assert all(one[1] == two[0] for one, two in itertools.pairwise(cut))
    assert len(cut) == 1 or all(stop - start >= minimum for start, stop in cut)
    assert len(cut) <= parts


def test_a_small_input_is_one_slice():
    assert chunks(100) == [(0, 100)]
    assert chunks(0) == [(0, 0)]


def test_results_keep_the_order(monkeypatch):
    monkeypatch.setattr(threads, "n_threads", lambda: 4)
    first = threading.Event()

    def work(i):
        if i == 0:
            first.wait(5)  # the first one finishes last
        elif i == 3:
            first.set()
        return i * i

    assert run(work, range(4)) == [0, 1, 4, 9]


def test_an_error_comes_out(monkeypatch):
    monkeypatch.setattr(threads, "n_threads", lambda: 2)
    with pytest.raises(ZeroDivisionError):
        run(lambda i: 1 // i, [1, 0, 2])


@pytest.mark.parametrize("items", [[], [5]])
def test_little_work_stays_on_the_calling_thread(items):
    assert run(lambda _: threading.current_thread(), items) == [threading.current_thread()] * len(items)


def test_the_processors_of_the_process_are_counted(monkeypatch):
    assert n_threads() >= 1
    count = n_threads.__wrapped__  # the answer is kept
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert count() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert count() == 1


def test_work_handed_on_by_a_worker_stays_with_it(monkeypatch):
    monkeypatch.setattr(threads, "n_threads", lambda: 2)

    def outer(_):
        return run(lambda _: threading.current_thread().name, range(3))

    for names in run(outer, range(8)):  # would never end if workers waited for each other
        assert len(set(names)) == 1
        assert names[0].startswith(threads.WORKER)


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_small_matrices_take_one_thread_until_the_last_call_ends():
    with threadpool_limits(3, "blas"):
        with linear_algebra(SMALL_MATRIX + 1):
            assert blas_threads() == {3}
        with linear_algebra(SMALL_MATRIX):
            with pytest.raises(ZeroDivisionError), linear_algebra(2):
                raise ZeroDivisionError
            assert blas_threads() == {1}
        assert blas_threads() == {3}
