"""The order of a document on a release: the answer, before and after, matching back, learning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sdckit.report.blocks import Block, ChartBlock, Facts, Page, Paragraph, Section, TableBlock, Verdicts
from sdckit.report.layout import STATES, methods_section, protection_words, scenario_section
from sdckit.report.layout_attacks import attack_blocks
from sdckit.report.layout_intruder import intruder_sections
from sdckit.report.layout_recipe import recipe_section
from sdckit.report.layout_utility import utility_blocks
from sdckit.report.sections_release import FIGURES, HEADS
from sdckit.report.sentences import headline, listed, status, verdict_sentence

__all__ = ["before_and_after", "distribution_blocks", "lay_out_release", "measure_table", "release_answer"]

Plain = Mapping[str, Any]
MOST_COLUMNS = 4
MATCHING = ("matching_risk", "identity_disclosure", "record_linkage", "interval_risk", "robust_interval_risk")
LEARNING = ("correct_attribution_probability", "attribute_disclosure", "prediction_risk")


def lay_out_release(plain: Plain) -> Page:
    """Arrange the protected figures of a release; nothing is computed here but words."""
    several = len(plain["intruders"]) > 1
    sections = [release_answer(plain), scenario_section(plain), _files(plain)]
    if "what_was_done" in plain:
        sections.append(recipe_section(plain["what_was_done"]))
    for number, one in enumerate(plain["intruders"]):
        of = f" (intruder “{one['name']}”)" if several else ""
        sections.append(Section(f"Before and after{of}", tuple(before_and_after(plain, number))))
        sections.append(Section(f"Can rows be matched back?{of}", tuple(_matching(one))))
        sections.append(Section(f"What can be learnt?{of}", tuple(_learning(one))))
        if one["skipped"]:
            rows = tuple((row["measure"].replace(":", ", "), row["reason"]) for row in one["skipped"])
            table = TableBlock("Measures that did not run, and why", ("Measure", "Reason"), rows)
            sections.append(Section("Not measured", (table,), 3))
    if plain["utility"] is not None:
        sections.append(Section("What is it still good for?", tuple(utility_blocks(plain["utility"]))))
    if plain.get("attacks") is not None:
        blocks = attack_blocks(plain["attacks"], several=several)
        sections.append(Section("Simulated attacks", tuple(blocks)))
    if len(plain["released"]) == 1:
        for one in plain["released"][0]["intruders"]:
            of = f" by intruder “{one['name']}”" if several else ""
            sections += intruder_sections(one, heading=f"The release by itself{of}")
    sections.append(methods_section(plain))
    version = plain["package"]["version"]
    m = len(plain["released"])
    what = "A release" if m == 1 else f"{m} releases"
    return Page(
        plain["title"],
        f"{what} of {plain['n']['text']} records, assessed on {plain['date']} with sdckit {version}",
        plain["confidential"],
        STATES[plain["passed"]] if plain["verdicts"] else "open",
        headline(plain),
        tuple(sections),
        f"sdckit {version}, {plain['date']}. " + protection_words(plain),
    )


def release_answer(plain: Plain) -> Section:
    """Put the question, the verdict on every limit, and the warnings."""
    who = listed([f"an intruder who knows {listed(one['keys'])}" for one in plain["intruders"]], "and for")
    release = "this release" if len(plain["released"]) == 1 else f"these {len(plain['released'])} releases"
    blocks: list[Block] = [
        Paragraph(f"Can {release} go out? The question is asked for {who}, with the original beside it.")
    ]
    several = len(plain["intruders"]) > 1
    if plain["verdicts"]:
        rows = tuple(
            (
                status(one["holds"]["value"]),
                one["intruder"] if several else "",
                verdict_sentence(one, plain["n"])
                + (f" (release {one['release']})" if one.get("release") else ""),
            )
            for one in plain["verdicts"]
        )
        blocks.append(Verdicts(rows))
    blocks += [
        Paragraph(sentence) for one in plain["intruders"] if (sentence := _in_words(one, several=several))
    ]
    blocks += [Paragraph(f"Warning: {text}", "warning") for text in plain["warnings"]]
    return Section("The question and the answer", tuple(blocks))


def _in_words(one: Plain, *, several: bool) -> str:
    """The main figures of one intruder in a sentence or two."""
    parts = []
    if (tree := one["measures"].get("matching_risk")) is not None:
        share = _over(tree, "mean_match_risk")[0]
        parts.append(
            f"Of the original's records {share} would be expected to be matched back to their own row"
        )
    if (tree := one["measures"].get("identity_disclosure")) is not None:
        parts.append(f"{_over(tree, 'replicated_uniques')[0]} are unique in both files")
    told = f"{', and '.join(parts)}." if parts else ""
    for place, tree in one["measures"].items():
        measure, _, variable = place.partition(":")
        if measure == "correct_attribution_probability":
            told += (
                f" The keys give the right value of {variable} with a chance of {_over(tree, 'average')[0]} from the "
                f"release; guessing from the margin gives {_over(tree, 'baseline')[0]}."
            )
    start = f"Intruder “{one['name']}”: " if several and told else ""
    return start + told


def _files(plain: Plain) -> Section:
    sizes = listed([count["text"] for count in plain["n_released"]])
    together = "row by row" if plain["aligned"] else "not declared"
    items = (
        ("Records of the original", plain["n"]["text"]),
        ("Records of the release" + ("s" if len(plain["released"]) > 1 else ""), sizes),
        ("Rows that belong together", together),
        ("Columns used", str(plain["scenario"]["n_columns"])),
    )
    return Section("Files", (Facts(items),))


Path = Callable[[Plain], Plain | None]


def before_and_after(plain: Plain, number: int) -> list[Block]:
    """The one-file figures of the original beside those of every release."""
    before = plain["original"]["intruders"][number]
    after = [one["intruders"][number] for one in plain["released"]]
    rows = [("Records", plain["n"]["text"], *_texts(list(plain["n_released"])))]
    for words, path in _compared_rows(before):
        leaf = path(before)
        others = [path(one) for one in after]
        if leaf is None:
            continue
        rows.append((words, leaf["text"], *_texts(others)))
    heads = ("Figure", "Original", *_heads(len(after)))
    table = TableBlock("The original and the release", heads, tuple(rows), tuple(range(1, len(heads))))
    chart = _alone_chart(before, after)
    return [table, chart] if chart is not None else [table]


def _compared_rows(before: Plain) -> list[tuple[str, Path]]:
    rows: list[tuple[str, Path]] = [
        ("Alone with their keys", lambda one: one["key_frequencies"]["sample_uniques"]),
        ("Share alone", lambda one: one["key_frequencies"]["sample_unique_rate"]),
    ]
    rows += [(f"In groups of fewer than {k}", _violations(k)) for k in before["k_anonymity"]["violations"]]
    rows += [
        ("Expected re-identifications", lambda one: one["individual_risk"]["expected_reidentifications"]),
        ("Global risk", lambda one: one["individual_risk"]["global_risk"]),
    ]
    if "n_above" in before["individual_risk"]:
        limit = before["individual_risk"]["threshold"]
        rows.append((f"With a risk above {limit:g}", lambda one: one["individual_risk"].get("n_above")))
    for variable, tree in (before.get("l_diversity") or {}).items():
        for level in tree["violations"].get("distinct", {}):
            rows.append(
                (f"In groups of fewer than {level} values of {variable}", _diversity(variable, level))
            )
    return rows


def _violations(k: str) -> Path:
    return lambda one: one["k_anonymity"]["violations"].get(k)


def _diversity(variable: str, level: str) -> Path:
    return lambda one: (
        ((one.get("l_diversity") or {}).get(variable) or {})
        .get("violations", {})
        .get("distinct", {})
        .get(level)
    )


def _alone_chart(before: Plain, after: Sequence[Plain]) -> Block | None:
    if len(after) > MOST_COLUMNS:
        return None
    path = _violations("3") if "3" in before["k_anonymity"]["violations"] else None
    if path is None:
        return None
    labels = ["Original", *_heads(len(after))]
    leaves = [path(one) for one in (before, *after)]
    rows = [
        {"label": label, "n": leaf} for label, leaf in zip(labels, leaves, strict=True) if leaf is not None
    ]
    data = {"rows": rows, "unit": "records"}
    return ChartBlock("bars", data, "Records in groups of fewer than 3 with the same keys, before and after")


def _heads(m: int) -> tuple[str, ...]:
    if m == 1:
        return ("Release",)
    if m <= MOST_COLUMNS:
        return tuple(f"Release {j}" for j in range(1, m + 1))
    return (f"Mean of {m} releases", "Smallest", "Largest")


def _texts(leaves: Sequence[Plain | None]) -> tuple[str, ...]:
    """Each release, or where there are many their mean and spread, from what is printed."""
    if len(leaves) <= MOST_COLUMNS:
        return tuple("–" if leaf is None else leaf["text"] for leaf in leaves)
    known = [leaf for leaf in leaves if leaf is not None and (leaf["value"] is not None or "below" in leaf)]
    if not known:
        return ("–", "–", "–")
    ordered = sorted(known, key=_middle)
    return (_mean_text(known), ordered[0]["text"], ordered[-1]["text"])


def _middle(leaf: Plain) -> float:
    return float(leaf["value"] if leaf["value"] is not None else leaf["below"] / 2)


def _mean_text(leaves: Sequence[Plain]) -> str:
    mean = sum(map(_middle, leaves)) / len(leaves)
    if any("%" in leaf["text"] for leaf in leaves):
        return f"{100 * mean:.2g} %"
    return f"{mean:,.0f}" if mean >= 10 else f"{mean:.2g}"


def _over(tree: Plain, figure: str) -> tuple[str, ...]:
    """One text where there is one release; the mean over several."""
    leaves = [release.get(figure) for release in tree["releases"]]
    if len(leaves) == 1:
        return _texts(leaves)
    known = [leaf for leaf in leaves if leaf is not None and (leaf["value"] is not None or "below" in leaf)]
    return (_mean_text(known),) if known else ("an unknown share",)


def measure_table(place: str, tree: Plain) -> TableBlock:
    """The figures of one measure of two files, by release."""
    measure, _, variable = place.partition(":")
    rows = []
    for figure in FIGURES[measure]:
        leaves = [release.get(figure.name) for release in tree["releases"]]
        if all(leaf is None for leaf in leaves):
            continue
        rows.append((figure.words, *_texts(leaves)))
    heads = ("Share of the records", *_heads(len(tree["releases"])))
    caption = HEADS[measure].format(variable)
    return TableBlock(caption, heads, tuple(rows), tuple(range(1, len(heads))))


def _matching(one: Plain) -> list[Block]:
    blocks: list[Block] = [
        measure_table(place, one["measures"][place]) for place in MATCHING if place in one["measures"]
    ]
    return blocks or [Paragraph("Not measured: see below.")]


def _learning(one: Plain) -> list[Block]:
    blocks: list[Block] = []
    for measure in LEARNING:
        for place, tree in one["measures"].items():
            if place.partition(":")[0] == measure:
                blocks.append(measure_table(place, tree))
                blocks += distribution_blocks(place, tree)
    return blocks or [Paragraph("Not measured: see below.")]


def distribution_blocks(place: str, tree: Plain) -> list[Block]:
    """How surely the target is guessed, record by record in bins: from the original itself, from the release."""
    if "distribution" not in tree:
        return []
    words = {"original": "original", "released": "release"}
    rows = [
        {"label": f"{_bin(row)}, {words[side]}", "n": row[side]}
        for row in tree["distribution"]
        for side in words
    ]
    variable = place.partition(":")[2]
    caption = f"Records by the chance that their {variable} is guessed rightly, before and after"
    if tree.get("numeric"):
        caption = (
            f"Records by the error of a prediction of {variable}, in standard deviations, before and after"
        )
    return [ChartBlock("bars", {"rows": rows, "unit": "records"}, caption)]


def _bin(row: Plain) -> str:
    return f"{row['from']:g} or more" if row["to"] is None else f"{row['from']:g} to {row['to']:g}"
