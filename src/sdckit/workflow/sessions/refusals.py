"""What is said of a request that went wrong: in the words of the page, with numbers of records protected."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from sdckit.data.limits import LIMITS
from sdckit.errors import SdcError

# What the fields of the pages are called that are no limit, by the argument that they are for.
FIELDS = {
    "encoding": "Encoding", "delimiter": "Delimiter of a CSV", "decimal": "Decimal mark",
    "join": "A second file, such as the households of persons", "join_key": "The column that both files have",
    "user_missing": "Keep labelled missing codes as categories (SPSS, Stata)",
    "sampling_fraction": "Share of the population in the file (without weights)", "by": "Subgroups by",
    "keep": "Variables to keep as they are", "keys": "Knows", "intruders": "Intruders", "internal": "Exact figures",
}  # fmt: skip
OTHERWISE = (  # what only a program can do
    (re.compile(r'[;,]? the change then lists them under secret\["\w+"\]'), ""),
    (re.compile(r"\bUse internal=True \(--internal\) for a confidential one"), "Switch to “Exact figures” to see it"),
    (re.compile(r", not NoneType$"), ""),
    (re.compile(r" \((?:on the command line )?--[^()]*\)"), ""),
)
TELLING = re.compile(r" to [\d.]+ or more$")  # a limit that is computed from how many records there are
_VALUE = r"\[[^\]]*\]|\"[^\"]*\"|'[^']*'|[\w.]+(?<!\.)"
_ARGUMENT = re.compile(rf"(?<![-\w.\"'])([a-z_]+)=({_VALUE})?")
_LIMIT = re.compile(r"(?<!\w)thresholds\.(\w+)")
_FIRST = re.compile(r"(?:thresholds\.)?[a-z_]+(?=[ :])")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)")


def in_words(text: str) -> str:
    """A message in the words of the page: fields by their names there, without what only a program can do.

    Examples
    --------
    >>> in_words("thresholds.k: give a whole number; the file is not UTF-8, give encoding=")
    '“k-anonymity, k”: give a whole number; the file is not UTF-8, give “Encoding”'
    >>> in_words('give outside="keep" or outside="missing"; the change then lists them under secret["outside"]')
    'give “outside”: "keep" or “outside”: "missing"'
    """
    for pattern, instead in OTHERWISE:
        text = pattern.sub(instead, text)
    first = _FIRST.match(text)
    if first and first[0] in FIELDS:
        text = f"“{FIELDS[first[0]]}”{text[first.end() :]}"
    text = _LIMIT.sub(lambda found: f"“{LIMITS[found[1]].form}”" if found[1] in LIMITS else found[1], text)
    return _ARGUMENT.sub(lambda found: f"“{_field(found[1])}”" + (f": {found[2]}" if found[2] else ""), text)


def _field(argument: str) -> str:
    kind = LIMITS.get(argument)
    return FIELDS.get(argument) or (kind.form if kind is not None and kind.form else argument)


def field(error: SdcError) -> str:
    """The argument that an error refuses, by which a page finds its field; "" for none.

    >>> field(SdcError("thresholds.k must be a whole number")), field(SdcError("the file is empty"))
    ('thresholds.k', '')
    """
    first = _FIRST.match(str(error))
    named = first is not None and (first[0] in FIELDS or first[0].startswith("thresholds."))
    return error.argument or (first[0] if first is not None and named else "")


def message(text: str, arguments: Mapping[str, Any]) -> str:
    """A message of a task as it may leave: its numbers protected, unless the session shows exact figures."""
    said = in_words(text)
    if arguments.get("exact", False):
        return said
    from sdckit.report.gate.protect import protect_message

    return protect_message(TELLING.sub("", said), typed_in(arguments))


def typed_in(arguments: Mapping[str, Any]) -> Collection[str]:
    """The numbers that somebody typed for a task.

    >>> sorted(typed_in({"scenario": {"thresholds": {"k": 3}}, "secret": "5a5a"}))
    ['3']
    """
    return set(_NUMBER.findall(json.dumps(arguments, default=str)))
