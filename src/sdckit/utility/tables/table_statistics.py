"""How far two files are apart in one contingency table (Raab, Nowok & Dibben 2021)."""

from __future__ import annotations

import math

import numpy as np

from sdckit.numerics.array_types import Floats, Ints

STATISTICS = (
    "n_cells", "df", "df_g", "vw", "ft", "g", "jsd", "specks", "mabsdd", "wmabsdd", "dbhatt", "pmse", "po50",
    "u", "auc", "s_vw", "s_ft", "s_g", "s_jsd", "s_wmabsdd", "s_pmse",
)  # fmt: skip


def differences(original: Ints, released: Ints) -> Floats:
    """Released count less the expected one, over the square root of the latter: normal under correct synthesis.

    >>> differences(np.array([50, 50]), np.array([20, 30])).round(3).tolist()
    [-1.035, 0.968]
    """
    n, n_s = int(original.sum()), int(released.sum())
    total = original + released
    expected = n_s / (n + n_s) * total
    out: Floats = np.divide(
        released - n_s / n * original, np.sqrt(expected), out=np.zeros(len(total)), where=total > 0
    )
    return out


def table_statistics(original: Ints, released: Ints) -> dict[str, float]:
    """All statistics of one table.

    `original` and `released` (L,): records of each file in each cell; cells empty in both are left out. Returns
    `STATISTICS`; standardised ones are NaN where there are no degrees of freedom, all but the first are where a
    file has no record.

    >>> found = table_statistics(np.array([50, 50]), np.array([40, 60]))
    >>> found["df"], round(found["specks"], 4), round(found["vw"], 4), round(found["s_jsd"], 4)
    (1.0, 0.1, 4.0404, 4.0475)
    """
    used = original + released > 0
    o, s = original[used], released[used]
    n, n_s = int(o.sum()), int(s.sum())
    if not n or not n_s:
        return {**dict.fromkeys(STATISTICS, math.nan), "n_cells": float(len(o))}
    df, in_both = len(o) - 1, (o > 0) & (s > 0)
    df_g = int(in_both.sum()) - 1
    p_o, p_s = o / n, s / n_s
    c = n_s / (n + n_s)
    z = differences(o, s)
    distance = min(2.0, float(np.abs(p_s - p_o).sum()))
    roots = min(2.0, float(((np.sqrt(p_s) - np.sqrt(p_o)) ** 2).sum()))
    found = {
        "n_cells": float(len(o)),
        "df": float(df),
        "df_g": float(df_g) if df_g >= 0 else math.nan,
        "vw": float(z @ z),
        "ft": 4 * n_s * roots,
        "g": _g(o[in_both], s[in_both]),
        "jsd": _jensen_shannon(p_o, p_s),
        "specks": distance / 2,
        "mabsdd": distance,
        "wmabsdd": float(np.abs(z).sum()) / math.sqrt(2 / math.pi),
        "dbhatt": math.sqrt(roots / 2),
        "po50": _more_likely(o, s) / (n + n_s) - 0.5,
        "u": _larger_scores(o, s),
    }
    found["pmse"] = found["vw"] * c * (1 - c) ** 2 / (n + n_s)
    found["auc"] = found["u"] / (n * n_s)
    for name in ("vw", "ft", "wmabsdd"):
        found[f"s_{name}"] = _over(found[name], df)
    found["s_g"] = _over(found["g"], df_g)
    found["s_jsd"] = _over(8 * n_s * math.log(2) * found["jsd"], df)
    found["s_pmse"] = _over(found["pmse"] * (n + n_s) / (c * (1 - c) ** 2), df)
    return {name: found[name] for name in STATISTICS}


def _over(value: float, df: int) -> float:
    return value / df if df > 0 else math.nan


def _jensen_shannon(p_o: Floats, p_s: Floats) -> float:
    """In bits; written in the relative difference x, so that nearly equal files do not cancel."""
    total = p_o + p_s
    x = np.abs(p_o - p_s) / total
    inner = x < 1
    y = x[inner]
    parts = np.full(len(x), 2 * math.log(2))  # a cell that one file lacks
    parts[inner] = 2 * y * np.arctanh(y) + np.log1p(-(y**2))
    return min(1.0, float(total @ parts) / (4 * math.log(2)))


def _g(o: Ints, s: Ints) -> float:
    """Likelihood ratio over the cells that both files have."""
    if not len(o):
        return math.nan
    p_o, p_s = o / o.sum(), s / s.sum()
    x = (p_o - p_s) / p_s  # both sum to 1, so x may be added: each term is then positive
    return 2 * float(s @ (x - np.log1p(x)))


def _more_likely(o: Ints, s: Ints) -> int:
    """Records in the cells where their own file has the larger share (the original where both are equal)."""
    released = s * int(o.sum()) > o * int(s.sum())
    return int(np.where(released, s, o).sum())


def _larger_scores(o: Ints, s: Ints) -> float:
    """Pairs of a released and an original record where the former's cell has more of the released; ties half."""
    score = s / (s + o)  # equal ratios of whole numbers are equal as floats
    order = np.argsort(score)
    ordered = score[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    of_original = np.add.reduceat(o[order], first)
    of_released = np.add.reduceat(s[order], first)
    before = np.cumsum(of_original) - of_original
    return float((of_released * before).sum()) + float((of_released * of_original).sum()) / 2
