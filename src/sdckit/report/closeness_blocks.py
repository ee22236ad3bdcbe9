"""View shared by t-closeness, β-likeness, δ-disclosure and (α, k)-anonymity: records in classes beyond each limit."""

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any

from sdckit.report.blocks import Block, TableBlock
from sdckit.report.common_blocks import bars, figure, of_whole, share_head, texts
from sdckit.report.gate.figures import Count, Holds, Share, Tree
from sdckit.report.setting import Setting, notes_tree
from sdckit.report.view import Plain, View, note, noted


def limits_view(measure: str, letter: str, *, kinds: Mapping[str, str] | None = None) -> View:
    """Make the view of a closeness measure, called as its note is; `kinds` are labels of its kinds, of several."""
    words = note(measure).name

    def blocks(plain: Plain, place: str) -> list[Block]:
        rows, drawn, rates = [], [], []
        for variable, by_kind in plain[place]["variables"].items():
            for kind, limits in by_kind.items():
                for limit, leaf in limits.items():
                    label = f"{variable}, {(kinds or {}).get(kind, words)}, {letter} = {limit}"
                    rows.append((label, *texts(leaf["holds"], leaf["n"], leaf["rate"])))
                    rates.append(leaf["rate"])
                    drawn.append((label, {**leaf["n"], "text": of_whole(leaf["n"], leaf["rate"])}))
        caption = "Records in groups beyond the limit"
        heads = ("Sensitive variable and test", "Result", "Records in violation", share_head(rates))
        return figure(bars(caption, "records", drawn), TableBlock(caption, heads, tuple(rows), (2, 3)))

    return View(f"What would be learnt: {words}", partial(_tree, letter), blocks, noted(measure))


def _tree(letter: str, result: Any, setting: Setting) -> dict[str, Tree]:
    """Enter the records beyond each tested limit, by variable and kind; the maximum is not entered."""
    measure = result.measure
    by_variable: dict[str, dict[str, Tree]] = {variable: {} for variable in result.variables}
    for variable in result.variables:
        for kind, counts in _by_kind(result.violations[variable], measure).items():
            leaves = _leaves(f"{measure}.{variable}.{kind}", counts, setting)
            _link_single_values(letter, variable, leaves, setting, kind)
            by_variable[variable][kind] = _limits(counts, leaves)
    return {"variables": by_variable, "notes": notes_tree(result)}


def _link_single_values(letter: str, variable: str, leaves: Mapping[float, Count], setting: Setting, kind: str) -> None:
    """Relations to homogeneous classes, which violate every α below 1 and every δ."""
    alike = f"{setting.prefix}.l.{variable}.distinct.2"
    for limit, leaf in leaves.items():
        if (letter == "α" and limit < 1) or kind == "delta":
            setting.ledger.nested(leaf.name, alike)


def _by_kind(violations: Mapping[Any, Any], measure: str) -> Mapping[str, Mapping[float, int]]:
    """Violations by kind; a measure without kinds is its own single kind."""
    return violations if any(isinstance(part, Mapping) for part in violations.values()) else {measure: violations}


def _leaves(name: str, counts: Mapping[float, int], setting: Setting) -> dict[float, Count]:
    """Enter the records beyond each limit; those beyond a limit are also beyond every smaller one."""
    leaves = {limit: setting.count(f"{name}.{limit:g}", n, name) for limit, n in sorted(counts.items())}
    for leaf in leaves.values():
        setting.ledger.nested("n", leaf.name)
    for narrow, wide in pairwise(leaves.values()):
        setting.ledger.nested(narrow.name, wide.name)
    return leaves


def _limits(counts: Mapping[float, int], leaves: Mapping[float, Count]) -> Tree:
    return {
        f"{limit:g}": {"holds": Holds(counts[limit] == 0, none=(leaf.name,)), "n": leaf, "rate": Share(leaf.name, "n")}
        for limit, leaf in leaves.items()
    }
