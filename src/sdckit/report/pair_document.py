"""One result on two files as a document of its own: for `plot()` and notebooks."""

from __future__ import annotations

from typing import Any

from sdckit.report.gate.figures import Document, Ledger, Tree
from sdckit.report.setting import PairSetting, release_sizes
from sdckit.report.view import view_of

__all__ = ["pair_document"]


def pair_document(result: Any) -> Document:
    """Build the document of one result on two files, for `protect`: the figures under ``measures`` by their place."""
    ledger = Ledger()
    tree: dict[str, Tree] = {}
    sizes: tuple[int, ...] = ()
    # Estimates given as numbers have no files, and may not even say how many records they are from.
    n = result.n or None if not hasattr(result, "pair") else result.pair.n
    if n is not None:
        tree["n"] = ledger.count("n", n, "n")
    if hasattr(result, "pair"):
        sizes = result.pair.sizes[: len(result.per_release)]  # a control file stands behind the releases
        tree["n_released"] = release_sizes(ledger, sizes)
    target = getattr(result, "target", "")
    words = target if isinstance(target, str) else ", ".join(target)
    place = f"{result.measure}:{words}" if words else result.measure
    figures = view_of(result.measure).tree(result, PairSetting(ledger, "c0", place, sizes))
    tree["measures"] = {place: figures}
    smallest = n if n is None else min(n, *sizes, n)
    return Document(tree, ledger.variables, tuple(ledger.relations), smallest)
