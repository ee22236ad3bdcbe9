"""What is said of a request that went wrong: in the words of the page, with numbers of records protected."""

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from sdckit.data.limits import LIMITS

# The fields of the pages that are no limit, by the argument that they are for: what they are called where a message
# of the argument is put in words, and their ids.
FIELDS = {
    "encoding": ("Encoding", "encoding"), "delimiter": ("Delimiter of a CSV", "delimiter"),
    "decimal": ("Decimal mark", "decimal"),
    "sheet": ("Sheet of an Excel file: its name or number", "sheet"),
    "header_row": ("Row of the sheet with the names of columns", "header_row"),
    "join": ("A second file, such as the households of persons", "second"),
    "join_key": ("The column that both files have", "join_key"),
    "user_missing": ("Keep labelled missing codes as categories (SPSS, Stata)", "user_missing"),
    "sampling_fraction": ("Share of the population in the file (without weights)", "fraction"),
    "population": ("", "population"), "release": ("", "release"), "missing": ("", "missing"),
    "insensitive_because": ("", "because"), "by": ("Subgroups by", "by"), "number": ("", "how_many"),
    "which": ("", "which"), "keep": ("Variables to keep as they are", "keep"), "keys": ("Knows", ""),
    "intruders": ("Intruders", ""), "internal": ("Exact figures", ""),
}  # fmt: skip
OTHERWISE = (  # what only a program can do
    (re.compile(r'[;,]? the change then lists them under secret\["\w+"\]'), ""),
    (re.compile(r"\bUse internal=True \(--internal\) for a confidential one"), "Switch to “Exact figures” to see it"),
    (re.compile(r"\bchoose one with \.intruder\(name\)"), "choose one of them"),
    (re.compile(r", not NoneType$"), ""),
    (re.compile(r" \((?:on the command line )?--[^()]*\)"), ""),
)
LINES, LINES_SHOWN = "lines not shown", "Switch to “Exact figures” and read the file again to see which line it is"
TELLING = re.compile(r" to [\d.]+ or more$")  # a limit that is computed from how many records there are
_VALUE = r"\[[^\]]*\]|\"[^\"]*\"|'[^']*'|[\w.]+(?<!\.)"
_ARGUMENT = re.compile(rf"(?<![-\w.\"'])([a-z_]+)=({_VALUE})?")
_LIMIT = re.compile(r"(?<!\w)thresholds\.(\w+)")
_FIRST = re.compile(r"[a-z_]+(?=[ :])")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)")
_PERCENT = re.compile(r"(?<![\w.])\d+(?:\.\d+)?\s?%")


def in_words(text: str, *, of_step: bool = False) -> str:
    """A message in the words of the page: fields by their names there, without what only a program can do.

    `of_step`: arguments are those of steps, which have the names of limits and are none.

    Examples
    --------
    >>> in_words("thresholds.k: give a whole number; the file is not UTF-8, give encoding=")
    '“k-anonymity, k”: give a whole number; the file is not UTF-8, give “Encoding”'
    >>> in_words('give outside="keep" or outside="missing"; the change then lists them under secret["outside"]')
    'give “outside”: "keep" or “outside”: "missing"'
    >>> in_words("risk= takes a number for every record", of_step=True)
    '“risk” takes a number for every record'
    """
    for pattern, instead in OTHERWISE:
        text = pattern.sub(instead, text)
    first = _FIRST.match(text)
    if first and (label := FIELDS.get(first[0], ("", ""))[0]):
        text = f"“{label}”{text[first.end() :]}"
    text = _LIMIT.sub(lambda found: f"“{LIMITS[found[1]].form}”" if found[1] in LIMITS else found[1], text)
    limits = {} if of_step else LIMITS

    def named(argument: str) -> str:
        return FIELDS.get(argument, ("", ""))[0] or (limits[argument].form if argument in limits else "") or argument

    return _ARGUMENT.sub(lambda found: f"“{named(found[1])}”" + (f": {found[2]}" if found[2] else ""), text)


def field_of(argument: str) -> str:
    """The id of the field in which a refused argument is typed, on the page that asks for it; "" for none.

    >>> field_of("thresholds.k"), field_of("sampling_fraction"), field_of("keys")
    ('limit_k', 'fraction', '')
    """
    name = argument.rpartition(".")[2]
    return f"limit_{name}" if name in LIMITS and LIMITS[name].form else FIELDS.get(name, ("", ""))[1]


def message(text: str, arguments: Mapping[str, Any]) -> str:
    """A message of a task as it may leave: its numbers protected, unless the session shows exact figures."""
    said = in_words(text, of_step="steps" in arguments)
    if arguments.get("exact", False):
        return said
    from sdckit.report.gate.protect import protect_message

    protected = protect_message(TELLING.sub("", said), typed_in(arguments))
    return f"{protected}. {LINES_SHOWN}" if LINES in protected else protected


def typed_in(arguments: Mapping[str, Any]) -> Collection[str]:
    """The numbers that somebody typed for a task, and the shares.

    >>> sorted(typed_in({"scenario": {"thresholds": {"k": 3}}, "secret": "5a5a"}))
    ['3']
    >>> sorted(typed_in({"title": "at most 20 %"}))
    ['20', '20 %']
    """
    text = json.dumps(arguments, default=str)
    return {*_NUMBER.findall(text), *_PERCENT.findall(text)}
