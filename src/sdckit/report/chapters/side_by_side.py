"""The main figures of intruders, or of files, side by side; and rules for missing values that make no difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.report.parts import by_rule, ruled
from sdckit.report.view import Plain, view_of, views_of

# The label of figures that are the same under both rules.
EITHER = "wildcard, missing as category"
TWINS = ("_category", "_wildcard")


def figures_of(ones: Sequence[Plain]) -> list[dict[str, Plain]]:
    """The main figures of intruders, or of files, side by side: words and printed leaf.

    Where missing key values were taken for two things in one of them, a file without missing values has the same
    figures under both.
    """
    found: list[dict[str, Plain]] = [{} for _ in ones]
    places = dict.fromkeys(place for one in ones for place, view in views_of(one))
    for place in places:
        view = view_of(place)
        rules = dict.fromkeys(rule for one in ones if one.get(place) for rule, _ in by_rule(one, place))
        if len(rules) > 1:
            rules.pop("", None)
        for one, figures in zip(ones, found, strict=True):
            at = dict(by_rule(one, place)) if one.get(place) else {}
            for rule in rules if at else ():
                for words, leaf in view.figures(one, at.get(rule, at.get("", place))).items():
                    figures[ruled(words, rule)] = leaf
    return found


def once_where_equal(one: Plain) -> Plain:
    """Leave out what was measured under the other rule for missing values where all of it is printed the same."""
    found = dict(one)
    for place in one:
        for twin in (f"{place}{ending}" for ending in TWINS):
            if one.get(twin) and _told(one[place]) == _told(one[twin]):
                found.pop(twin)
                if isinstance(one[place].get("rule"), str):  # a tree by variable names none
                    found[place] = {**one[place], "rule": EITHER}
    return found


def _told(tree: Any) -> Any:
    """What is printed of a tree: everything but its rule and its notes."""
    if isinstance(tree, Mapping):
        return {name: _told(part) for name, part in tree.items() if not _is_aside(name, part)}
    return [_told(part) for part in tree] if isinstance(tree, list | tuple) else tree


def _is_aside(name: str, part: Any) -> bool:
    """A variable may be called as the rule is."""
    return name == "notes" or (name == "rule" and not isinstance(part, Mapping))
