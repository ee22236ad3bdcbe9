"""Jaro and Winkler's similarity of texts as DuckDB computes it, for engines that lack it."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Bytes

BOOST_FROM = 0.7  # Jaro's similarity above which an equal beginning counts more
BEGINNING = 4
SCALE = 0.1


@numba.njit(cache=True)
def _jaro(a: Bytes, b: Bytes) -> float:
    if len(a) == 0 or len(b) == 0:
        return 0.0
    window = max(max(len(a), len(b)) // 2 - 1, 0)
    taken = np.zeros(len(b), np.bool_)
    matched = np.empty(min(len(a), len(b)), np.uint8)
    common = 0
    for i in range(len(a)):
        for j in range(max(0, i - window), min(len(b), i + window + 1)):
            if not taken[j] and a[i] == b[j]:
                taken[j] = True
                matched[common] = a[i]
                common += 1
                break
    if common == 0:
        return 0.0
    swapped, k = 0, 0
    for j in range(len(b)):
        if taken[j]:
            swapped += b[j] != matched[k]
            k += 1
    # Half of the characters out of order, rounded down as in Winkler's own program.
    return (common / len(a) + common / len(b) + (common - swapped // 2) / common) / 3


# Contracted to one rounding, as DuckDB's build is: texts that lie exactly on a limit fall to the same side.
@numba.njit(cache=True, fastmath={"contract"})
def _boosted(jaro: float, same: int) -> float:
    return jaro + (same * SCALE) * (1 - jaro)


@numba.njit(cache=True)
def _over_pairs(a: Bytes, starts_a: NDArray[np.int64], b: Bytes, starts_b: NDArray[np.int64]) -> Any:
    out = np.empty(len(starts_a) - 1)
    for i in range(len(out)):
        left, right = a[starts_a[i] : starts_a[i + 1]], b[starts_b[i] : starts_b[i + 1]]
        same = 0
        while same < min(len(left), len(right), BEGINNING) and left[same] == right[same]:
            same += 1
        jaro = _jaro(left, right)
        out[i] = _boosted(jaro, same) if jaro > BOOST_FROM else jaro
    return out


def _utf8(texts: Any) -> tuple[Bytes, NDArray[np.int64]]:
    import pyarrow as pa

    wide = texts.cast(pa.large_string()).fill_null("")
    starts = np.frombuffer(wide.buffers()[1], np.int64)[wide.offset : wide.offset + len(wide) + 1]
    text = wide.buffers()[2]
    return np.frombuffer(text, np.uint8) if text is not None and text.size else np.empty(0, np.uint8), starts


def jaro_winkler(left: Any, right: Any) -> Any:
    """Compare texts pair by pair, byte by byte of their UTF-8.

    The texts are PyArrow arrays, equally long. Gives 0 to 1, and null where a text is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> jaro_winkler(pa.array(["martha", "a", None]), pa.array(["marhta", "b", "c"])).to_pylist()
    [0.9611111111111111, 0.0, None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    values = _over_pairs(*_utf8(left), *_utf8(right))
    absent = pc.or_(pc.is_null(left), pc.is_null(right))
    return pa.array(values, pa.float64(), mask=np.asarray(absent.to_numpy(zero_copy_only=False), bool))
