"""Chapter on simulated attacks: enter their figures, draw conclusions from the printed ones, lay them out."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from sdckit import __version__
from sdckit.attacks.attack_rates import EVERY, OVERLAP
from sdckit.report import conclusions, setting
from sdckit.report.blocks import Block, Facts, Paragraph, TableBlock
from sdckit.report.chapters.sentences import columns_words, spaced
from sdckit.report.gate.figures import Count, Document, Foreign, InternalOnly, Ledger, Tree
from sdckit.report.gate.protect import protect
from sdckit.report.rates import AttackView, attack_name, meaning_of, percent, rates_table
from sdckit.report.view import Plain, find_view, view_of
from sdckit.result import SCHEMA_VERSION

ATTACKS_SCHEMA = "sdckit/attacks"
PREFIX = "attack"
APART = ("distances", f"distances_{EVERY}")  # trees that are not among the other attacks
ABOUT = (
    "Simulated intruders attack the people in the file with the release in hand, and people who were never in it in "
    "the same way. What succeeds on the first and fails on the others is the release's doing; what guessing achieves "
    "needs no release."
)
ALONE = (
    "Simulated intruders attack the people in the file with the release in hand. Without a control file of people "
    "never in it, what holds for anybody cannot be told from what the release discloses."
)
ABOUT_RESIDUAL = (
    "Residual risk: of the attempts that fail on people never in the file, the share that succeeds on people in it, "
    "with its interval of 95 % in brackets; “–” where the attack is no better than guessing."
)
ROUNDED = " It is worked out from the rounded figures beside it; “<” gives its upper end where a count is hidden."
REASONS = {
    "too few": " “Too few”: fewer than 10 attempts.",
    "not shown": " “Not shown”: queries depend on each other, and their interval would tell a hidden count.",
}
NOT_TRIED = "No trial attack was made: it takes people of the same kind who were never in the file (a control file)."
SEEDS = {True: "given, and kept by the analyst: it may be that of the protection, too", False: "none was given"}


def attacks_tree(assessment: Any, ledger: Ledger) -> Tree:
    """Tree of the attacks' figures per release; None if no attack was run. `conclude` adds what they mean."""
    if not assessment.attacks and not assessment.attacks_skipped:
        return None
    return _attack_parts(
        assessment.attacks, assessment.attacks_skipped, ledger, [release.n for release in assessment.released],
        control=assessment.control, asked=assessment.attacks_asked,
    )  # fmt: skip


def plain_attacks(
    attacks: Mapping[str, Any], *, n: int, sizes: Sequence[int], control: bool, skipped: Sequence[tuple[str, str]] = (),
    asked: Any = None, internal: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Protected, JSON-ready figures of attacks that were run without an assessment.

    `attacks` maps the names that `assess` uses to results, `sizes` are the numbers of records of the releases,
    `skipped` has name and reason of attacks not run; `asked`, the settings, is null in the document unless given.
    """
    ledger = Ledger()
    tree: dict[str, Tree] = {
        "schema": ATTACKS_SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "package": {"name": "sdckit", "version": __version__},
        "date": date.today().isoformat(),
        "n": ledger.count("n", n, "n"),
        "n_released": setting.release_sizes(ledger, sizes),
    }
    tree |= _attack_parts(attacks, skipped, ledger, sizes, control=control, asked=asked)
    return conclude(protect(Document(tree, ledger.variables, tuple(ledger.relations), n), internal=internal))


def _attack_parts(
    attacks: Mapping[str, Any], skipped: Sequence[tuple[str, str]], ledger: Ledger, sizes: Sequence[int], *,
    control: bool, asked: Any = None,
) -> dict[str, Tree]:  # fmt: skip
    trees: dict[str, Tree] = {}
    apart: dict[str, Tree] = dict.fromkeys(APART)
    for place, result in attacks.items():
        view = view_of(place)
        tree = view.tree(result, setting.PairSetting(ledger, PREFIX, place, sizes))
        if isinstance(view, AttackView) and view.apart:
            again = place.partition(":")[2] == EVERY
            apart[view.apart + (f"_{EVERY}" if again else "")] = {"place": place, **tree}
        else:
            trees[place] = tree
    return {
        "control": control,
        "attacks": trees,
        **apart,
        "skipped": tuple({"measure": name, "reason": Foreign(reason)} for name, reason in skipped),
        "asked": None if asked is None else _attack_settings(asked, attacks, ledger),
    }


def _attack_settings(asked: Any, attacks: Mapping[str, Any], ledger: Ledger) -> dict[str, Tree]:
    """The settings, chosen by the analyst. The seed is internal only: it is often that of the protection, too."""
    size = f"{PREFIX}.n_control"
    tolerances = {place: getattr(attack, "tolerance", None) for place, attack in attacks.items()}
    return {
        "columns": tuple(asked.columns),
        "n_columns": asked.n_columns,
        "every_column": tuple(asked.every_column),
        "n_going_out": asked.n_going_out,
        "n_control": Count(size) if size in ledger.variables else None,
        "n_attacks": asked.n_attacks,
        "n_drawn": asked.n_drawn,
        "seeded": asked.seed is not None,
        "seed": InternalOnly(asked.seed),
        "columns_at_once": asked.columns_at_once,
        "halves": {name: tuple(tuple(half) for half in both) for name, both in asked.halves.items()},
        "tolerance": {place: words for place, words in tolerances.items() if words is not None},
    }


def conclude(tree: Plain) -> dict[str, Any]:
    """Add ``means`` and the residual risk to every attack, computed from printed figures only."""
    attacks = {place: _concluded(place, attack) for place, attack in tree["attacks"].items()}
    near = {name: tree[name] and _concluded(tree[name]["place"], tree[name]) for name in APART}
    return {**tree, "attacks": attacks, **near}


def _concluded(place: str, tree: Plain) -> Plain:
    view = view_of(place)
    return view.conclude(tree) if isinstance(view, AttackView) else tree


def tried_words(tree: Plain | None) -> str:
    """What was tried and what came of it, for readers without statistics; from printed figures only."""
    if tree is None:
        return NOT_TRIED
    made = {place: attack for place, attack in tree["attacks"].items() if conclusions.RESIDUAL in attack}
    if not made:
        return "No trial attack could be made."
    asked = tree["asked"]
    columns = columns_words(len(asked["columns"]), len(asked["every_column"]), asked["n_going_out"])
    start = f"Trial attacks were made {columns}."
    if not tree["control"]:
        return f"{start} Without people kept aside what succeeds may succeed on anybody."
    if any(attack.get("control_state") == "overlapping" for attack in made.values()):
        return f"{start} They are not to be trusted: {OVERLAP}."
    worse = {place: attack for place, attack in made.items() if conclusions.MORE in attack["means"]}
    told = [view_of(place).answer(made, place, {}) for place in sorted(made, key=lambda place: _told_by(made[place]))]
    beside = spaced(next(filter(None, told), ""))
    if not worse:
        return f"{start} None tells more about the people in the file than about others.{beside}"
    place, attack = max(worse.items(), key=lambda entry: _residual_of(entry[1]))
    release = max(attack["releases"], key=_residual_of)
    inside, outside = (percent(release[rate]).partition(" (")[0] for rate in ("success_rate", "control_rate"))
    return (
        f"{start} {len(worse):,} of {len(made):,} tell more about the people in the file than about others. Most: "
        f"{attack_name(place)}. It succeeds in {inside} of the tries on people in the file, in {outside} on others."
        f"{beside}"
    )


def _told_by(tree: Plain) -> float:
    """Sorts attacks by how many members they tell, the most first."""
    leaf = tree.get("tpr_multiple", {})
    return -float(leaf.get("value") or leaf.get("below") or 0.0)


def _residual_of(tree: Plain) -> float:
    return float(tree[conclusions.RESIDUAL].get("value") or 0.0)


def attack_blocks(tree: Plain, *, several: bool) -> list[Block]:
    """Blocks of the attacks, from printed figures only; `several`: whether there are several intruders."""
    blocks: list[Block] = [Paragraph(ABOUT if tree["control"] else ALONE)]
    if tree.get("asked") is not None:
        blocks.append(Facts(tuple(_setting_rows(tree, several=several))))
    rated = {place: attack for place, attack in tree["attacks"].items() if "means" in attack}
    names = {place: attack_name(place, several=several) for place in tree["attacks"]}
    if rated:
        exact = any("exact" in attack for attack in rated.values())
        named = {names[place]: attack for place, attack in rated.items()}
        table = rates_table(named, "Attacks that succeed", control=tree["control"])
        blocks.append(table)
        if tree["control"]:
            texts = {text for row in table.rows for text in row}
            reasons = "".join(words for what, words in REASONS.items() if any(what in text for text in texts))
            blocks.append(Paragraph(ABOUT_RESIDUAL + ("" if exact else ROUNDED + reasons)))
        rows = tuple((name, meaning_of(attack)) for name, attack in named.items())
        several_releases = max(len(attack["releases"]) for attack in rated.values()) > 1
        of = "" if not several_releases else ", means over the releases" if exact else ", of the worst release"
        blocks.append(TableBlock("What the attacks mean", ("Attack", f"Meaning{of}"), rows))
    for place, attack in tree["attacks"].items():
        view = view_of(place)
        if isinstance(view, AttackView):
            blocks += view.details(attack, names[place])
        else:
            blocks += view.blocks(tree["attacks"], place)
    for near in (tree[name] for name in APART if tree[name] is not None):
        blocks += view_of(near["place"]).blocks({near["place"]: near}, near["place"])
    if tree["skipped"]:
        rows = tuple((attack_name(row["measure"], several=several), row["reason"]) for row in tree["skipped"])
        blocks.append(TableBlock("Attacks not made, and why", ("Attack", "Reason"), rows))
    return blocks


def _setting_rows(tree: Plain, *, several: bool) -> list[tuple[str, str]]:
    """Rows of the settings: columns attacked, number of attempts, seed, tolerances."""
    asked = tree["asked"]
    columns, n_columns = asked["columns"], asked["n_columns"]
    which = f"{len(columns)}" if n_columns is None else f"{len(columns)} of {n_columns}"
    rows = [
        ("Columns attacked", f"{which}: {', '.join(columns)}"),
        ("Attempts asked for", f"{asked['n_attacks']:,} of each attack"),
        ("Seed", SEEDS[asked["seeded"]] if asked.get("seed") is None else str(asked["seed"])),
    ]
    if asked.get("n_drawn") is not None:
        rows.insert(2, ("People drawn by their id", f"{asked['n_drawn']:,}"))
    if every := asked["every_column"]:
        rows.insert(1, ("Again, with all that goes out", f"{len(every)} of {asked['n_going_out']}: {', '.join(every)}"))
    if asked["n_control"] is not None:
        rows.insert(1, ("People never in the file", f"{asked['n_control']['text']} records"))
    for place in [*tree["attacks"], *(row["measure"] for row in tree["skipped"])]:
        view = find_view(place)
        words = view.options_words(asked, place.partition(":")[2]) if isinstance(view, AttackView) else ""
        if words:
            rows.append((attack_name(place, several=several), words))
    rows += [(attack_name(place, several=several), words) for place, words in asked["tolerance"].items()]
    return rows
