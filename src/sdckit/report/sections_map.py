"""The map of risk and loss for a document: every recipe tried, its figures protected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sdckit.report.figures import Document, Guarded, Ledger, Part, Tree
from sdckit.report.protect import protect

__all__ = ["ExplorationLike", "plain_map"]

COUNTS = ("sample_uniques", "below_k")


class PointLike(Protocol):
    """A recipe tried, see `sdckit.workflow.exploration.Point`."""

    @property
    def parameters(self) -> Mapping[str, Any]: ...
    @property
    def figures(self) -> Mapping[str, float]: ...


class ExplorationLike(Protocol):
    """A map, see `sdckit.workflow.exploration.Exploration`."""

    @property
    def points(self) -> Sequence[PointLike]: ...  # noqa: D102
    @property
    def on_front(self) -> Sequence[bool]: ...  # noqa: D102
    @property
    def risk(self) -> str: ...  # noqa: D102
    @property
    def loss(self) -> str: ...  # noqa: D102
    @property
    def n(self) -> int: ...  # noqa: D102
    @property
    def k(self) -> int: ...  # noqa: D102


def plain_map(found: ExplorationLike, *, internal: bool = False) -> dict[str, Any]:
    """Give the protected points of a map; recipes without figures are left out."""
    ledger = Ledger()
    n = ledger.count("n", found.n, "n")
    points: list[Tree] = []
    for at, (one, front) in enumerate(zip(found.points, found.on_front, strict=True)):
        risk, loss = one.figures[found.risk], one.figures[found.loss]
        if math.isnan(risk) or math.isnan(loss):
            continue
        points.append(
            {
                "label": ", ".join(f"{path} = {value}" for path, value in one.parameters.items()),
                "risk": _risk(f"p{at}.risk", risk, found.risk, ledger),
                "loss": _loss(f"p{at}.loss", loss, found.loss, ledger),
                "front": front,
            }
        )
    tree: dict[str, Tree] = {
        "n": n,
        "risk": found.risk,
        "loss": found.loss,
        "k": found.k,
        "points": tuple(points),
    }
    return protect(Document(tree, ledger.variables, tuple(ledger.relations), found.n), internal=internal)


def _risk(name: str, true: float, figure: str, ledger: Ledger) -> Tree:
    if figure not in COUNTS:
        return ledger.value(name, true, "risk")
    count = ledger.count(name, round(true), "risk")
    ledger.nested("n", name)
    return count


def _loss(name: str, true: float, figure: str, ledger: Ledger) -> Tree:
    if figure == "share_changed":
        return Part(true, "n")
    return Guarded(ledger.value(name, max(0.0, round(true, 12)), "loss").name, "n")
