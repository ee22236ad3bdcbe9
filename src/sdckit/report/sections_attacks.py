"""Simulated attacks as typed figures: successes are numbers of people, and printed like them.

What an attack means, and the residual risk, are worked out after the protection from what is printed
(`layout_attacks.conclude`): a reader could have worked it out alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from sdckit.report.figures import (
    Count,
    Document,
    Foreign,
    InternalOnly,
    Ledger,
    Ratio,
    Tree,
)
from sdckit.report.layout_attacks import conclude
from sdckit.report.protect import protect
from sdckit.report.protocols import ReleaseLike
from sdckit.report.sections_release import release_sizes
from sdckit.result import SCHEMA_VERSION

__all__ = ["ATTACKS_SCHEMA", "attacks_tree", "plain_attacks"]

ATTACKS_SCHEMA = "sdckit/attacks"
DISTANCES = "distance_to_closest_record"
LINKAGE = "probabilistic_linkage"
SINGLING = "singling_out"
FEWEST = 10  # attempts: from fewer, no rate says anything, and all say too much
UNDEFINED: Mapping[str, Tree] = {"text": "undefined", "value": None}


def attacks_tree(assessment: ReleaseLike, ledger: Ledger) -> Tree:
    """Give the attacks, release by release; None where none was made. `conclude` adds what they mean."""
    if not assessment.attacks and not assessment.attacks_skipped:
        return None
    asked = assessment.attacks_asked
    skipped = assessment.attacks_skipped
    return _tree(assessment.attacks, skipped, ledger, control=assessment.control, asked=asked)


def plain_attacks(
    attacks: Mapping[str, Any],
    *,
    n: int,
    sizes: Sequence[int],
    control: bool,
    skipped: Sequence[tuple[str, str]] = (),
    asked: Any = None,
    internal: bool = False,
) -> dict[str, Any]:
    """Give the protected figures of attacks that were made without an assessment; those of subgroups never.

    Parameters
    ----------
    attacks
        Results by the names that `assess` gives them.
    n, sizes
        Records of the original and of each release.
    control
        Whether there was a control file.
    skipped
        Name and reason of what was not done.
    asked
        How they were asked for, as of an assessment; null in the document unless given.
    internal
        Exact figures, for a confidential document.

    Returns
    -------
    dict
        JSON-ready; described in the documentation of the JSON schema.

    Raises
    ------
    DataError
        For a file of fewer than 50 records, unless internal.
    """
    from sdckit import __version__

    ledger = Ledger()
    tree: dict[str, Tree] = {
        "schema": ATTACKS_SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "package": {"name": "sdckit", "version": __version__},
        "date": date.today().isoformat(),
        "n": ledger.count("n", n, "n"),
        "n_released": release_sizes(ledger, sizes),
    }
    tree |= _tree(attacks, skipped, ledger, control=control, asked=asked)
    document = Document(tree, ledger.variables, tuple(ledger.relations), n)
    return conclude(protect(document, internal=internal))


def _tree(
    attacks: Mapping[str, Any],
    skipped: Sequence[tuple[str, str]],
    ledger: Ledger,
    *,
    control: bool,
    asked: Any = None,
) -> dict[str, Tree]:
    found: dict[str, Tree] = {}
    for place, result in attacks.items():
        if place != DISTANCES:
            found[place] = _attack(place, result, ledger)
    near = attacks.get(DISTANCES)
    return {
        "control": control,
        "attacks": found,
        "distances": None if near is None else _distances(near, ledger, control=control),
        "skipped": tuple({"measure": name, "reason": Foreign(reason)} for name, reason in skipped),
        "asked": None if asked is None else _asked(asked, attacks, ledger),
    }


def _asked(asked: Any, attacks: Mapping[str, Any], ledger: Ledger) -> dict[str, Tree]:
    """The analyst's own choices. The seed stays inside: often enough it is that of the protection, too."""
    size = "attack.n_control"
    tolerances = {place: getattr(one, "tolerance", None) for place, one in attacks.items()}
    return {
        "columns": tuple(asked.columns),
        "n_columns": asked.n_columns,
        "n_control": Count(size) if size in ledger.variables else None,
        "n_attacks": asked.n_attacks,
        "seeded": asked.seed is not None,
        "seed": InternalOnly(asked.seed),
        "columns_at_once": asked.columns_at_once,
        "halves": {name: tuple(tuple(half) for half in both) for name, both in asked.halves.items()},
        "tolerance": {place: words for place, words in tolerances.items() if words is not None},
    }


def _attack(place: str, result: Any, ledger: Ledger) -> Tree:
    linked = place.partition(":")[0] == LINKAGE
    figures = {name: float(getattr(result, name)) for name in result.figures}
    verdict = _linked_exactly(figures) if linked else result.verdict
    release = _linked if linked else _release
    return {
        "releases": tuple(release(place, j, one, ledger) for j, one in enumerate(result.per_release, 1)),
        "exact": InternalOnly({"verdict": verdict, **_exact(figures)}),
    }


def _exact(figures: Mapping[str, float]) -> dict[str, Tree]:
    return {name: value if math.isfinite(value) else None for name, value in figures.items()}


def _linked(place: str, j: int, figures: Mapping[str, float], ledger: Ledger) -> Tree:
    """Linkage attacks everybody, and has no use for people never in the file."""
    start, n = f"attack.{place}.{j}.", ledger.variables["n"].true or 0
    tree: dict[str, Tree] = {"n_attacks": Count("n"), "exact": InternalOnly(_exact(figures))}
    tree["baseline_rate"] = _estimate(ledger, f"{start}baseline", figures["baseline"])
    return tree if math.isnan(figures["rate"]) else tree | _tally(ledger, start, "", figures["rate"] * n, n)


def _linked_exactly(figures: Mapping[str, float]) -> str:
    """What linkage achieves, for a confidential document."""
    between = f"between {figures['rate_low']:.1%} and {figures['rate_high']:.1%}"
    told = (
        f"{figures['rate']:.1%} of the released records are linked to the right person ({between}), "
        f"{figures['baseline']:.1%} by guessing. "
    )
    if not figures["n_links"]:
        return told + "No pair is called a match."
    return told + f"Of the pairs called a match {figures['precision']:.1%} are right."


def _release(place: str, j: int, figures: Mapping[str, float], ledger: Ledger) -> Tree:
    kind, start = place.partition(":")[0], f"attack.{place}.{j}."
    n, guessed = int(figures["n_attacks"]), figures["baseline_rate"]
    size = f"{start}n_attacks"
    tree: dict[str, Tree] = {"n_attacks": ledger.count(size, n, size, watched="nowhere")}
    tree["exact"] = InternalOnly(_exact(figures))
    if n < FEWEST:
        return tree
    tree |= _tally(ledger, start, "", round(figures["successes"]), n, whole=True)
    if kind == "linkability":  # follows from the number of released rows
        tree["baseline_rate"] = _estimate(ledger, f"{start}baseline", guessed)
    elif kind != "membership" and not math.isnan(
        guessed
    ):  # that is half of all those called, in the file and out
        tree |= _tally(ledger, start, "baseline_", guessed * n, n)
    if not math.isnan(figures["control_rate"]):
        tree |= _control(kind, start, figures, ledger)
    return tree


def _control(kind: str, start: str, figures: Mapping[str, float], ledger: Ledger) -> dict[str, Tree]:
    size, n = f"{start}n_control", int(figures["n_control"])
    tree: dict[str, Tree] = {"n_control": ledger.count(size, n, size, watched="nowhere")}
    if n < FEWEST:
        return tree
    found = figures["control_rate"] * n
    if kind != SINGLING:
        return tree | _tally(ledger, start, "control_", round(found), n, whole=True)
    low, high = (min(max(figures[end], 0.0), 1.0) for end in ("residual_low", "residual_high"))
    # In whole per cent. How much queries depend on each other is in no other figure; `conclude` uses these ends or
    # drops them.
    return tree | {"ends": (math.floor(100 * low) / 100, math.ceil(100 * high) / 100)} | _tally(
        ledger, start, "control_", found, n
    )  # fmt: skip


def _tally(
    ledger: Ledger, start: str, role: str, true: float, n: float, *, whole: bool = False
) -> dict[str, Tree]:
    """The smaller one of successes and failures: then both are hidden where they are few, whatever n is."""
    side = "successes" if 2 * true <= n else "failures"
    found, name = round(true if side == "successes" else n - true, 9), f"{start}{role}{side}"
    leaf = ledger.count(name, int(found), name) if whole else ledger.value(name, found, name, kind="sum")
    return {role + side: leaf}


def _distances(result: Any, ledger: Ledger, *, control: bool) -> Tree:
    """Shares of records near to the other file; medians and quantiles stay in the session."""
    releases: list[Tree] = []
    if control:
        ledger.count("attack.n_control", int(result.n_control), "attack.n_control")
    for j, figures in enumerate(result.per_release, 1):
        start, released = f"attack.{DISTANCES}.{j}.", f"n.released.{j}"
        bases = {"copies": released, "hitting_rate": "n", "identifiability": "n"}
        if control:
            bases |= {
                "copies_of_control": released,
                "hitting_rate_control": "attack.n_control",
                "share_closer_to_original": released,
            }
        tree = {name: _part(ledger, start + name, figures[name], base) for name, base in bases.items()}
        if control:
            for name in ("expected_share", "chance_high"):
                tree[name] = _estimate(ledger, start + name, figures[name])
        releases.append(tree)
    return {"releases": tuple(releases), "exact": InternalOnly({"verdict": result.verdict})}


def _part(ledger: Ledger, name: str, share: float, base: str) -> Tree:
    """A share that stands for a number of records, printed like one."""
    if math.isnan(share):
        return UNDEFINED
    ledger.value(name, share * (ledger.variables[base].true or 0), name, kind="sum")
    return Ratio(name, base)


def _estimate(ledger: Ledger, name: str, true: float) -> Tree:
    return UNDEFINED if math.isnan(true) else ledger.value(name, true, name)
