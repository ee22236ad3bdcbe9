"""Figures that few changed records could carry: a loss inverts to their number where there are one, two or three.

Each is told in as many digits as the records that lie otherwise in the release allow; where these are few, not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sdckit.data.frames import rows_of
from sdckit.errors import SdcError
from sdckit.report.gate.figures import Guarded, Tree, Value
from sdckit.report.setting import PairSetting

# Values that are others in more records than these leave every figure its digits.
MANY = 500
# What figures are of a release that is as its original; the others are none.
ALIKE = {
    "auc": 0.5, "pearson_similarity": 1.0, "spearman_similarity": 1.0, "contingency_similarity": 1.0,
    "mean_overlap": 1.0, "min_overlap": 1.0,
}  # fmt: skip


def carried(leaf: Tree, setting: PairSetting, pair: Any, variables: Sequence[str], name: str = "") -> Tree:
    """Guard an estimate of two files by the records that lie otherwise in the release, on the variables it is about.

    `name` is the figure's, where it is not 0 for a release that is as its original.
    """
    if not isinstance(leaf, Value) or pair is None:
        return leaf
    names = tuple(dict.fromkeys(variables))
    base = f"{setting.prefix}.moved.{', '.join(names)}"
    if base not in setting.ledger.variables:
        setting.ledger.count(base, n_moved(pair, names), f"{setting.prefix}.moved", watched="nowhere")
    return Guarded(leaf.name, base, few=True, nothing=ALIKE.get(name, 0.0))


def variables_of(result: Any) -> tuple[str, ...]:
    """The variables a measure of utility compares."""
    found = getattr(result, "variables", ())
    return found if isinstance(found, tuple) else tuple(str(row["variable"]) for row in rows_of(found))


def n_moved(pair: Any, variables: Sequence[str]) -> int:
    """Records of the original that have no counterpart in a release, at least, on some variables taken together.

    Of several releases the one with fewest counts, but for those that are all as the original. One variable is enough
    where that is many records already. Values that cannot be compared are few.
    """
    try:
        one = _fewest(pair, [[name] for name in variables])
        return one if one >= MANY or len(variables) < 2 else _fewest(pair, [list(variables)])
    except SdcError:
        return 1


def _fewest(pair: Any, sets: Sequence[Sequence[str]]) -> int:
    moved = np.max([_moved(pair, names) for names in sets], axis=0) if sets else np.zeros(1)
    return int(np.floor(np.min(moved[moved > 0], initial=np.inf) if np.any(moved > 0) else 0))


def _moved(pair: Any, names: Sequence[str]) -> list[float]:
    sizes = pair.groups(names).size
    scale = [pair.n / max(1, n) for n in pair.sizes]
    found = (np.maximum(0.0, sizes[0] - sizes[j] * factor).sum() for j, factor in enumerate(scale, 1))
    return [float(np.ceil(total - 1e-6)) for total in found]
