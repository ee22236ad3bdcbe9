"""Protection of documents: every document passes `protect`, and nothing else prints a figure.

Sources: Hundepool et al. (2012), Statistical Disclosure Control, chapter 5 (rounding, interval attacks on
tables); the rules themselves are in the documentation of the JSON schema.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sdckit.display import displayed, printable
from sdckit.errors import DataError
from sdckit.report.gate import choose_rounding, figures, relations, rounding
from sdckit.report.gate.earlier_documents import Earlier, enter_beside, not_alike, quantities_of

# Printed numbers as plain leaves of a document.


Plain = dict[str, Any]


def count_leaf(printed: rounding.Print) -> Plain:
    """A printed count: text, value if public, upper bound, and the base it is rounded to.

    Examples
    --------
    >>> count_leaf(rounding.Print("<10", None, 1, 9, 10, 10))
    {'text': '<10', 'value': None, 'below': 10, 'rounded_to': 10}
    """
    plain: Plain = {"text": printed.text, "value": printed.value}
    if printed.below is not None:
        plain["below"] = printed.below
    if printed.base is not None and printed.base > rounding.LADDER[0] and printed.text != "0":
        plain["rounded_to"] = printed.base
    return plain


def difference_leaf(whole: rounding.Print, part: rounding.Print) -> Plain:
    """Difference of two printed counts, as far as their prints determine it.

    Examples
    --------
    >>> difference_leaf(rounding.Print("20", 20, 18, 22), rounding.Print("5", 5, 5, 7))
    {'text': 'about 15', 'value': 15, 'approximate': True}
    """
    if "withheld" in {whole.text, part.text}:
        return {"text": "withheld", "value": None}
    if part.text == "0":
        return count_leaf(whole)
    low, high = max(0.0, whole.low - part.high), whole.high - part.low
    if low == high:
        return {"text": rounding.format_count(low), "value": low}
    if low == 0:
        return {"text": f"under {rounding.format_count(high + 1)}", "value": None, "below": high + 1}
    middle = max(0.0, whole.midpoint - part.midpoint)
    return {"text": f"about {rounding.format_count(middle)}", "value": middle, "approximate": True}


# After the audit: equal numbers get equal prints; figures from few records are withheld or lose digits.


# Fewest records behind a printed figure that could disclose their number: of fewer, two digits would.
SMALLEST_GUARD = 50
# Fewest records in a step of the last digit of a figure that depends on them alone.
FEWEST_IN_A_DIGIT = 5


def alike(
    prints: Mapping[str, rounding.Print], quantities: Mapping[str, figures.Quantity], ledger: figures.Ledger
) -> dict[str, rounding.Print]:
    """Give equal numbers the same print, the coarsest of theirs.

    Numbers are equal if they are of one quantity, or if a relation says so.
    """
    first: dict[str, str] = {name: name for name in prints}

    def find(name: str) -> str:
        while first[name] != name:
            name = first[name]
        return name

    def unite(left: str, right: str) -> None:
        if ledger.variables[left].true == ledger.variables[right].true:
            first[find(left)] = find(right)

    known: dict[figures.Quantity, str] = {}
    for name in prints:
        unite(name, known.setdefault(quantities[name], name))
    for relation in ledger.relations:
        if len(relation.terms) != 2 or relation.lower or relation.upper:
            continue
        (left, a), (right, b) = relation.terms
        if a + b == 0 and left in first and right in first:
            unite(left, right)
    widest: dict[str, rounding.Print] = {}
    for name, printed in prints.items():
        kept = widest.setdefault(find(name), printed)
        if printed.high - printed.low > kept.high - kept.low:
            widest[find(name)] = printed
    return {name: widest[find(name)] for name in prints}


def guarded(prints: Mapping[str, rounding.Print], ledger: figures.Ledger) -> dict[str, rounding.Print]:
    """Withhold figures that could disclose the number of a few records, or drop their second digit."""
    return {name: by_records(own, [prints[at] for at in ledger.variables[name].guard]) for name, own in prints.items()}


def by_records(shown: rounding.Print, bases: Sequence[rounding.Print], nothing: float = 0.0) -> rounding.Print:
    """The print of a figure, given the counts of records it rests on: withheld, with one digit, or unchanged."""
    if any(base.text != "0" and (base.value or 0) < SMALLEST_GUARD for base in bases):
        return rounding.WITHHELD
    n = min((base.value for base in bases if base.value), default=math.inf)
    if not shown.value or shown.base is not None:
        return shown
    power = math.floor(math.log10(abs(shown.value)) + 1e-9)
    if 10.0 ** (power - 1) >= FEWEST_IN_A_DIGIT * abs(shown.value - nothing) / n:
        return shown
    text = rounding.format_number(shown.value, 1)
    value, half = float(text.replace(",", "")), 10.0**power / 2
    return replace(shown, text=text, value=value, low=min(shown.low, value - half), high=max(shown.high, value + half))


def coarsest(ledger: figures.Ledger, prints: Mapping[str, rounding.Print]) -> Callable[[int], str]:
    """Function that prints a count in running text: as coarsely as any printed count it could be, 1 to 4 all alike.

    It depends on printed intervals, never on which numbers are equal: a print of their own would disclose that.
    """
    wide: list[tuple[float, float, int]] = []
    for name, printed in prints.items():
        if ledger.variables[name].kind == "count" and printed.base != rounding.LADDER[0] and printed.high > 0:
            base = printed.base or min(printed.high, SMALLEST_GUARD)
            level = next(at for at, step in enumerate(rounding.LADDER) if step >= base)
            wide.append((printed.low, printed.high, level))

    def in_words(n: int) -> str:
        least, most = (1, rounding.LADDER[0] - 1) if 0 < n < rounding.LADDER[0] else (n, n)
        level = max((level for low, high, level in wide if low <= most and high >= least), default=0)
        return rounding.print_variable(figures.Variable(n), level).text

    return in_words


# Protect words written elsewhere: a warning may state a count, a row number or a decimal.


_VERBS = {"is": "are", "has": "have", "was": "were", "stands": "stand", "holds": "hold", "lacks": "lack"}
_VERB = rf"(?:(\s+)({'|'.join(_VERBS)})\b)?"
_ROWS = re.compile(
    r"\b((?:first\s+)?(?:row|line))s?(?:\s+numbers?)?[\s:]+\d+"
    r"(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s+to\s+|-)\d+)*(?:\s+more\b)?(?:,?\s*(?:\.{3}|…))?" + _VERB,
    re.IGNORECASE,
)
# One of a kind: the grammar would tell that a hidden count is 1.
_ONE = re.compile(
    r"(?<![\w.,\"'`/-])1(\s+)(record|row|household|person|cell|value|unique|level|group|unit)\b(?!['-])" + _VERB
)
_ONE_OF = re.compile(r"(?<![\w.,\"'`/-])1(\s+(?:out\s+)?of\s+(?:(?:the|all|its)\s+)?[\d,]+\s+[^\W\d]+)" + _VERB)
# A share in brackets behind a count tells it again.
_SHARE = re.compile(r"(?<![\w.])([1-4])(\s+\w+)?\s+\(\d+(?:\.\d+)?\s?%\)")
# A number that stands alone: not part of a name, not the level in "2-anonymity".
_NUMBER = re.compile(r"(?<![\w.\"'`/-])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![\w\"'`/-]|\.\d)")
_DECLARED = re.compile(r"(?:\b(?:k|l|ℓ|alpha|threshold|limit|than|below)\s*(?:=|of|is)?\s*)$", re.IGNORECASE)
_COUNTED = re.compile(
    r"\s*(?:of|records?|rows?|households?|persons?|people|cells?|values?|uniques?|levels?|combinations?)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\((?:[^()]*\D)?$")


def overall(held: Iterable[bool | None]) -> bool | None:
    """Whether all of several limits hold; None where there is none, or one could not be judged.

    Examples
    --------
    >>> overall([True, True]), overall([None, False]), overall([True, None]), overall([])
    (True, False, None, None)
    """
    known = list(held)
    if False in known:
        return False
    return None if not known or None in known else True


def protect_words(text: str, printed: Callable[[int], str] | None = None) -> str:
    """Round counts and omit row numbers in a text, singular as plural; declared limits and years of sources stay.

    `printed` is the function that prints a count; by default to the nearest 5.

    Examples
    --------
    >>> protect_words("3 records have no household (first rows: 4, 17 and 20), 1,203 have one")
    '<5 records have no household (first rows not shown), 1,205 have one'
    >>> protect_words("no level of 'age' reaches k = 3; 2-anonymity holds")
    "no level of 'age' reaches k = 3; 2-anonymity holds"
    >>> protect_words("job holds 'refused' in 1 record: row 12 is left out")
    "job holds 'refused' in <5 records: rows not shown are left out"
    >>> protect_words("k = 3 is not reached (rows 1, 2, 3, 4, 5 and 41 more)")
    'k = 3 is not reached (rows not shown)'
    >>> protect_words("1 of 300 records is alone, 2 (0.7 %) are in pairs")
    '<5 of 300 records are alone, <5 are in pairs'
    """
    several = _ONE.sub(lambda match: f"1{match.group(1)}{match.group(2)}s{_plural(match, 3)}", text)
    several = _ONE_OF.sub(lambda match: f"1{match.group(1)}{_plural(match, 2)}", several)
    several = _SHARE.sub(r"\1\2", several)
    without_rows = _ROWS.sub(lambda match: f"{match.group(1)}s not shown{_plural(match, 2)}", several)
    return _NUMBER.sub(lambda match: _number(match, printed or _to_five), without_rows)


# What a message names, or how far work is: a column, a file, what was typed, the place of a step. It counts nobody.
_NAMED = re.compile(
    r"(?<!\w)'[^']*'(?!\w)|(?<!\w)\"[^\"]*\"(?!\w)|“[^”]*”(?:: [^\s,;]+(?![^\s,;])"
    r"(?!\s+(?:\w+\s+){0,2}(?:of|records?|rows?|values?|cells?|households?|persons?)\b))?"
    r"|(?<=\w)\[\d+\]|\{[^{}]*\}"
    r"|[^\s'\"“(]*\.[A-Za-z]\w{1,7}\b|\b2\^\d+"
    r"|\b(?:steps?|part|of size|level|version|columns,)\s+\d+(?:\s+(?:to|of)\s+\d+)?(?![\d,.]*\d)"
    r"(?!\s+(?:of|records?|rows?)\b)"
    r"|\b(?:(?:counts|counting)\s+from|not\s+to|mean|last|0\s+or|(?:from|between)\s+[01]\s+(?:to|and)|at\s+least)\s+1\b"
    r"(?!,?\d|\s+(?:of|records?|rows?|households?|persons?|values?)\b)|\b[12](?=\s+or\s+more\b)"
    r"|\bmust be at (?:least|most) [\d.]+|\bn \+ 1\b"
)
_PERCENT = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:\s?%|\s+per\s+cent\b)")
_LIMIT = re.compile(r"(?:=|\b(?:at most|at least|up to|over|under|than|below|between|and|to))\s*$", re.IGNORECASE)
_OURS = re.compile(r"\b(?:at most|up to)\s*$")
_COUNTS_SOON = re.compile(r"\s*(?:[^\s.,;:()]+\s+){0,3}" + _COUNTED.pattern.removeprefix(r"\s*"), re.IGNORECASE)


def protect_message(text: str, typed: Collection[str] = ()) -> str:
    """Protect the numbers of a message that stands in no document; names in quotes stay, and a limit that was typed.

    `typed` are the numbers that somebody has typed. One of them stays where it stands as a limit and counts nothing:
    a number of records may be the same.

    Examples
    --------
    >>> protect_message("column 'age 3': 1 of its values, in 4 records (3.2 %), are in no line", ["3"])
    "column 'age 3': <5 of its values, in <5 records (<20 %), are in no line"
    >>> protect_message("step 2: size = 3 is too small, 3 complete records have it", ["3"])
    'step 2: size = 3 is too small, <5 complete records have it'
    >>> protect_message("at most 35 % may be; 7 records (35 %) are", ["35 %"])
    'at most 35 % may be; 5 records (40 %) are'
    """
    named: list[str] = []

    def kept(match: re.Match[str]) -> str:
        named.append(match.group(0))
        return chr(_FIRST_PRIVATE + len(named) - 1)

    def typed_limit(match: re.Match[str]) -> bool:
        return match.group(0) in typed and _LIMIT.search(text[: match.start()]) is not None

    def is_counted(match: re.Match[str]) -> bool:
        return _COUNTS_SOON.match(text[match.end() :]) is not None

    def limit(match: re.Match[str]) -> str:
        ours = _OURS.search(text[: match.start()]) and len(match.group(0)) > 1  # a limit of the package
        return kept(match) if (ours or typed_limit(match)) and not is_counted(match) else match.group(0)

    def share(match: re.Match[str]) -> str:
        return kept(match) if typed_limit(match) and not is_counted(match) else _coarse(match.group(0))

    text = _NAMED.sub(kept, text)
    text = _PERCENT.sub(share, text)
    text = protect_words(_NUMBER.sub(limit, text))
    return "".join(named[at] if 0 <= (at := ord(letter) - _FIRST_PRIVATE) < len(named) else letter for letter in text)


_FIRST_PRIVATE = 0xF0000  # a plane of characters that no text has


def _coarse(percent: str) -> str:
    """A share in the coarsest steps, since of how many records it is stands nowhere."""
    share = float(re.split(r"[^\d.]", percent)[0]) / 100
    return str(_part(share, 0, exact=False)["text"])


def _to_five(n: int) -> str:
    return rounding.print_variable(figures.Variable(n), 0).text


def _plural(match: re.Match[str], at: int) -> str:
    """The plural of the matched verb with the space before it; "" if no verb was matched."""
    return f"{match.group(at)}{_VERBS[match.group(at + 1).lower()]}" if match.group(at) else ""


def _number(match: re.Match[str], printed: Callable[[int], str]) -> str:
    before, after = match.string[: match.start()], match.string[match.end() :]
    whole = int(match.group(1).replace(",", ""))
    declared = _DECLARED.search(before) is not None and _COUNTED.match(after) is None
    is_year = 1900 <= whole < 2100 and _YEAR.search(before) is not None and "," not in match.group(1)
    if declared or is_year:
        return match.group(0)
    if match.group(2):
        return rounding.format_number(float(match.group(1).replace(",", "") + match.group(2)))
    return printed(whole)


SMALLEST_FILE = 50
USE_INTERNAL = " Use internal=True (--internal) for a confidential one."
SMALLEST_BASE = 5
# Records in one step of a printed part.
FEWEST_IN_A_STEP = 10
STEPS = (1, 2, 5, 10, 20)  # per cent
CODE = frozenset({"python", "command", "scenario", "step", "recipe"})  # texts of several lines
CONFIDENTIAL = "contains confidential information"
WORDS = (str, int, float, type(None))  # leaves that are written as they are
HOLDS = {True: "holds", False: "does not hold", None: "not judged"}
HIDDEN = "whether it holds rests on a number that is hidden here; the confidential document says it"

WITHHELD_FIGURE: Plain = {"text": "withheld", "value": None}


def protect(document: figures.Document, *, internal: bool = False, alone: figures.Document | None = None) -> Plain:
    """Turn a document into plain, protected figures that may be published; `internal` prints everything exactly.

    A figure is ``{"text": ..., "value": ...}``; a small count is ``{"text": "<5", "value": None, "below": 5}``; a count
    rounded more coarsely than to 5 says so in ``"rounded_to"``. A share has the number it is ``"of"``. `alone` is the
    document without what earlier ones have printed: what is known of them prints no figure finer.

    Raises
    ------
    DataError
        For a file of fewer than 50 records, unless internal.

    Examples
    --------
    >>> ledger = figures.Ledger()
    >>> tree = {"n": ledger.count("n", 6366, "n"), "uniques": ledger.count("u", 3, "u")}
    >>> plain = protect(figures.Document(tree, ledger.variables, tuple(ledger.relations), 6366))
    >>> plain["n"], plain["uniques"]
    ({'text': '6,365', 'value': 6365}, {'text': '<5', 'value': None, 'below': 5})
    """
    if not internal and document.n is not None and document.n < SMALLEST_FILE:
        raise DataError(
            f"a file of fewer than {SMALLEST_FILE} records gives no document that could leave the room: "
            f"any figure would be about a few persons.{USE_INTERNAL}"
        )
    tree, ledger = _entered(document, internal=internal)
    quantities = {
        name: _of_file(entry.of or figures.Quantity(name), document.base) for name, entry in ledger.variables.items()
    }
    if internal:
        prints = {
            name: rounding.print_exact(entry) for name, entry in ledger.variables.items() if entry.true is not None
        }
    else:
        before = None if alone is None else _entered(alone, internal=False)[1]
        finest = {} if before is None else choose_rounding.levels_of(before.variables, before.relations)
        settled = choose_rounding.settle(ledger.variables, ledger.relations, finest)
        prints = guarded(alike(settled, quantities, ledger), ledger)
    body = _Printer(prints, internal, None if internal else coarsest(ledger, prints), quantities).plain(tree)
    if document.listed and not internal:
        body["quantities"] = quantities_of(prints, ledger, document.base)
    return {"protected": not internal, "confidential": CONFIDENTIAL if internal else None, **body}


def _of_file(quantity: figures.Quantity, base: str) -> figures.Quantity:
    """The quantity in its file, which is `base` where it names none; written out, since `replace` takes far longer."""
    return quantity if quantity.base else figures.Quantity(quantity.name, base, quantity.rule, quantity.intruder)


def protect_beside(document: figures.Document, earlier: Sequence[Earlier], *, internal: bool = False) -> Plain:
    """Protect a document beside earlier ones of the same file.

    If it prints alike all that they print, they tell nothing new, and it is printed as if they were not there; else no
    figure is printed finer than without them.
    """
    if internal or not earlier:
        return protect(document, internal=internal)
    known, plain = enter_beside(document, earlier), protect(document)
    return protect(known, alone=document) if not_alike(earlier, plain["quantities"]) else plain


def _entered(document: figures.Document, *, internal: bool) -> tuple[figures.Tree, figures.Ledger]:
    """The tree of a document with its pooled tables in place, and the ledger with all of their figures."""
    ledger = figures.Ledger(dict(document.variables), list(document.relations))
    return _expand(document.tree, ledger, internal=internal), ledger


def _expand(tree: figures.Tree, ledger: figures.Ledger, *, internal: bool) -> figures.Tree:
    if isinstance(tree, WORDS):  # most of a tree
        return tree
    if isinstance(tree, figures.InternalOnly):
        return _expand(tree.content if internal else tree.otherwise, ledger, internal=internal)
    if isinstance(tree, figures.Levels | figures.SizeClasses | figures.Histogram):
        return relations.expand(tree, ledger, internal=internal)
    if isinstance(tree, figures.Holds) and tree.none and not internal:
        ledger.tell_none(tree.none)
    if isinstance(tree, Mapping):
        return {
            key: _expand(value, ledger, internal=internal)
            for key, value in tree.items()
            if internal or not _is_internal(value)
        }
    if isinstance(tree, tuple):
        return tuple(_expand(value, ledger, internal=internal) for value in tree if internal or not _is_internal(value))
    return tree


def _is_internal(tree: figures.Tree) -> bool:
    """Whether a protected document has nothing in its place."""
    return isinstance(tree, figures.InternalOnly) and tree.otherwise is None


@dataclass(frozen=True)
class _Printer:
    """Writes leaves from the prints of their variables, never from the true numbers."""

    prints: Mapping[str, rounding.Print]
    internal: bool
    in_words: Callable[[int], str] | None
    quantities: Mapping[str, figures.Quantity] = field(default_factory=dict)

    def plain(self, tree: figures.Tree) -> Any:
        if isinstance(tree, WORDS):
            return self._words(tree)
        if isinstance(tree, Mapping):
            return {
                displayed(key): printable(value, lines=True)
                if key in CODE and isinstance(value, str)
                else self.plain(value)
                for key, value in tree.items()
            }
        if isinstance(tree, tuple):
            return [self.plain(value) for value in tree if not self._is_left_out(value)]
        if isinstance(tree, figures.Ranked):
            return sorted((self.plain(row) for row in tree.rows), key=relations.rank)
        return self._leaf(tree)

    def _leaf(self, tree: figures.Tree) -> Any:
        if isinstance(tree, figures.Count | figures.Value):
            return self._with_identity(self._figure(tree.name), "count", tree.name)
        if isinstance(tree, figures.Share):
            leaf = _share(self.prints[tree.part], self.prints[tree.whole])
            return self._with_base(self._with_identity(leaf, "share", tree.part, tree.whole), tree.whole)
        if isinstance(tree, figures.Ratio):
            return self._with_base(self._with_identity(self._ratio(tree), "share", tree.value, tree.count), tree.count)
        if isinstance(tree, figures.Difference):
            leaf = difference_leaf(self.prints[tree.whole], self.prints[tree.part])
            return self._with_identity(leaf, "difference", tree.whole, tree.part)
        if isinstance(tree, figures.Cumulative):
            return self._with_identity(self._cumulative(tree), "share", *tree.parts, "", *tree.wholes)
        if isinstance(tree, figures.Total):
            return self._with_identity(self._total(tree), "total", tree.family)
        if isinstance(tree, figures.Chance):
            return self._with_identity(
                _chance(self.prints[tree.hits], self.prints[tree.misses], tree.share), "chance", tree.hits
            )
        if isinstance(tree, figures.Guarded | figures.Part):
            return self._by_base(tree)
        if isinstance(tree, figures.Moved):
            n = self.prints[tree.base].value or math.inf
            shown = self._suffices(tree.base)
            return _moved(tree.true, n, tree.largest, exact=self.internal) if shown else dict(WITHHELD_FIGURE)
        if isinstance(tree, figures.Told):
            return self.plain(tree.content if self._is_shown(tree) else tree.otherwise)
        return self._words(tree)

    def _by_base(self, leaf: figures.Guarded | figures.Part) -> Plain:
        base = self.prints[leaf.base]
        if isinstance(leaf, figures.Part):
            n = (base.value or math.inf) if leaf.counted else math.inf
            return _part(leaf.true, n, exact=self.internal) if self._suffices(leaf.base) else dict(WITHHELD_FIGURE)
        printed = self.prints[leaf.name]
        if not self.internal and (leaf.few or not self._suffices(leaf.base)):
            printed = by_records(printed, [base], leaf.nothing)
        return self._with_identity(count_leaf(printed), "count", leaf.name)

    def _is_shown(self, leaf: figures.Told) -> bool:
        if leaf.guarded:
            return all(self._suffices(name) for name in leaf.bases)
        return self.internal or any(self.prints[name].value for name in leaf.bases)

    def _is_left_out(self, tree: figures.Tree) -> bool:
        return isinstance(tree, figures.Told) and tree.otherwise is None and not self._is_shown(tree)

    def _figure(self, name: str) -> Plain:
        printed = self.prints[name]
        return count_leaf(printed) | {
            "text": rounding.Printed(printed.text, rounding.Identity("", ()), printed.high - printed.low)
        }

    def _with_base(self, share: Plain, whole: str) -> Plain:
        """A printed share with its denominator, which is printed elsewhere, too."""
        printed = self.prints[whole]
        if printed.value is None or (share["value"] is None and "below" not in share):
            return share
        return share | {"of": self._with_identity(count_leaf(printed), "count", whole)["text"]}

    def _with_identity(self, leaf: Plain, how: str, *names: str) -> Plain:
        """The leaf, its text with how it was computed and from which quantities."""
        of = tuple(self.quantities.get(name) or figures.Quantity(name) for name in names)
        span = getattr(leaf["text"], "span", 0.0)
        return leaf | {"text": rounding.Printed(leaf["text"], rounding.Identity(how, of), span)}

    def _suffices(self, base: str) -> bool:
        printed = self.prints[base]
        return self.internal or printed.text == "0" or (printed.value or 0) >= SMALLEST_GUARD

    def _words(self, tree: figures.Tree) -> Any:
        if isinstance(tree, figures.AllHold):
            return overall(self._holds(verdict)["value"] for verdict in tree.limits)
        if isinstance(tree, figures.Holds):
            return self._holds(tree)
        if isinstance(tree, figures.Foreign):
            return displayed(tree.text if self.internal else protect_words(tree.text, self.in_words))
        if isinstance(tree, float) and not math.isfinite(tree):
            return None
        if isinstance(tree, str):
            return displayed(tree)
        if tree is None or isinstance(tree, int | float):
            return tree
        raise TypeError(f"no rule to print a {type(tree).__name__}")

    def _holds(self, leaf: figures.Holds) -> Plain:
        if self._is_open(leaf):
            return {"text": HOLDS[None], "value": None, "reason": HIDDEN}
        reason = leaf.reason if self.internal else protect_words(leaf.reason, self.in_words)
        return {"text": HOLDS[leaf.holds], "value": leaf.holds} | ({"reason": reason} if reason else {})

    def _is_open(self, leaf: figures.Holds) -> bool:
        """Whether the printed figures allow the opposite verdict."""
        if self.internal or leaf.holds is None or not leaf.value:
            return False
        value, base = self.prints[leaf.value], self.prints[leaf.base]
        least, most = leaf.limit * base.low, leaf.limit * base.high
        return value.high > least if leaf.holds else value.low <= most

    def _ratio(self, leaf: figures.Ratio) -> Plain:
        part, whole = self.prints[leaf.value], self.prints[leaf.count]
        if not whole.value or (part.value is None and part.below is None):
            return {"text": part.text if part.value is None else "undefined", "value": None}
        ratio = part.midpoint / whole.value
        if part.value is None:
            return {"text": f"<{rounding.format_number(ratio)}", "value": None, "below": ratio}
        if self.internal:
            return {"text": f"{ratio:.6g}", "value": ratio}
        text = rounding.format_number(ratio)
        return {"text": text, "value": float(text.replace(",", ""))}

    def _cumulative(self, leaf: figures.Cumulative) -> Plain:
        wholes, parts = ([self.prints[name] for name in names] for names in (leaf.wholes, leaf.parts))
        if any(printed.value is None and printed.below is None for printed in wholes):
            return {"text": "withheld", "value": None}
        whole, part = (sum(printed.midpoint for printed in group) for group in (wholes, parts))
        if not whole:
            return {"text": "undefined", "value": None}
        if part and not any(printed.value for printed in parts):
            return {"text": f"<{_percentage(part / whole)['text']}", "value": None, "below": part / whole}
        return _percentage(part / whole)

    def _total(self, leaf: figures.Total) -> Plain:
        parts = [printed for name, printed in self.prints.items() if name.startswith(leaf.family)]
        low, high = sum(part.low for part in parts), sum(part.high for part in parts)
        if low == high:
            return {"text": rounding.format_count(low), "value": int(low)}
        if not math.isfinite(high):
            return {"text": "withheld", "value": None}
        if not any(part.value for part in parts):
            return {"text": f"under {rounding.format_count(high + 1)}", "value": None, "below": high + 1}
        # A hidden part counts as half its upper bound.
        middle = sum(part.midpoint if part.value is not None else part.midpoint / 2 for part in parts)
        value = SMALLEST_BASE * round(middle / SMALLEST_BASE)
        return {"text": f"about {rounding.format_count(value)}", "value": value, "approximate": True}


def _share(part: rounding.Print, whole: rounding.Print) -> Plain:
    if not whole.value or (part.value is None and part.below is None):
        return {"text": "withheld" if whole.value else "undefined", "value": None}
    rate = min(1.0, part.midpoint / whole.value)
    if part.value is None:
        return {"text": f"<{_percentage(rate)['text']}", "value": None, "below": rate}
    return _percentage(rate)


def _chance(hits: rounding.Print, misses: rounding.Print, share: float) -> Plain:
    if hits.text == "0":
        return {"text": "0", "value": 0.0}
    if hits.value is None or misses.value is None:
        return dict(WITHHELD_FIGURE)
    right, wrong = hits.value * share, misses.value * (1 - share)
    text = rounding.format_number(right / (right + wrong))
    return {"text": text, "value": float(text)}


def _part(true: float, n: float, *, exact: bool) -> Plain:
    """A proportion in steps of whole per cent, and of at least ten of `n`: finer ones would count them."""
    if math.isnan(true):
        return {"text": "undefined", "value": None}
    if exact:
        return {"text": f"{100 * true:.6g} %", "value": true}
    step = next((width for width in STEPS if width * n >= 100 * FEWEST_IN_A_STEP), STEPS[-1])
    whole = min(100, step * round(100 * true / step))
    if whole == 0 < true:
        return {"text": f"<{step} %", "value": None, "below": step / 100}
    return {"text": f"{whole} %", "value": whole / 100}


def _moved(true: float, n: float, largest: float, *, exact: bool) -> Plain:
    """A relative change in steps of whole per cent: of at least ten of `n`, and of the `largest` share of a record."""
    if exact:
        return {"text": f"{100 * true:.6g} %", "value": true}
    least = max(FEWEST_IN_A_STEP / n, largest)
    step = next((width for width in STEPS if width >= 100 * least), None)
    if step is None:
        return dict(WITHHELD_FIGURE)
    whole = step * round(100 * true / step)
    return {"text": f"{whole} %", "value": whole / 100}


def _percentage(rate: float) -> Plain:
    percent = 100 * rate
    text = f"{percent:.1f}" if 10 <= percent < 100 else rounding.format_number(percent) if percent < 10 else "100"
    return {"text": f"{text} %", "value": round(rate, 6)}


@dataclass(frozen=True)
class Seen:
    """Interval of the number of successes; `few` and `many`: only an upper or a lower bound is printed."""

    low: float
    middle: float
    high: float
    few: bool = False
    many: bool = False


def seen(printed: Mapping[str, Any], role: str, n: float) -> Seen | None:
    """Interval of the successes among `n`, from printed successes or failures; None if neither is printed.

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
        low, middle, high = (min(end, n) for end in ends)
        if side == "successes":
            return Seen(low, middle, high, few=hidden)
        return Seen(n - high, n - middle, n - low, many=hidden)
    return None


def rate_leaf(successes: Seen, n: float) -> Plain:
    """The share of successes as a leaf; a bound if the number of successes or of failures is hidden.

    Examples
    --------
    >>> rate_leaf(Seen(95, 97.5, 100, many=True), 100)
    {'text': '>95 %', 'value': None, 'above': 0.95}
    """
    if successes.few:
        return {"text": f"<{percentage(successes.high / n)} %", "value": None, "below": round(successes.high / n, 6)}
    if successes.many:
        least = math.floor(1000 * successes.low / n + 1e-9) / 10
        return {"text": f">{least:g} %", "value": None, "above": round(successes.low / n, 6)}
    return _percentage(successes.middle / n)


def percentage(share: float) -> str:
    """A share in per cent, without the sign.

    Examples
    --------
    >>> percentage(0.3333), percentage(0.0066667), percentage(0.0)
    ('33.3', '0.67', '0')
    """
    return str(_percentage(share)["text"]).removesuffix(" %")
