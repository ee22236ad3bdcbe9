"""The one door out of the room: every document passes `protect`, and nothing else prints a figure.

Sources: Hundepool et al. (2012), Statistical Disclosure Control, chapter 5 (rounding, interval attacks on
tables); the rules themselves are in the documentation of the JSON schema.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sdckit.display import displayed, printable
from sdckit.errors import DataError
from sdckit.report.gate.beside import quantities_of
from sdckit.report.gate.figures import (
    AllHold,
    Chance,
    Count,
    Cumulative,
    Difference,
    Document,
    Foreign,
    Guarded,
    Histogram,
    Holds,
    InternalOnly,
    Ledger,
    Levels,
    Part,
    Quantity,
    Ranked,
    Ratio,
    Share,
    SizeClasses,
    Told,
    Total,
    Tree,
    Value,
)
from sdckit.report.gate.guards import SMALLEST_GUARD, alike, by_records, coarsest, guarded
from sdckit.report.gate.leaves import count_leaf, difference_leaf
from sdckit.report.gate.pooling import expand, rank
from sdckit.report.gate.printed import Identity, Printed
from sdckit.report.gate.rounding import (
    Print,
    format_count,
    format_number,
    print_exact,
)
from sdckit.report.gate.settle import settle
from sdckit.report.gate.words import overall, protect_words

SMALLEST_FILE = 50
SMALLEST_BASE = 5
# Records in one step of a printed part.
FEWEST_IN_A_STEP = 10
CODE = frozenset({"python", "command", "scenario", "step", "recipe"})  # texts of several lines
CONFIDENTIAL = "contains confidential information"
HOLDS = {True: "holds", False: "does not hold", None: "not judged"}
HIDDEN = "whether it holds rests on a number that is hidden here; the confidential document says it"

Plain = dict[str, Any]
WITHHELD: Plain = {"text": "withheld", "value": None}


def protect(document: Document, *, internal: bool = False) -> Plain:
    """Turn a document into plain, printable figures that may leave the room; `internal` prints everything exactly.

    A figure is ``{"text": ..., "value": ...}``; a small count is ``{"text": "<5", "value": None, "below": 5}``; a count
    rounded more coarsely than to 5 says so in ``"rounded_to"``. A share has the number it is ``"of"``.

    Raises
    ------
    DataError
        For a file of fewer than 50 records, unless internal.

    Examples
    --------
    >>> ledger = Ledger()
    >>> tree = {"n": ledger.count("n", 6366, "n"), "uniques": ledger.count("u", 3, "u")}
    >>> plain = protect(Document(tree, ledger.variables, tuple(ledger.relations), 6366))
    >>> plain["n"], plain["uniques"]
    ({'text': '6,365', 'value': 6365}, {'text': '<5', 'value': None, 'below': 5})
    """
    if not internal and document.n is not None and document.n < SMALLEST_FILE:
        raise DataError(
            f"a file of fewer than {SMALLEST_FILE} records gives no document that could leave the room: "
            "any figure would be about a few persons. Use internal=True (--internal) for a confidential one."
        )
    ledger = Ledger(dict(document.variables), list(document.relations))
    tree = _expand(document.tree, ledger, internal=internal)
    quantities = {
        name: replace(one.of or Quantity(name), base=(one.of and one.of.base) or document.base)
        for name, one in ledger.variables.items()
    }
    if internal:
        prints = {name: print_exact(one) for name, one in ledger.variables.items() if one.true is not None}
    else:
        found = settle(ledger.variables, ledger.relations)
        prints = guarded(alike(found, quantities, ledger), ledger)
    body = _Printer(prints, internal, None if internal else coarsest(ledger, prints), quantities).plain(tree)
    if document.listed and not internal:
        body["quantities"] = quantities_of(prints, ledger, document.base)
    return {"protected": not internal, "confidential": CONFIDENTIAL if internal else None, **body}


def _expand(tree: Tree, ledger: Ledger, *, internal: bool) -> Tree:
    if isinstance(tree, InternalOnly):
        return _expand(tree.content if internal else tree.otherwise, ledger, internal=internal)
    if isinstance(tree, Levels | SizeClasses | Histogram):
        return expand(tree, ledger, internal=internal)
    if isinstance(tree, Holds) and tree.none and not internal:
        ledger.tell_none(tree.none)
    if isinstance(tree, Mapping):
        return {
            key: _expand(value, ledger, internal=internal)
            for key, value in tree.items()
            if internal or not _is_internal(value)
        }
    if isinstance(tree, tuple):
        return tuple(
            _expand(value, ledger, internal=internal) for value in tree if internal or not _is_internal(value)
        )
    return tree


def _is_internal(tree: Tree) -> bool:
    """Whether nothing of it stands in a document that may leave."""
    return isinstance(tree, InternalOnly) and tree.otherwise is None


@dataclass(frozen=True)
class _Printer:
    """Writes leaves from what was printed of their variables, never from the true numbers."""

    prints: Mapping[str, Print]
    internal: bool
    in_words: Callable[[int], str] | None
    quantities: Mapping[str, Quantity] = field(default_factory=dict)

    def plain(self, tree: Tree) -> Any:
        if isinstance(tree, Mapping):
            return {
                displayed(key): printable(value, lines=True)
                if key in CODE and isinstance(value, str)
                else self.plain(value)
                for key, value in tree.items()
            }
        if isinstance(tree, tuple):
            return [self.plain(value) for value in tree if not self._is_left_out(value)]
        if isinstance(tree, Ranked):
            return sorted((self.plain(row) for row in tree.rows), key=rank)
        return self._leaf(tree)

    def _leaf(self, tree: Tree) -> Any:
        if isinstance(tree, Count | Value):
            return self._told(self._figure(tree.name), "count", tree.name)
        if isinstance(tree, Share):
            found = _share(self.prints[tree.part], self.prints[tree.whole])
            return self._of(self._told(found, "share", tree.part, tree.whole), tree.whole)
        if isinstance(tree, Ratio):
            return self._of(self._told(self._ratio(tree), "share", tree.value, tree.count), tree.count)
        if isinstance(tree, Difference):
            found = difference_leaf(self.prints[tree.whole], self.prints[tree.part])
            return self._told(found, "difference", tree.whole, tree.part)
        if isinstance(tree, Cumulative):
            return self._told(self._cumulative(tree), "share", *tree.parts, "", *tree.wholes)
        if isinstance(tree, Total):
            return self._told(self._total(tree), "total", tree.family)
        if isinstance(tree, Chance):
            return self._told(
                _chance(self.prints[tree.hits], self.prints[tree.misses], tree.share), "chance", tree.hits
            )
        if isinstance(tree, Guarded | Part):
            return self._by_base(tree)
        if isinstance(tree, Told):
            return self.plain(tree.content if self._is_told(tree) else tree.otherwise)
        return self._words(tree)

    def _by_base(self, leaf: Guarded | Part) -> Plain:
        base = self.prints[leaf.base]
        if isinstance(leaf, Part):
            n = (base.value or math.inf) if leaf.counted else math.inf
            return _part(leaf.true, n, exact=self.internal) if self._enough(leaf.base) else dict(WITHHELD)
        one = self.prints[leaf.name]
        if not self.internal and (leaf.few or not self._enough(leaf.base)):
            one = by_records(one, [base], leaf.nothing)
        return self._told(count_leaf(one), "count", leaf.name)

    def _is_told(self, leaf: Told) -> bool:
        if leaf.guarded:
            return all(self._enough(name) for name in leaf.bases)
        return self.internal or any(self.prints[name].value for name in leaf.bases)

    def _is_left_out(self, tree: Tree) -> bool:
        return isinstance(tree, Told) and tree.otherwise is None and not self._is_told(tree)

    def _figure(self, name: str) -> Plain:
        one = self.prints[name]
        return count_leaf(one) | {"text": Printed(one.text, Identity("", ()), one.high - one.low)}

    def _of(self, share: Plain, whole: str) -> Plain:
        """A printed share with the number that it is of, which is printed elsewhere, too."""
        one = self.prints[whole]
        if one.value is None or (share["value"] is None and "below" not in share):
            return share
        return share | {"of": self._told(count_leaf(one), "count", whole)["text"]}

    def _told(self, leaf: Plain, how: str, *names: str) -> Plain:
        """The leaf with what it is a figure of."""
        of = tuple(self.quantities.get(name, Quantity(name)) for name in names)
        span = getattr(leaf["text"], "span", 0.0)
        return leaf | {"text": Printed(leaf["text"], Identity(how, of), span)}

    def _enough(self, base: str) -> bool:
        one = self.prints[base]
        return self.internal or one.text == "0" or (one.value or 0) >= SMALLEST_GUARD

    def _words(self, tree: Tree) -> Any:
        if isinstance(tree, AllHold):
            return overall(self._holds(one)["value"] for one in tree.each)
        if isinstance(tree, Holds):
            return self._holds(tree)
        if isinstance(tree, Foreign):
            return displayed(tree.text if self.internal else protect_words(tree.text, self.in_words))
        if isinstance(tree, float) and not math.isfinite(tree):
            return None
        if isinstance(tree, str):
            return displayed(tree)
        if tree is None or isinstance(tree, int | float):
            return tree
        raise TypeError(f"no rule to print a {type(tree).__name__}")

    def _holds(self, leaf: Holds) -> Plain:
        if self._is_open(leaf):
            return {"text": HOLDS[None], "value": None, "reason": HIDDEN}
        reason = leaf.reason if self.internal else protect_words(leaf.reason, self.in_words)
        return {"text": HOLDS[leaf.holds], "value": leaf.holds} | ({"reason": reason} if reason else {})

    def _is_open(self, leaf: Holds) -> bool:
        """Whether both answers are possible, of what is printed."""
        if self.internal or leaf.holds is None or not leaf.value:
            return False
        value, base = self.prints[leaf.value], self.prints[leaf.base]
        least, most = leaf.limit * base.low, leaf.limit * base.high
        return value.high > least if leaf.holds else value.low <= most

    def _ratio(self, leaf: Ratio) -> Plain:
        part, whole = self.prints[leaf.value], self.prints[leaf.count]
        if not whole.value or (part.value is None and part.below is None):
            return {"text": part.text if part.value is None else "undefined", "value": None}
        ratio = part.midpoint / whole.value
        if part.value is None:
            return {"text": f"<{format_number(ratio)}", "value": None, "below": ratio}
        if self.internal:
            return {"text": f"{ratio:.6g}", "value": ratio}
        text = format_number(ratio)
        return {"text": text, "value": float(text.replace(",", ""))}

    def _cumulative(self, leaf: Cumulative) -> Plain:
        wholes, parts = ([self.prints[name] for name in names] for names in (leaf.wholes, leaf.parts))
        if any(one.value is None and one.below is None for one in wholes):
            return {"text": "withheld", "value": None}
        whole, part = (sum(one.midpoint for one in ones) for ones in (wholes, parts))
        if not whole:
            return {"text": "undefined", "value": None}
        if part and not any(one.value for one in parts):
            return {"text": f"<{_percentage(part / whole)['text']}", "value": None, "below": part / whole}
        return _percentage(part / whole)

    def _total(self, leaf: Total) -> Plain:
        parts = [one for name, one in self.prints.items() if name.startswith(leaf.family)]
        low, high = sum(one.low for one in parts), sum(one.high for one in parts)
        if low == high:
            return {"text": format_count(low), "value": int(low)}
        if not math.isfinite(high):
            return {"text": "withheld", "value": None}
        if not any(one.value for one in parts):
            return {"text": f"under {format_count(high + 1)}", "value": None, "below": high + 1}
        # A hidden part counts half its bound.
        middle = sum(one.midpoint if one.value is not None else one.midpoint / 2 for one in parts)
        value = SMALLEST_BASE * round(middle / SMALLEST_BASE)
        return {"text": f"about {format_count(value)}", "value": value, "approximate": True}


def _share(part: Print, whole: Print) -> Plain:
    if not whole.value or (part.value is None and part.below is None):
        return {"text": "withheld" if whole.value else "undefined", "value": None}
    rate = min(1.0, part.midpoint / whole.value)
    if part.value is None:
        return {"text": f"<{_percentage(rate)['text']}", "value": None, "below": rate}
    return _percentage(rate)


def _chance(hits: Print, misses: Print, share: float) -> Plain:
    if hits.text == "0":
        return {"text": "0", "value": 0.0}
    if hits.value is None or misses.value is None:
        return dict(WITHHELD)
    right, wrong = hits.value * share, misses.value * (1 - share)
    text = format_number(right / (right + wrong))
    return {"text": text, "value": float(text)}


def _part(true: float, n: float, *, exact: bool) -> Plain:
    """A part of one in steps of whole per cent, and of ten of n at least: finer ones would count them."""
    if math.isnan(true):
        return {"text": "undefined", "value": None}
    if exact:
        return {"text": f"{100 * true:.6g} %", "value": true}
    step = next((one for one in (1, 2, 5, 10) if one * n >= 100 * FEWEST_IN_A_STEP), 20)
    whole = min(100, step * round(100 * true / step))
    if whole == 0 < true:
        return {"text": f"<{step} %", "value": None, "below": step / 100}
    return {"text": f"{whole} %", "value": whole / 100}


def _percentage(rate: float) -> Plain:
    percent = 100 * rate
    text = f"{percent:.1f}" if 10 <= percent < 100 else format_number(percent) if percent < 10 else "100"
    return {"text": f"{text} %", "value": round(rate, 6)}


@dataclass(frozen=True)
class Seen:
    """How many successes a printed number allows; `few` and `many` where only a bound is printed."""

    low: float
    middle: float
    high: float
    few: bool = False
    many: bool = False


def seen(printed: Mapping[str, Any], role: str, n: float) -> Seen | None:
    """Read the successes among `n`, or all but the failures; None where neither is printed.

    Examples
    --------
    >>> seen({"failures": {"text": "<5", "value": None, "below": 5}}, "", 100)
    Seen(low=95, middle=97.5, high=100.0, few=False, many=True)
    """
    for side in ("successes", "failures"):
        leaf = printed.get(role + side)
        if leaf is None or (leaf["value"] is None and leaf.get("below") is None):
            continue
        value, hidden = leaf["value"], leaf["value"] is None
        half = leaf.get("rounded_to", SMALLEST_BASE) / 2 if value else 0.0
        ends = (0.0, leaf["below"] / 2, leaf["below"]) if hidden else (value - half, value, value + half)
        low, middle, high = (min(one, n) for one in ends)
        if side == "successes":
            return Seen(low, middle, high, few=hidden)
        return Seen(n - high, n - middle, n - low, many=hidden)
    return None


def rate_leaf(found: Seen, n: float) -> Plain:
    """The share of successes as a figure; few ones by their bound, and many, too.

    Examples
    --------
    >>> rate_leaf(Seen(95, 97.5, 100, many=True), 100)
    {'text': '>95 %', 'value': None, 'above': 0.95}
    """
    if found.few:
        return {"text": f"<{percentage(found.high / n)} %", "value": None, "below": round(found.high / n, 6)}
    if found.many:
        least = math.floor(1000 * found.low / n + 1e-9) / 10
        return {"text": f">{least:g} %", "value": None, "above": round(found.low / n, 6)}
    return _percentage(found.middle / n)


def percentage(share: float) -> str:
    """A share in per cent, without the sign.

    Examples
    --------
    >>> percentage(0.3333), percentage(0.0066667), percentage(0.0)
    ('33.3', '0.67', '0')
    """
    return str(_percentage(share)["text"]).removesuffix(" %")
