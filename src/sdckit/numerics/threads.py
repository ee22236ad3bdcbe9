"""Run a kernel that releases the GIL over slices of its input."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["chunks", "n_threads", "run"]

T = TypeVar("T")
R = TypeVar("R")


def n_threads() -> int:
    """Threads worth starting: the processors this process may use."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def chunks(n: int, *, minimum: int = 1 << 15, parts: int | None = None) -> list[tuple[int, int]]:
    """Cut ``range(n)`` into contiguous slices, one per thread, none shorter than `minimum`."""
    parts = max(1, min(parts or n_threads(), n // minimum))
    edges = [n * i // parts for i in range(parts + 1)]
    return list(zip(edges[:-1], edges[1:], strict=True))


def run(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Apply `function` to each item on threads; results in the order of the items."""
    work: Sequence[T] = list(items)
    if len(work) <= 1 or n_threads() == 1:
        return [function(item) for item in work]
    with ThreadPoolExecutor(max_workers=min(len(work), n_threads())) as pool:
        return list(pool.map(function, work))
