"""View of the matching risk: released rows matched to the records they were made from."""

from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.identity.matching.matching_risk import RISK_STEPS
from sdckit.report import common_blocks, view
from sdckit.report.blocks import Block, ChartBlock, Paragraph, TableBlock
from sdckit.report.gate.figures import Tree
from sdckit.report.setting import PairSetting
from sdckit.report.shares import MATCHING, Figure, over, release_bars, share_view
from sdckit.result import LetGo

STEPS = ("0: no match, or wrong ones", "up to 0.1", "0.1 to 0.2", "0.2 to 0.5", "1: one match, the right one")
CERTAIN = 0.5  # a match risk above it is 1: a single match, and the right one
OTHERWISE = (
    "Nothing says whether these are matched as numbers, within their intervals, or as categories, exactly: both "
    "readings are given, and the higher risk counts against a limit."
)
ROLES = {"known": "left as it was", "synthetic": "changed"}


def more(result: Any, setting: PairSetting) -> Mapping[str, Tree]:
    """Enter how each variable was matched, the records at high risk on average, and the distribution of risks.

    Empty for a result of plain figures, which holds none of these.
    """
    ledger, limit = setting.ledger, getattr(result, "high_risk_limit", None)
    if limit is None:
        return {}
    start = f"{setting.prefix}.{setting.place}."
    for j in range(1, result.m + 1):
        high, true, expected = (f"{start}{j}.{name}" for name in ("n_high_risk", "true_match_rate", "mean_match_risk"))
        if limit >= CERTAIN:
            ledger.equal(high, true)
        else:
            ledger.nested(high, true)
        ledger.bounded(expected, {true: (1.0, 0.0)}, upper=False)
    figures: dict[str, Tree] = {
        "variables": tuple(variable.stated for variable in result.variables),
        "high_risk_limit": limit,
    }
    if result.read_otherwise:
        figures["otherwise"] = tuple(variable.stated for variable in result.read_otherwise)
    if result.m > 1:
        name = f"{start}high_risk_of_mean"
        figures["n_high_risk_of_mean"] = ledger.count(name, result.n_high_risk_of_mean, start)
        ledger.nested("n", name)
    if result.n == setting.n and not isinstance(result.matched, LetGo):
        figures["distribution"] = _distribution(result, setting, start)
    return figures


def _distribution(result: Any, setting: PairSetting, start: str) -> tuple[Tree, ...]:
    """Enter the targets of the first release by match risk, beside those of an earlier release if there is one.

    Their sum is the expected number within the steps; those above the last step are the single right matches.
    """
    ledger, sides = setting.ledger, {"released": result}
    if result.before is not None:
        sides["before"] = result.before
    rows: list[dict[str, Tree]] = [{"risk": words} for words in STEPS]
    for side, matching in sides.items():
        names = []
        for number, (row, count) in enumerate(zip(rows, matching.risk_counts(), strict=True)):
            leaf = ledger.count(f"{start}risk.{side}.{number}", count, f"{start}risk.{side}")
            names.append(leaf.name)
            row[side] = leaf
        ledger.equal("n", *names)
        if side == "released":
            spans = dict(zip(names, zip((0.0, *RISK_STEPS), RISK_STEPS, strict=False), strict=True))
            ledger.bounded(f"{start}1.mean_match_risk", spans)
            ledger.equal(f"{start}1.true_match_rate", names[-1])
    return tuple(rows)


def draw(tree: view.Plain, _: str) -> ChartBlock:
    """Chart of the distribution, or of the shares where there is none."""
    if "distribution" not in tree:
        return release_bars(HEAD, SHARES, tree)
    words = {"before": "before", "released": "after" if "before" in tree["distribution"][0] else ""}
    rows = [
        (", ".join(filter(None, (row["risk"], when))), row[side])
        for row in tree["distribution"] for side, when in words.items() if side in row
    ]  # fmt: skip
    of = "" if len(tree["releases"]) == 1 else " in the first release"
    return common_blocks.bars(f"Records by their match risk{of}", "records", rows)


def also(tree: view.Plain) -> list[Block]:
    """Table of how each variable was matched, and the limit above which a risk is high."""
    if "variables" not in tree:
        return []
    table = _matched("How each variable was matched", tree["variables"])
    limit = f"High risk: a match risk above {tree['high_risk_limit']:g}"
    mean = tree.get("n_high_risk_of_mean")
    of_mean = f", in each release by itself; the mean over the releases is above it for {mean['text']}" if mean else ""
    blocks: list[Block] = [table, Paragraph(f"{limit}{of_mean}.", "note")]
    if others := tree.get("otherwise"):
        blocks += [Paragraph(OTHERWISE, "note"), _matched("Variables that can be read otherwise", others)]
    return blocks


def _matched(caption: str, variables: Sequence[view.Plain]) -> TableBlock:
    """Table of how variables are matched."""
    names = ("kind", "role", "matched")
    rows = tuple(
        (variable["name"], *(ROLES.get(variable[name], variable[name]) for name in names)) for variable in variables
    )
    return TableBlock(caption, ("Variable", "Taken for", "In the release", "Matched"), rows)


def answer(tree: view.Plain, _: str) -> str:
    """Sentence for the first page."""
    share, chance = over(tree, "mean_match_risk"), over(tree, "baseline")
    expected = "would be expected to be matched back to their own row"
    if "otherwise" in tree:
        other = over(tree, "mean_match_risk_otherwise")
        return f"Of the original's records {share} ({chance} by chance; {other} read otherwise) {expected}."
    return f"Of the original's records {share} ({chance} by chance) {expected}."


HEAD = "Rows matched back by their keys"
SHARES = (
    Figure("mean_match_risk", "records expected to be matched back", whole=False),
    Figure("expected_match_risk", "the same (number)", base="", sum_of="mean_match_risk"),
    Figure("mean_match_risk_otherwise", "records expected to be matched back, read otherwise", whole=False),
    Figure("expected_match_risk_otherwise", "read otherwise (number)", base="", sum_of="mean_match_risk_otherwise"),
    Figure("baseline", "records expected to be matched back by chance", whole=False),
    Figure("unique_matches", "records with a single match (number)", base=""),
    Figure("true_match_rate", "records whose single match is the right one", inside="unique_matches"),
    Figure("false_match_rate", "single matches that are wrong", base="unique_matches", others="true_match_rate"),
    Figure("n_high_risk", "records of high risk (number)", base=""),
)
VIEW = share_view(MATCHING, HEAD, SHARES, "matching_risk", answer=answer, more=more, draw=draw, also=also)
