"""Simulated attacks as tables for a terminal: exact, for the analyst's own session."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sdckit.attacks.distance_to_closest_record import DistanceToClosestRecord
from sdckit.attacks.membership import Membership
from sdckit.attacks.probabilistic_linkage import ProbabilisticLinkage
from sdckit.cli.attack_groups import SMALL, group_parts, interval, share
from sdckit.cli.attack_linkage import linkage_parts
from sdckit.cli.formats import count, make_table, number

if TYPE_CHECKING:
    from sdckit.attacks.attack_rates import AttackResult
    from sdckit.cli.attack_files import Attacked
    from sdckit.cli.attack_runs import Runs

__all__ = ["AnyAttack", "Found", "attack_parts", "attack_tables"]

AnyAttack: TypeAlias = "AttackResult | DistanceToClosestRecord | ProbabilisticLinkage"
Found: TypeAlias = "tuple[str, AnyAttack]"

# Whose notes speak of single releases.
RATES = ("success_rate", "baseline_rate", "residual")
DISTANCES = (
    ("from a released record to the closest (median)", "dcr_released_to_original", "dcr_released_to_control"),
    ("from a record to the closest released (median)", "dcr_original_to_released", "dcr_control_to_released"),
    ("the same over the second closest (median)", "nndr_original_to_released", "nndr_control_to_released"),
    ("released records equal to one of them", "copies", "copies_of_control"),
    ("hit by a released record", "hitting_rate", "hitting_rate_control"),
    ("nearer to a released than to another", "identifiability", "identifiability_control"),
    ("adversarial accuracy", "adversarial_accuracy", "adversarial_accuracy_control"),
)


def attack_tables(runs: Runs, files: Attacked, *, name: str, by: Sequence[str] = ()) -> RenderableType:
    """Lay out the attacks: the rates side by side, what each means, then the distances."""
    sizes = f"a release of {count(files.released[0].height)}"
    if len(files.released) > 1:
        sizes = f"{len(files.released)} releases"
    told = (
        "without a control file"
        if files.control is None
        else f"{count(files.control.height)} never in the file"
    )
    parts: list[RenderableType] = [
        Text(""),
        Text.assemble((name, "bold"), f": {sizes} against {count(files.original.height)} records, {told}"),
    ]
    if files.left_out:
        parts.append(Text(f"Not in every file, left out: {', '.join(files.left_out)}", "dim"))
    parts += attack_parts([(one.words, one.result) for one in runs.made], by=by)
    left_out = (Text(f"Not computed: {words} – {reason}", "dim") for _, words, reason in runs.skipped)
    return Group(*parts, *left_out)


def attack_parts(found: Sequence[Found], *, by: Sequence[str] = ()) -> list[RenderableType]:
    """The tables and sentences of attacks: a row each, what they mean, links, distances; of each its subgroups."""
    parts: list[RenderableType] = []
    apart = (DistanceToClosestRecord, ProbabilisticLinkage)
    attacks = [(words, one) for words, one in found if not isinstance(one, apart)]
    if attacks:
        parts.append(_rates(attacks))
    for words, one in attacks:
        parts += [Text(""), Text.assemble((_capital(words), "bold"), f". {one.verdict}"), *_more(one)]
        parts += group_parts(words, one, by) if by else []
    if attacks and by:
        parts += [Text(""), Text(SMALL, "dim")]
    for words, other in found:
        if isinstance(other, ProbabilisticLinkage):
            parts += linkage_parts(words, other)
        elif isinstance(other, DistanceToClosestRecord):
            # the sentence is written for Python; here the same is an option
            told = other.verdict.replace("control=", "--control FILE")
            parts += [_distances(other), Text(""), Text(told), *_notes(other)]
            parts += group_parts(words, other, by) if by else []
    return parts


def _rates(attacks: Sequence[tuple[str, AttackResult]]) -> Table:
    title = f"Attacks that succeed, with intervals of {100 * attacks[0][1].level:g} %"
    if len(attacks[0][1].per_release) > 1:
        title += ", means over the releases"
    table = make_table(title, "", "attempts", "in the file", "guessing", "never in it", "residual risk")
    for words, one in attacks:
        residual = (one.risk, one.risk_low, one.risk_high)
        # Without a control file it would repeat the success rate; of an attack that fails, 0 would look like safety.
        if math.isnan(one.residual) or not one.success_rate > one.baseline_rate:
            residual = (math.nan,) * 3
        table.add_row(
            words,
            "–".join(map(count, sorted({min(tried), max(tried)}))) if (tried := _attempts(one)) else "–",
            _between(one.success_rate, one.success_low, one.success_high),
            share(one.baseline_rate),
            _between(one.control_rate, one.control_low, one.control_high),
            _between(*residual),
        )
    return table


def _distances(one: DistanceToClosestRecord) -> Table:
    has_control = one.n_control > 0
    heads = ("original", "control") if has_control else ("original",)
    table = make_table("Distances between released and real records", "", *heads)
    for words, own, other in DISTANCES:
        names = (own, other)[: len(heads)]
        table.add_row(words, *(number(getattr(one, figure)) for figure in names))
    return table


def _more(one: AttackResult) -> list[Text]:
    parts = []
    if isinstance(one, Membership):
        parts.append(
            Text(
                f"A member is nearer to the release than another person with chance {number(one.auc)} (AUC)."
            )
        )
    return [*parts, *_notes(one)]


def _attempts(one: AttackResult) -> list[float]:
    """Attempts on each release."""
    return [figures["n_attacks"] for figures in one.per_release if not math.isnan(figures["n_attacks"])]


def _notes(one: AttackResult | DistanceToClosestRecord) -> list[Text]:
    """Notes that say something of the files; why a figure is undefined is in the verdict."""
    undefined = {
        figure for figure in type(one).figures if math.isnan(getattr(one, figure, 0.0))
    }  # fmt: skip
    # That of the intervals is in the title of the table.
    told = {
        figure: text for figure, text in one.notes.items() if figure not in undefined | {"risk", "intervals"}
    }
    if len(one.per_release) > 1 and not isinstance(one, DistanceToClosestRecord):
        told = _of_all_releases(one, told)
    return [Text(f"Note: {text}", "dim") for text in dict.fromkeys(told.values())]


def _of_all_releases(one: AttackResult, told: dict[str, str]) -> dict[str, str]:
    """Notes of an attack on several releases: what was noted of the first alone is said of each."""
    tried = _attempts(one)
    defined = {
        figure: text
        for figure, text in told.items()
        if figure not in RATES and not text.startswith("mean over")
    }
    if 0 in tried:
        which = [str(j) for j, n in enumerate(tried, 1) if not n]
        several = "s" * (len(which) > 1)
        defined["none"] = (
            f"no attack could be made on release{several} {', '.join(which)}; the means are over the others"
        )
    if "n_attacks" in told and len(set(tried)) > 1:
        defined["n_attacks"] = (
            f"attempts on each release: {', '.join(map(count, tried))}; fewer than asked for were found"
        )
    return defined


def _between(rate: float, low: float, high: float) -> str:
    return "–" if math.isnan(rate) else f"{share(rate)}\n{interval(low, high)}"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
