"""Simulated attacks in a document: what their printed figures mean, rates side by side, what was not done.

Only printed figures come here, so nothing that is said can tell more than they do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.attacks.attack_rates import WIDE
from sdckit.numerics.intervals import excess, wilson
from sdckit.report.blocks import Block, Facts, Paragraph, TableBlock
from sdckit.report.protect import Seen, percentage, rate_leaf, seen

__all__ = ["NOTHING", "attack_blocks", "attack_name", "conclude", "percent"]

Plain = Mapping[str, Any]
NAMES = {
    "singling_out": "Singling out",
    "linkability": "Linking two pieces of knowledge",
    "probabilistic_linkage": "Linking records despite slips",
    "inference": "Inferring",
    "membership": "Telling who is in the file",
    "distance_to_closest_record": "Distances",
}
MODES = {"univariate": "by one column", "multivariate": "by several columns"}
NEAR = {
    "copies": "released records equal to an original",
    "copies_of_control": "released records equal to a record never in the file",
    "hitting_rate": "originals hit by a released record",
    "hitting_rate_control": "records never in the file hit by a released record",
    "identifiability": "originals nearer to a released record than to another original",
    "share_closer_to_original": "released records nearest to an original",
    "expected_share": "released records nearest to an original, if it made no difference who was in the file",
    "chance_high": "released records nearest to an original, at most by chance",
}
ABOUT = (
    "Simulated intruders attack the people in the file with the release in hand, and people who were never in it in "
    "the same way. What succeeds on the first and fails on the others is the release's doing; what guessing achieves "
    "needs no release."
)
ALONE = (
    "Simulated intruders attack the people in the file with the release in hand. Without a control file of people "
    "never in it, what holds for anybody cannot be told from what the release gives away."
)
RESIDUAL = (
    "Residual risk: of the attempts that fail on people never in the file, the share that succeeds on people in it, "
    "with its interval of 95 % in brackets; “–” where the attack is no better than guessing."
)
ROUNDED = (
    " It is worked out from the rounded figures beside it; “<” gives its upper end where a count is hidden."
)
REASONS = {
    "too few": " “Too few”: fewer than 10 attempts.",
    "not shown": " “Not shown”: queries depend on each other, and their interval would tell a hidden count.",
}
SEEDS = {
    True: "given, and kept by the analyst: it may be that of the protection, too",
    False: "none was given",
}
NOTHING: Plain = {"text": "–", "value": None}
TOO_FEW: Plain = {"text": "too few", "value": None}
UNDEFINED: Plain = {"text": "undefined", "value": None}
GUESSING = "no better than guessing, which says nothing about the release"
MORE = "the release gives away more about the people in it than about others"
NO_SIGN = "no sign that being in the file makes a difference, which does not prove that there is none"
OPEN = "how much of it holds for anybody is open without a control file"
DOUBT = "as good as guessing, as far as rounded figures tell"
RIGHT = "released records are linked to the right people more often than by guessing"
FEW = "too few successes to tell them from guessing"


def attack_blocks(tree: Plain, *, several: bool) -> list[Block]:
    """Lay out the attacks; nothing is computed here. `several` says that there are several intruders."""
    blocks: list[Block] = [Paragraph(ABOUT if tree["control"] else ALONE)]
    if tree.get("asked") is not None:
        blocks.append(Facts(tuple(_asked(tree["asked"], several=several))))
    if tree["attacks"]:
        exact = any("exact" in one for one in tree["attacks"].values())
        table = _rates(tree, several=several)
        blocks.append(table)
        if tree["control"]:
            texts = {text for row in table.rows for text in row}
            told = "".join(words for what, words in REASONS.items() if any(what in text for text in texts))
            blocks.append(Paragraph(RESIDUAL + ("" if exact else ROUNDED + told)))
        rows = tuple(
            (attack_name(place, several=several), _means(one)) for place, one in tree["attacks"].items()
        )
        several_releases = max(len(one["releases"]) for one in tree["attacks"].values()) > 1
        of = (
            "" if not several_releases else ", means over the releases" if exact else ", of the worst release"
        )
        blocks.append(TableBlock("What the attacks mean", ("Attack", f"Meaning{of}"), rows))
    if tree["distances"] is not None:
        blocks += _distances(tree["distances"])
    if tree["skipped"]:
        rows = tuple((attack_name(row["measure"], several=several), row["reason"]) for row in tree["skipped"])
        blocks.append(TableBlock("Attacks not made, and why", ("Attack", "Reason"), rows))
    return blocks


def attack_name(place: str, *, several: bool = False) -> str:
    """The name of an attack in words.

    Examples
    --------
    >>> attack_name("inference:default:income"), attack_name("linkability:neighbour", several=True)
    ('Inferring income', 'Linking two pieces of knowledge (neighbour)')
    """
    kind, _, rest = place.partition(":")
    if kind == "singling_out":
        return f"{NAMES[kind]} {MODES[rest]}"
    intruder, _, variable = rest.partition(":")
    told = f"{NAMES[kind]} {variable}".strip()
    return f"{told} ({intruder})" if several and intruder else told


def _asked(asked: Plain, *, several: bool) -> list[tuple[str, str]]:
    """What was attacked, and how: all of it the analyst's own choice."""
    columns, n_columns = asked["columns"], asked["n_columns"]
    which = f"{len(columns)}" if n_columns is None else f"{len(columns)} of {n_columns}"
    rows = [
        ("Columns attacked", f"{which}, those of the scenario: {', '.join(columns)}"),
        ("Attempts asked for", f"{asked['n_attacks']:,} of each attack"),
        ("Seed", SEEDS[asked["seeded"]] if asked.get("seed") is None else str(asked["seed"])),
    ]
    if asked["n_control"] is not None:
        rows.insert(1, ("People never in the file", f"{asked['n_control']['text']} records"))
    if (k := asked["columns_at_once"]) is not None:
        rows.append((attack_name("singling_out:multivariate"), f"queries of {k} columns"))
    for intruder, halves in asked["halves"].items():
        name = attack_name(f"linkability:{intruder}", several=several)
        rows.append((name, " | ".join(", ".join(half) for half in halves)))
    rows += [(attack_name(place, several=several), words) for place, words in asked["tolerance"].items()]
    return rows


def _rates(tree: Plain, *, several: bool) -> TableBlock:
    parts = ["success_rate", "baseline_rate", *(["control_rate", "residual_risk"] if tree["control"] else [])]
    rows: list[tuple[str, ...]] = []
    for place, one in tree["attacks"].items():
        for j, release in enumerate(one["releases"], 1):
            number = f", release {j}" if len(one["releases"]) > 1 else ""
            shares = (percent(release[name]) for name in parts)
            rows.append((attack_name(place, several=several) + number, release["n_attacks"]["text"], *shares))
    heads: tuple[str, ...] = ("Attack", "Tries", "Succeed", "By guessing")
    if tree["control"]:
        heads = (*heads, "Never in it", "Residual risk")
    return TableBlock("Attacks that succeed", heads, tuple(rows), tuple(range(1, len(heads))))


def _means(one: Plain) -> str:
    exact = one.get("exact")
    return str(exact["verdict"]) if exact else f"{one['means'][:1].upper()}{one['means'][1:]}."


def _distances(tree: Plain) -> list[Block]:
    releases = tree["releases"]
    rows = tuple(
        (words, *(percent(release[name]) for release in releases))
        for name, words in NEAR.items()
        if name in releases[0]
    )
    heads = (
        "Share",
        *(["Release"] if len(releases) == 1 else [f"Release {j}" for j in range(1, len(releases) + 1)]),
    )
    table = TableBlock("Records near to the other file", heads, rows, tuple(range(1, len(heads))))
    return [table, Paragraph(_means(tree))]


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


def conclude(tree: Plain) -> dict[str, Any]:
    """Say what the attacks mean, from printed figures alone.

    Parameters
    ----------
    tree
        The attacks as they are printed; those of a confidential document hold exact figures, too.

    Returns
    -------
    dict
        The same, with ``means`` and ``residual_risk`` of every attack: those of the worst release.
    """
    attacks = {}
    for place, one in tree["attacks"].items():
        linked = place.startswith("probabilistic_linkage")
        judged = [
            _judged_linkage(release) if linked else _judged(place, release) for release in one["releases"]
        ]
        _, means, worst = max(judged, key=lambda found: (found[0], _size(found[2]["residual_risk"])))
        releases = [release for _, _, release in judged]
        attacks[place] = {
            **one,
            "releases": releases,
            "means": means,
            "residual_risk": worst["residual_risk"],
        }
    near = tree["distances"]
    if near is not None:
        near = {**near, "means": _near_words(near["releases"], control=tree["control"])}
    return {**tree, "attacks": attacks, "distances": near}


Judged = tuple[
    int, str, dict[str, Any]
]  # the worse, the higher; what it means; the release with its residual risk


def _size(leaf: Plain) -> float:
    return float(leaf.get("high") or leaf.get("below") or leaf["value"] or 0.0)


def _judged(place: str, release: Plain) -> Judged:
    """One attack on one release."""
    rates: dict[str, Any] = dict.fromkeys(("success_rate", "baseline_rate", "control_rate"), UNDEFINED)
    shown = {**rates, **release, "residual_risk": UNDEFINED}
    ends = shown.pop("ends", None)
    if "exact" in release:
        return _judged_exactly(shown)
    n, n_control = (_number(release.get(name)) for name in ("n_attacks", "n_control"))
    attack, guess, control = (
        seen(release, *of) for of in (("", n), ("baseline_", n), ("control_", n_control))
    )
    if attack is None:
        if "successes" in release or "failures" in release:
            return 2, "the number of successes is withheld", shown
        if release["n_attacks"]["text"] == "0":
            return 0, "no attack could be made", shown
        return 0, "too few attempts to say anything", shown | dict.fromkeys(rates, TOO_FEW)
    if guess is not None:
        shown["baseline_rate"] = rate_leaf(guess, n)
    elif place == "membership" and control is not None:
        # As many are drawn from either file, and guessing calls as many of each: better is who calls more members.
        called = (attack.middle + control.middle) / 2
        shown["baseline_rate"], guess = rate_leaf(Seen(called, called, called), n), control
    else:
        chance = n * (shown["baseline_rate"]["value"] or 0.0)
        guess = Seen(chance, chance, chance)
    shown["success_rate"] = rate_leaf(attack, n)
    if control is not None:
        shown["control_rate"] = rate_leaf(control, n_control)
    elif n_control:
        shown["control_rate"] = TOO_FEW
    if attack.high <= guess.low:
        return 1, GUESSING, shown | {"residual_risk": NOTHING}
    told = _told(attack, n, control, n_control, better=attack.low >= guess.high and not attack.few, ends=ends)
    return told[0], told[1], shown | told[2]


def _number(leaf: Plain | None) -> float:
    return float(leaf["value"] or 0.0) if leaf is not None else 0.0


def _told(
    attack: Seen,
    n: float,
    control: Seen | None,
    n_control: float,
    *,
    better: bool,
    ends: Sequence[float] | None,
) -> Judged:
    """What an attack means that may be better than guessing."""
    if control is None:
        why = "the control file is too small to compare with" if n_control else OPEN
        return 3, f"{'better than guessing' if better else FEW if attack.few else DOUBT}; {why}", {}
    leaf = _residual(attack, n, control, n_control, ends)
    found = {"residual_risk": leaf}
    if attack.few:
        return 2, FEW, found
    wide = wilson(control.middle, n_control).half > WIDE
    few = "the control file is too small" if n_control < n else "the attacks are too few"
    caution = f"; {few} for a narrower answer" if wide else ""
    start = "" if better else f"{DOUBT}; "
    more = leaf.get("low", 0.0) > 0
    return (4 if more else 2), start + (MORE if more else NO_SIGN) + caution, found


def _residual(
    attack: Seen, n: float, control: Seen, n_control: float, ends: Sequence[float] | None
) -> dict[str, Any]:
    """The residual risk as printed counts give it; of hidden successes what they give at most.

    `ends` are those of queries that depend on each other: they are another figure, and shown where no count is small.
    """
    if attack.few:
        if ends is not None:
            return {"text": "not shown", "value": None}
        most = min(excess(attack.high, n, control.low, n_control)[2], 1.0)
        return {"text": f"<{percentage(most)} %", "value": None, "below": round(most, 6)}
    found = excess(attack.middle, n, control.middle, n_control)
    value, low, high = (min(max(one, 0.0), 1.0) for one in found)
    if ends is not None:
        if attack.many or control.few or control.many:
            return {"text": f"{percentage(value)} % (not shown)", "value": round(value, 6)}
        low, high = min(ends[0], value), max(ends[1], value)
    return _with_ends(value, low, high)


def _with_ends(value: float, low: float, high: float, *, exact: bool = False) -> dict[str, Any]:
    texts = [f"{100 * one:.1f}" if exact else percentage(one) for one in (value, low, high)]
    ends = {"value": value, "low": low, "high": high}
    return {"text": f"{texts[0]} % ({texts[1]}–{texts[2]})"} | {k: round(v, 6) for k, v in ends.items()}


def _judged_exactly(shown: dict[str, Any]) -> Judged:
    """The same with all figures, and intervals: for a confidential document."""
    exact = shown["exact"]
    for name in ("success", "control"):
        if exact[f"{name}_rate"] is not None:
            ends = (exact[f"{name}{end}"] for end in ("_rate", "_low", "_high"))
            shown[f"{name}_rate"] = _with_ends(*ends, exact=True)
    if exact["success_rate"] is None:
        return 0, "no attack could be made", shown
    guessed = exact["baseline_rate"]
    shown["baseline_rate"] = {"text": f"{100 * guessed:.3g} %", "value": guessed}
    if exact["success_rate"] <= guessed:
        return 1, GUESSING, shown | {"residual_risk": NOTHING}
    if exact["control_rate"] is None:
        return 3, f"better than guessing; {OPEN}", shown
    leaf = _with_ends(exact["risk"], exact["risk_low"], exact["risk_high"], exact=True)
    return (
        (4, MORE, shown | {"residual_risk": leaf})
        if leaf["low"] > 0
        else (2, NO_SIGN, shown | {"residual_risk": leaf})
    )


def _judged_linkage(release: Plain) -> Judged:
    """Linkage by agreement weights: everybody is attacked, and there is nobody to compare with."""
    compared = {"text": "not compared", "value": None}
    shown = {"success_rate": UNDEFINED, **release, "control_rate": compared, "residual_risk": compared}
    n = _number(release["n_attacks"])
    links = seen(release, "", n)
    if links is None:
        withheld = "successes" in release or "failures" in release
        return 0, "the number of links is withheld" if withheld else "no attack could be made", shown
    shown["success_rate"] = rate_leaf(links, n)
    better = wilson(links.middle, n).low > (release["baseline_rate"]["value"] or 0.0)
    if (exact := release.get("exact")) is not None:
        shown["success_rate"] = _with_ends(exact["rate"], exact["rate_low"], exact["rate_high"], exact=True)
        better = exact["rate_low"] > exact["baseline"]
    elif links.few:
        return 2, FEW, shown
    return (4, RIGHT, shown) if better else (1, GUESSING, shown)


def _near_words(releases: Sequence[Plain], *, control: bool) -> str:
    """What the distances mean, of the worst release."""
    if not control:
        return "without a control file no distance tells copying from resemblance"
    for release in releases:
        share, chance = release["share_closer_to_original"]["value"], release["chance_high"]["value"]
        if share is not None and chance is not None and share > chance:
            return "released records are nearer to the people in the file than chance allows"
    return "no sign that the release as a whole is nearer to the people in it; single records may be copied"
