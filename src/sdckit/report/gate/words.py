"""Protect words written elsewhere: a warning may state a count, a row number or a decimal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from sdckit.report.gate.figures import Variable
from sdckit.report.gate.rounding import format_number, print_variable

_VERBS = {"is": "are", "has": "have", "was": "were", "stands": "stand", "holds": "hold", "lacks": "lack"}
_VERB = rf"(?:(\s+)({'|'.join(_VERBS)})\b)?"
_ROWS = re.compile(
    r"\b((?:first\s+)?(?:row|line))s?(?:\s+numbers?)?[\s:]+\d+"
    r"(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s+to\s+|-)\d+)*(?:,?\s*(?:\.{3}|…))?" + _VERB,
    re.IGNORECASE,
)
# One of a kind: the grammar would tell that a hidden count is 1.
_ONE = re.compile(
    r"(?<![\w.,\"'`/-])1(\s+)(record|row|household|person|cell|value|unique|level|group|unit)\b(?!['-])"
    + _VERB
)
_ONE_OF = re.compile(
    r"(?<![\w.,\"'`/-])1(\s+(?:out\s+)?of\s+(?:(?:the|all|its)\s+)?[\d,]+\s+[^\W\d]+)" + _VERB
)
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
    """Round counts, leave out row numbers, one like many; declared limits and years of sources stay.

    `printed` says how the words of a document write a count, where it is not to the nearest 5.

    Examples
    --------
    >>> protect_words("3 records have no household (first rows: 4, 17 and 20), 1,203 have one")
    '<5 records have no household (first rows not shown), 1,205 have one'
    >>> protect_words("no level of 'age' reaches k = 3; 2-anonymity holds")
    "no level of 'age' reaches k = 3; 2-anonymity holds"
    >>> protect_words("job holds 'refused' in 1 record: row 12 is left out")
    "job holds 'refused' in <5 records: rows not shown are left out"
    >>> protect_words("1 of 300 records is alone, 2 (0.7 %) are in pairs")
    '<5 of 300 records are alone, <5 are in pairs'
    """
    several = _ONE.sub(lambda found: f"1{found.group(1)}{found.group(2)}s{_plural(found, 3)}", text)
    several = _ONE_OF.sub(lambda found: f"1{found.group(1)}{_plural(found, 2)}", several)
    several = _SHARE.sub(r"\1\2", several)
    without_rows = _ROWS.sub(lambda found: f"{found.group(1)}s not shown{_plural(found, 2)}", several)
    return _NUMBER.sub(lambda found: _number(found, printed or _to_five), without_rows)


def _to_five(n: int) -> str:
    return print_variable(Variable(n), 0).text


def _plural(found: re.Match[str], at: int) -> str:
    """The verb of several, with the space before it, where the group after it is a verb."""
    return f"{found.group(at)}{_VERBS[found.group(at + 1).lower()]}" if found.group(at) else ""


def _number(found: re.Match[str], printed: Callable[[int], str]) -> str:
    before, after = found.string[: found.start()], found.string[found.end() :]
    whole = int(found.group(1).replace(",", ""))
    declared = _DECLARED.search(before) is not None and _COUNTED.match(after) is None
    is_year = 1900 <= whole < 2100 and _YEAR.search(before) is not None and "," not in found.group(1)
    if declared or is_year:
        return found.group(0)
    if found.group(2):
        return format_number(float(found.group(1).replace(",", "") + found.group(2)))
    return printed(whole)
