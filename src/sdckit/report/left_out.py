"""What is known of the risk that is left when a key is left out, or is coarser."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

from sdckit.report.gate.figures import DIFFERENCE, Ledger, Relation
from sdckit.report.gate.relations import risk_of_size


def cells_between(fewer: str, more: str) -> str:
    """Name the cells that the records below a tested k have more than those below a smaller one."""
    return f"{more}{DIFFERENCE}{fewer}: cells"


def bound_risk_left(ledger: Ledger, name: str, counts: Mapping[int, str], fraction: float) -> None:
    """Bound the expected re-identifications by the cells of up to each size, and the records in larger ones."""
    alone = (counts[1], risk_of_size(1, fraction))
    low, high = [alone], [alone]
    for (least, fewer), (most, more) in pairwise(sorted(counts.items())):
        cells = cells_between(fewer, more)
        low.append((cells, most * risk_of_size(most, fraction)))
        high.append((cells, (least + 1) * risk_of_size(least + 1, fraction)))
    last = max(counts)
    rest = risk_of_size(last + 1, fraction)
    upper = [("n", rest), (counts[last], -rest), *high]
    ledger.relations.append(Relation(((name, 1.0), *((one, -share) for one, share in low)), upper=math.inf))
    ledger.relations.append(
        Relation(((name, 1.0), *((one, -share) for one, share in upper)), lower=-math.inf)
    )
