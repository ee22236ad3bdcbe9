"""Subgroups of simulated attacks as tables for a terminal, the worst group first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sdckit.attacks.attack_rates import worst_first
from sdckit.attacks.distance_to_closest_record import DistanceToClosestRecord
from sdckit.cli.formats import count, make_table, number
from sdckit.data.frames import rows_of

if TYPE_CHECKING:
    from sdckit.attacks.attack_rates import AttackResult

__all__ = ["SMALL", "group_parts", "interval", "share"]

MOST_ROWS = 10
SMALL = "A group of few attempts may stand first by chance: see its interval."
NEAR = (
    ("originals", "n"),
    ("median distance", "dcr_original_to_released"),
    ("hit", "hitting_rate"),
    ("nearer than another", "identifiability"),
    ("nearest to an original", "share_closer_to_original"),
)


def group_parts(
    words: str, one: AttackResult | DistanceToClosestRecord, by: Sequence[str]
) -> list[RenderableType]:
    """The table of an attack's subgroups, at most ten rows, and how many more there are.

    Groups in which no attack could be made are left out.
    """
    title = f"{words[:1].upper()}{words[1:]}, by {', '.join(by)}"
    if isinstance(one, DistanceToClosestRecord):
        table, n = _near(title, one, by)
        return [table, *_more(n)]
    table, n = _rates(title, one)
    return [table, *_more(n)] if n else []


def share(rate: float) -> str:
    """A share as the verdicts write it, one decimal.

    Examples
    --------
    >>> share(0.25), share(float("nan"))
    ('25.0 %', '–')
    """
    return "–" if math.isnan(rate) else f"{100 * rate:.1f} %"


def interval(low: float, high: float, *, digits: int = 1) -> str:
    """Both ends of an interval in per cent.

    Examples
    --------
    >>> interval(0.1, 0.251), interval(0.1, 0.251, digits=0), interval(float("nan"), float("nan"))
    ('10.0–25.1', '10–25', '–')
    """
    return "–" if math.isnan(low) else f"{100 * low:.{digits}f}–{100 * high:.{digits}f}"


def _rates(title: str, one: AttackResult) -> tuple[Table, int]:
    attacked = [group for group in one.groups if group.figures["n_attacks"] > 0]
    groups = sorted(attacked, key=lambda group: worst_first(group.figures))
    several = len(one.per_release) > 1
    compared = any(not math.isnan(group.figures["control_rate"]) for group in groups)
    columns = ["never in it", "risk", "interval"] if compared else ["interval"]
    heads = [*one.by, *(["release"] if several else []), "attempts", "in the file", "guessing", *columns]
    table = make_table(title, *heads, text=len(one.by))
    for group in groups[:MOST_ROWS]:
        figures = group.figures
        ends = interval(figures["success_low"], figures["success_high"], digits=0)
        rest = [ends]
        if compared:
            risk, between = "–", "–"  # an attack no better than guessing says nothing
            if figures["success_rate"] > figures["baseline_rate"]:
                risk = share(figures["risk"])
                between = interval(figures["risk_low"], figures["risk_high"], digits=0)
            rest = [share(figures["control_rate"]), risk, between]
        table.add_row(
            *group.labels, *([str(group.release)] if several else []), count(figures["n_attacks"]),
            share(figures["success_rate"]), share(figures["baseline_rate"]), *rest,
        )  # fmt: skip
    return table, len(groups)


def _near(title: str, one: DistanceToClosestRecord, by: Sequence[str]) -> tuple[Table, int]:
    rows = sorted(rows_of(one.by_group), key=_nearest_first)
    several = len(one.per_release) > 1
    shown = [(head, name) for head, name in NEAR if name != "share_closer_to_original" or one.n_control]
    heads = [*by, *(["release"] if several else []), *(head for head, _ in shown)]
    table = make_table(title, *heads, text=len(by))
    for row in rows[:MOST_ROWS]:
        figures = [count(row[name]) if name == "n" else number(row[name]) for _, name in shown]
        table.add_row(*(str(row[name]) for name in by), *([str(row["release"])] if several else []), *figures)
    return table, len(rows)


def _nearest_first(row: Mapping[str, Any]) -> float:
    distance = float(row["dcr_original_to_released"])
    return math.inf if math.isnan(distance) else distance


def _more(n: int) -> list[Text]:
    return [Text(f"… {n - MOST_ROWS:,} more", "dim")] if n > MOST_ROWS else []
