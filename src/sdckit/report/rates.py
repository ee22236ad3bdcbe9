"""Views of simulated attacks: successes are numbers of people, entered and printed as counts."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from sdckit.attacks.attack_rates import EVERY, control_state_of, worst_first
from sdckit.display import capital
from sdckit.report import common_blocks, conclusions
from sdckit.report.blocks import Block, ChartBlock, Paragraph, TableBlock
from sdckit.report.gate.figures import InternalOnly, Ledger, Tree
from sdckit.report.setting import PairSetting
from sdckit.report.view import Plain, View, find_view, noted

Column = tuple[str, Callable[[Plain], str]]
ATTACKS = "Simulated attacks"
EVERY_COLUMN = ", every column"
FEWEST = 10  # attempts: from fewer, no rate says anything, and all say too much
MOST_GROUPS = 10
SMALL = "A group of few attempts may stand first by chance: see its interval."
SHOWN = {"success_rate": "succeed", "baseline_rate": "by guessing", "control_rate": "on people never in the file"}
_PART_WITHHELD = re.compile(r"\bwithheld of (the \w+)")


@dataclass(frozen=True)
class AttackView(View):
    """The view of a simulated attack.

    Parameters
    ----------
    named
        Its name and the intruder who makes it, "" for one who knows no keys; given what stands behind the colon of
        its place.
    conclude
        Adds to its printed tree what it means.
    details
        Further blocks of a confidential document, given its tree and its name.
    options_words
        The options it was run with, in words, given these and what stands behind the colon; "" for none.
    residual
        Whether it is also made on a control file, and so has a residual risk.
    apart
        Key of its tree in a document, where it is not among the other attacks.
    """

    named: Callable[[str], tuple[str, str]] = lambda rest: (rest, "")
    conclude: Callable[[Plain], dict[str, Any]] = dict
    details: Callable[[Plain, str], list[Block]] = lambda _tree, _name: []
    options_words: Callable[[Plain, str], str] = lambda _options, _rest: ""
    residual: bool = True
    apart: str = ""


def rate_view(
    named: Callable[[str], tuple[str, str]], guess: Literal["count", "share", "none"] = "count", *,
    dependent: bool = False, options_words: Callable[[Plain, str], str] = lambda _options, _rest: "",
    details: Callable[[Plain, str], list[Block]] = lambda _tree, _name: [],
    more: Callable[[Any, str, Ledger], dict[str, Tree]] = lambda _result, _start, _ledger: {},
    conclude_more: Callable[[dict[str, Any]], dict[str, Any]] = dict,
    group_column: Callable[[Plain], Sequence[Column]] = lambda _tree: (),
    answer: Callable[[Plain, str, Plain], str] = lambda _plain, _place, _n: "",
) -> AttackView:  # fmt: skip
    """Make the view of an attack that has a rate beside guessing and beside people never in the file.

    Parameters
    ----------
    named, options_words
        As of `AttackView`.
    guess
        What is entered of guessing: the successes, their share where that follows from the number of released
        rows, or nothing where it is half of the successes on both files.
    dependent
        Whether attempts depend on each other: then the residual risk has an interval of its own.
    details
        What is shown before its notes and subgroups.
    more, conclude_more
        Further figures of a result, entered by names that begin so; and what is concluded from the printed ones.
    group_column
        Further columns of the table of subgroups.
    answer
        What it says on the first page.
    """

    def conclude(tree: Plain) -> dict[str, Any]:
        return conclude_more(conclusions.concluded(partial(conclusions.judge_rates, calls=guess == "none"), tree))

    def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
        return {
            **more(result, f"{setting.prefix}.{setting.place}.", setting.ledger),
            "releases": tuple(
                _release(f"{setting.prefix}.{setting.place}.{j}.", figures, setting.ledger, guess, dependent=dependent)
                for j, figures in enumerate(result.per_release, 1)
            ),
            "control_state": control_state_of(result),
            "exact": exact_of(result, notes=_notes(result), groups=_groups(result)),
        }

    def blocks(plain: Plain, place: str) -> list[Block]:
        attack = plain[place] if "means" in plain[place] else conclude(plain[place])
        name = attack_name(place)
        compared = any("n_control" in release for release in attack["releases"])
        table = rates_table({name: attack}, capital(name), control=compared)
        means = Paragraph(meaning_of(attack))
        return [table, rate_bars(capital(name), attack, compared=compared), means, *confidential_blocks(attack, name)]

    def confidential_blocks(attack: Plain, name: str) -> list[Block]:
        groups = group_blocks(attack, name, [*_group_columns(attack), *group_column(attack)])
        small = [Paragraph(SMALL, "note")] if groups else []
        return [*details(attack, name), *detail_blocks(attack, name), *groups, *small]

    return AttackView(
        ATTACKS,
        tree,
        blocks,
        noted("attacks"),
        named=named,
        conclude=conclude,
        details=confidential_blocks,
        options_words=options_words,
        answer=answer,
    )


def attack_name(place: str, *, several: bool = False) -> str:
    """The name of an attack in words, by its place among the results; with its intruder where there are several."""
    kind, _, rest = place.partition(":")
    view = find_view(place)
    words, intruder = view.named(rest) if isinstance(view, AttackView) else (kind.replace("_", " "), rest)
    if isinstance(view, AttackView) and not intruder and rest.endswith(EVERY):
        words = f"{view.named(rest.removesuffix(EVERY).removesuffix(':'))[0]}{EVERY_COLUMN}"
    return f"{words} ({intruder})" if several and intruder else words


def has_residual_risk(place: str) -> bool:
    """Whether an attack is compared with a control file; true for one without a view."""
    view = find_view(place)
    return not isinstance(view, AttackView) or view.residual


def exact_of(result: Any, **more: Tree) -> InternalOnly:
    """Exact figures of an attack and its verdict, for a confidential document."""
    figures = {name: float(getattr(result, name)) for name in result.figures}
    exact: dict[str, Tree] = {"verdict": result.verdict, **finite(figures), **more}
    return InternalOnly(exact)


def finite(figures: Mapping[str, float]) -> dict[str, Tree]:
    """Figures with None in the place of NaN."""
    return {name: value if math.isfinite(value) else None for name, value in figures.items()}


def _release(start: str, figures: Mapping[str, float], ledger: Ledger, guess: str, *, dependent: bool) -> Tree:
    n, guessed = int(figures["n_attacks"]), figures["baseline_rate"]
    size = f"{start}n_attacks"
    tree: dict[str, Tree] = {"n_attacks": ledger.count(size, n, size, watched="nowhere")}
    tree["exact"] = InternalOnly(finite(figures))
    if n < FEWEST:
        return tree
    tree |= enter_tally(ledger, start, "", round(figures["successes"]), n, whole=True)
    if guess == "share":
        tree["baseline_rate"] = common_blocks.value_leaf(ledger, f"{start}baseline", guessed)
    elif guess == "count" and not math.isnan(guessed):
        tree |= enter_tally(ledger, start, "baseline_", guessed * n, n)
    if not math.isnan(figures["control_rate"]):
        tree |= _control(start, figures, ledger, dependent=dependent)
    return tree


def _control(start: str, figures: Mapping[str, float], ledger: Ledger, *, dependent: bool) -> dict[str, Tree]:
    size, n = f"{start}n_control", int(figures["n_control"])
    tree: dict[str, Tree] = {"n_control": ledger.count(size, n, size, watched="nowhere")}
    if n < FEWEST:
        return tree
    successes = figures["control_rate"] * n
    if not dependent:
        return tree | enter_tally(ledger, start, "control_", round(successes), n, whole=True)
    low, high = (min(max(figures[end], 0.0), 1.0) for end in ("residual_low", "residual_high"))
    # In whole per cent. How much queries depend on each other is in no other figure; what is concluded uses these ends
    # or drops them.
    tree["ends"] = (math.floor(100 * low) / 100, math.ceil(100 * high) / 100)
    return tree | enter_tally(ledger, start, "control_", successes, n)


def enter_tally(
    ledger: Ledger, start: str, role: str, true: float, n: float, *, whole: bool = False
) -> dict[str, Tree]:
    """Enter the smaller of successes and failures, so that both are hidden where either is small."""
    side = "successes" if 2 * true <= n else "failures"
    number, name = round(true if side == "successes" else n - true, 9), f"{start}{role}{side}"
    leaf = ledger.count(name, int(number), name) if whole else ledger.value(name, number, name, kind="sum")
    return {role + side: leaf}


def _notes(result: Any) -> tuple[str, ...]:
    """Notes about the files; the verdict says why a figure is undefined.

    A note on a figure that is undefined in one of several releases is about that one, or about the mean.
    """
    undefined = {name for release in result.per_release for name, value in release.items() if math.isnan(value)}
    hidden = undefined | {"risk", "intervals"}
    notes = {name: text for name, text in result.notes.items() if name not in hidden}
    tried = [release["n_attacks"] for release in result.per_release if not math.isnan(release["n_attacks"])]
    if len(result.per_release) > 1:
        if none := [str(j) for j, n in enumerate(tried, 1) if not n]:
            which = f"release{'s' * (len(none) > 1)} {', '.join(none)}"
            notes["none"] = f"no attack could be made on {which}; the means are over the others"
        if "n_attacks" in notes and len(set(tried)) > 1:
            numbers = ", ".join(f"{n:,.0f}" for n in tried)
            notes["n_attacks"] = f"attempts on each release: {numbers}; fewer than asked for were found"
    return tuple(dict.fromkeys(notes.values()))


def _groups(result: Any) -> Tree:
    """Subgroups attacked, the riskiest first, without those in which no attack could be made."""
    if not result.by:
        return None
    attacked = [group for group in result.groups if group.figures["n_attacks"] > 0]
    ranked = sorted(attacked, key=lambda group: worst_first(group.figures))
    rows = tuple({"labels": tuple(group.labels), "release": group.release, **finite(group.figures)} for group in ranked)
    return {"by": tuple(result.by), "rows": rows}


def meaning_of(tree: Plain) -> str:
    """Sentence saying what an attack means."""
    exact = tree.get("exact")
    return str(exact["verdict"]) if exact else f"{capital(tree['means'])}."


def rates_table(named: Mapping[str, Plain], caption: str, *, control: bool) -> TableBlock:
    """Table of the rates of attacks, given by name; a row for each release."""
    parts = ["success_rate", "baseline_rate", *(["control_rate", conclusions.RESIDUAL] if control else [])]
    rows: list[tuple[str, ...]] = []
    for name, attack in named.items():
        for j, release in enumerate(attack["releases"], 1):
            number = f", release {j}" if len(attack["releases"]) > 1 else ""
            shares = (percent(release[part]) for part in parts)
            rows.append((name + number, release["n_attacks"]["text"], *shares))
    heads: tuple[str, ...] = ("Attack", "Tries", "Succeed", "By guessing")
    if control:
        heads = (*heads, "Never in it", "Residual risk")
    return TableBlock(caption, heads, tuple(rows), tuple(range(1, len(heads))))


def rate_bars(caption: str, tree: Plain, *, compared: bool) -> ChartBlock:
    """Bar chart of the rates of the first release; a rate with a bound only is an open bar."""
    first = tree["releases"][0]
    shown = ((words, first[name]) for name, words in SHOWN.items() if name != "control_rate" or compared)
    ends = ((words, {**leaf, "below": leaf.get("above", leaf.get("below", 0))}) for words, leaf in shown)
    return common_blocks.bars(caption, "of the attempts", ends, aside=True)


def in_words(sentence: str) -> str:
    """A sentence with its parts of a whole, of which none is the bare word for a figure that is withheld.

    Examples
    --------
    >>> in_words("It finds withheld of the people alone."), in_words("It finds 12 % of the people alone.")
    ('It finds some of the people (how many is withheld) alone.', 'It finds 12 % of the people alone.')
    """
    return _PART_WITHHELD.sub(r"some of \1 (how many is withheld)", sentence).replace("at least withheld", "withheld")


def percent(leaf: Plain) -> str:
    """A share as printed, in per cent: no table has some of its shares in per cent and others in decimals.

    Examples
    --------
    >>> percent({"text": "<0.048", "value": None, "below": 0.048}), percent({"text": "0.19", "value": 0.19})
    ('<4.8 %', '19 %')
    """
    text = str(leaf["text"])
    if "%" in text or (leaf["value"] is None and leaf.get("below") is None):
        return text
    below = "<" if text.startswith("<") else ""
    return f"{below}{100 * float(text.removeprefix('<').replace(',', '')):.3g} %"


def detail_blocks(tree: Plain, name: str) -> list[Block]:
    """Notes of an attack, for a confidential document."""
    return [Paragraph(f"{capital(name)}: {text}", "note") for text in tree.get("exact", {}).get("notes", ())]


def group_blocks(tree: Plain, name: str, columns: Sequence[Column]) -> list[Block]:
    """Table of the subgroups, for a confidential document: at most ten; `columns` are (header, text of a row)."""
    groups = tree.get("exact", {}).get("groups")
    if not groups or not groups["rows"]:
        return []
    by, rows = groups["by"], groups["rows"]
    several = len(tree["releases"]) > 1
    heads = (*(["Release"] if several else []), *(head for head, _ in columns))
    texts = [
        (*row["labels"], *([str(row["release"])] if several else []), *(text(row) for _, text in columns))
        for row in rows[:MOST_GROUPS]
    ]
    return common_blocks.groups_blocks(f"{capital(name)}, by {', '.join(by)}", by, heads, texts, len(rows))


def _group_columns(tree: Plain) -> list[Column]:
    def only_if_better(text: Callable[[Plain], str]) -> Callable[[Plain], str]:
        # an attack no better than guessing says nothing
        return lambda row: text(row) if row["success_rate"] > row["baseline_rate"] else "–"

    columns: list[Column] = [
        ("Tries", lambda row: f"{row['n_attacks']:,.0f}"),
        ("Succeed", lambda row: share_words(row["success_rate"])),
        ("Guessing", lambda row: share_words(row["baseline_rate"])),
    ]
    rows = (tree.get("exact", {}).get("groups") or {"rows": ()})["rows"]
    if all(row["control_rate"] is None for row in rows):
        return [*columns, ("Interval", lambda row: interval_words(row["success_low"], row["success_high"]))]
    return [
        *columns,
        ("Never in it", lambda row: share_words(row["control_rate"])),
        ("Risk", only_if_better(lambda row: share_words(row["risk"]))),
        ("Interval", only_if_better(lambda row: interval_words(row["risk_low"], row["risk_high"]))),
    ]


def share_words(rate: float | None) -> str:
    """An exact share in per cent; a dash for what is undefined."""
    return "–" if rate is None else f"{100 * rate:.1f} %"


def interval_words(low: float | None, high: float | None) -> str:
    """The ends of an interval in whole per cent; a dash for what is undefined."""
    return "–" if low is None or high is None else f"{100 * low:.0f}–{100 * high:.0f}"
