"""What was done to a file: its steps, the values they changed, and the risk after each, for a document."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sdckit.report.figures import Count, Document, Foreign, Guarded, Ledger, Part, Share, Tree
from sdckit.report.protect import protect

__all__ = ["StepFiguresLike", "WhatWasDoneLike", "plain_recipe", "recipe_document"]

LONGEST_LIST = 8


class StepFiguresLike(Protocol):
    """The figures after a step, see `sdckit.workflow.recipe_figures.StepFigures`."""

    @property
    def step(self) -> int: ...  # noqa: D102
    @property
    def method(self) -> str: ...  # noqa: D102
    @property
    def intruder(self) -> str: ...  # noqa: D102
    @property
    def sample_uniques(self) -> float: ...  # noqa: D102
    @property
    def below_k(self) -> float: ...  # noqa: D102
    @property
    def expected_reidentifications(self) -> float: ...  # noqa: D102
    @property
    def share_changed(self) -> float: ...  # noqa: D102
    @property
    def pmse(self) -> float: ...  # noqa: D102


class WhatWasDoneLike(Protocol):
    """What a recipe did, see `sdckit.workflow.recipe_applied.WhatWasDone`."""

    @property
    def log(self) -> Any: ...  # noqa: D102
    @property
    def arguments(self) -> Sequence[Mapping[str, Any]]: ...  # noqa: D102
    @property
    def figures(self) -> Sequence[StepFiguresLike]: ...  # noqa: D102
    @property
    def k(self) -> int: ...  # noqa: D102


def plain_recipe(done: WhatWasDoneLike, *, internal: bool = False) -> dict[str, Any]:
    """Give the protected figures of what was done, as they go into every document."""
    return protect(recipe_document(done, internal=internal), internal=internal)


def recipe_document(done: WhatWasDoneLike, *, internal: bool = False) -> Document:
    """Build the document of a recipe: no seed, key, matrix or step's own count of records in it.

    Parameters
    ----------
    done
        What a recipe did.
    internal
        Whether arguments that help to undo a step are told, too.

    Returns
    -------
    Document
        To be passed to `protect`.
    """
    ledger = Ledger()
    n = int(done.log.n)
    tree: dict[str, Tree] = {
        "n": ledger.count("n", n, "n"),
        "k": done.k,
        "steps": tuple(
            _step(number, change, arguments, ledger, internal=internal)
            for number, (change, arguments) in enumerate(zip(done.log.steps, done.arguments, strict=True), 1)
        ),
        "figures": tuple(_figures(at, one, ledger) for at, one in enumerate(done.figures)),
        "versions": {name: str(number) for name, number in done.log.versions.items()},
    }
    return Document(tree, ledger.variables, tuple(ledger.relations), n)


def _step(
    number: int, change: Any, arguments: Mapping[str, Any], ledger: Ledger, *, internal: bool
) -> dict[str, Tree]:
    told = {
        name: value
        for name, value in arguments.items()
        if internal
        or (name not in change.secret and ("method" if name == "how" else name) in change.parameters)
    }
    return {
        "step": number,
        "method": change.method,
        "arguments": {name: _words(value) for name, value in told.items()},
        "changed": tuple(
            _changed(f"step{number}.{variable}", variable, count, change.n, ledger)
            for variable, count in change.changed.items()
        ),
        "notes": tuple(Foreign(f"{about}: {text}") for about, text in change.notes.items()),
    }


def _changed(name: str, variable: str, count: int, n: int, ledger: Ledger) -> dict[str, Tree]:
    if count > ledger.variables["n"].true or n != ledger.variables["n"].true:  # type: ignore[operator]
        # Several files: their values together, of the records of all of them.
        whole = ledger.count("n of all files", n, "n").name
    else:
        whole = "n"
    found = ledger.count(name, min(count, n), "changed")
    ledger.nested(whole, found.name)
    return {"variable": variable, "n": found, "share": Share(found.name, whole)}


def _figures(at: int, one: StepFiguresLike, ledger: Ledger) -> dict[str, Tree]:
    tree: dict[str, Tree] = {
        "step": one.step,
        "method": one.method,
        "intruder": one.intruder,
        "share_changed": Part(one.share_changed, "n"),
        "pmse": None if math.isnan(one.pmse) else _pmse(at, one.pmse, ledger),
    }
    if not math.isnan(one.below_k):
        counts: dict[str, Count] = {
            name: ledger.count(f"f{at}.{name}", round(getattr(one, name)), "after")
            for name in ("sample_uniques", "below_k")
        }
        ledger.nested("n", counts["below_k"].name)
        ledger.nested(counts["below_k"].name, counts["sample_uniques"].name)
        tree |= counts
    if not math.isnan(one.expected_reidentifications):
        tree["expected_reidentifications"] = ledger.value(
            f"f{at}.expected", one.expected_reidentifications, "expected"
        )
    return tree


def _pmse(at: int, true: float, ledger: Ledger) -> Guarded:
    return Guarded(ledger.value(f"f{at}.pmse", max(0.0, round(true, 12)), "pmse").name, "n")


def _words(value: Any) -> str:
    """An argument as a reader takes it in."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}".replace("inf", "open")
    if isinstance(value, Mapping):
        return _short([f"{name}: {_words(one)}" for name, one in value.items()])
    if isinstance(value, list | tuple):
        return _short([_words(one) for one in value])
    return str(value)


def _short(texts: Sequence[str]) -> str:
    more = f", and {len(texts) - LONGEST_LIST} more" if len(texts) > LONGEST_LIST else ""
    return ", ".join(texts[:LONGEST_LIST]) + more
