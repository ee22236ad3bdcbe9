"""Jaro and Winkler's similarity in NumPy, for the workers of a cluster, which have nothing of ours and no compiler.

A function inside a function goes to a worker by value, with all it uses; one of a module would be looked for there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sdckit.attacks.linkage.jaro_winkler import BEGINNING, BOOST_FROM, SCALE

AT_ONCE = 4096  # pairs, whose texts lie side by side as matrices of bytes


def similarity_for_workers() -> Callable[[Any, Any], Any]:
    """The function `jaro_winkler`, to the last bit, that takes nothing of ours along.

    Examples
    --------
    >>> import pyarrow as pa
    >>> similarity_for_workers()(pa.array(["martha", "a", None]), pa.array(["marhta", "b", "c"])).to_pylist()
    [0.9611111111111111, 0.0, None]
    """
    padded, compared, together = _padding(), _comparing(), AT_ONCE

    def similarity(left: Any, right: Any) -> Any:
        import numpy
        import pyarrow
        import pyarrow.compute

        parts = [
            compared(*padded(left.slice(start, together)), *padded(right.slice(start, together)))
            for start in range(0, len(left), together)
        ]
        values = numpy.concatenate(parts) if parts else numpy.zeros(0)
        absent = pyarrow.compute.or_(pyarrow.compute.is_null(left), pyarrow.compute.is_null(right))
        mask = numpy.asarray(absent.to_numpy(zero_copy_only=False), bool)
        return pyarrow.array(values, pyarrow.float64(), mask=mask)

    return similarity


def _padding() -> Callable[[Any], tuple[Any, Any]]:
    def padded(texts: Any) -> Any:
        """The bytes of each text in a row, and their number."""
        import numpy
        import pyarrow

        wide = texts.cast(pyarrow.large_string()).fill_null("")
        starts = numpy.frombuffer(wide.buffers()[1], numpy.int64)[wide.offset : wide.offset + len(wide) + 1]
        size = numpy.diff(starts)
        out = numpy.zeros((len(size), max(1, int(size.max(initial=0)))), numpy.uint8)
        row = numpy.repeat(numpy.arange(len(size)), size)
        if len(row):
            place = numpy.arange(len(row)) - (starts[:-1] - starts[0])[row]
            out[row, place] = numpy.frombuffer(wide.buffers()[2], numpy.uint8)[starts[0] : starts[-1]]
        return out, size

    return padded


def _rounding_once() -> Callable[[Any, Any, Any], Any]:
    def contracted(x: Any, y: Any, z: Any) -> Any:
        """Give x + y z, rounded once: the error of the product is exact, by Dekker's halves of a number."""
        product, halves = y * z, []
        for one in (y, z):
            high = one * 134217729.0
            high = high - (high - one)
            halves.append((high, one - high))
        (a, b), (c, d) = halves
        error = ((a * c - product) + a * d + b * c) + b * d
        total = x + product
        gone = total - x
        return total + ((x - (total - gone)) + (product - gone) + error)

    return contracted


def _comparing() -> Callable[[Any, Any, Any, Any], Any]:
    contracted, least, begins, scale = _rounding_once(), BOOST_FROM, BEGINNING, SCALE

    def compared(a: Any, n_a: Any, b: Any, n_b: Any) -> Any:
        """The similarity of texts in the rows of two matrices, as many bytes of each as it has."""
        import numpy

        window = numpy.maximum(numpy.maximum(n_a, n_b) // 2 - 1, 0)[:, None]
        place = numpy.arange(b.shape[1])[None, :]
        taken = numpy.zeros(b.shape, bool)
        matched = numpy.zeros((len(a), max(a.shape[1], b.shape[1])), numpy.uint8)
        common = numpy.zeros(len(a), numpy.int64)
        inside = place < n_b[:, None]
        for i in range(a.shape[1]):
            hit = (b == a[:, i : i + 1]) & ~taken & inside & (numpy.abs(place - i) <= window)
            hit &= (i < n_a)[:, None]
            rows = numpy.flatnonzero(hit.any(axis=1))
            taken[rows, hit[rows].argmax(axis=1)] = True
            matched[rows, common[rows]] = a[rows, i]
            common[rows] += 1
        order = numpy.argsort(~taken, axis=1, kind="stable")
        in_b = numpy.take_along_axis(b, order, axis=1)
        known = place < common[:, None]
        swapped = ((in_b != matched[:, : b.shape[1]]) & known).sum(axis=1)
        with numpy.errstate(divide="ignore", invalid="ignore"):
            jaro = (common / n_a + common / n_b + (common - swapped // 2) / common) / 3
        jaro = numpy.where(common > 0, jaro, 0.0)
        width = min(a.shape[1], b.shape[1], begins)
        alike = (a[:, :width] == b[:, :width]) & (numpy.arange(width) < numpy.minimum(n_a, n_b)[:, None])
        same = numpy.cumprod(alike, axis=1).sum(axis=1)
        return numpy.where(jaro > least, contracted(jaro, same * scale, 1 - jaro), jaro)

    return compared
