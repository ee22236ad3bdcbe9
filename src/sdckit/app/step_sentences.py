"""A step of a recipe as a sentence: the words of its method's row, filled with its arguments."""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath
from string import Formatter
from typing import Any

from sdckit.app.page_context import Say
from sdckit.catalogue import CATALOGUE
from sdckit.data.methods import CLAUSES, kind_of

NAMED = ("column", "columns", "keys", "weight", "household")  # what a step is about, where its method has no sentence
LONGEST = 200  # letters of a sentence
WORD = 30  # letters of a name in it
LIST = 50  # letters of the names of a list in it
MADE = 3  # groups of a table that are named


def summary(say: Say, method: str, arguments: Mapping[str, Any]) -> str:
    """A step as a sentence in the session's language.

    Tables are counted, or named by what they make or the columns they are for, never by the values in them.

    Examples
    --------
    >>> from sdckit.app.page_context import speaker
    >>> summary(speaker("en"), "recode", {"column": "age", "bands": [None, 40, 60, None]})
    'age in bands: below 40, 40 to below 60, 60 and more'
    >>> summary(speaker("de"), "round_to", {"column": "pay", "base": 0.5})
    'pay auf Vielfache von 0,5 gerundet'
    """
    kind = kind_of(method)
    given = {name: value for name, value in arguments.items() if value not in (None, "", [], (), {})}
    given |= {name: PurePath(given[name]).name for name in kind.files if isinstance(given.get(name), str)}
    generic = say("applied to {c}", c=next((f"{{{name}}}" for name in NAMED if name in given), say("the file")))
    by_measure = kind.of_risk.get(str(given.get("risk"))) if given.get("threshold") == 0 else None
    if by_measure is not None:  # says both in other words
        given = {name: value for name, value in given.items() if name not in ("risk", "threshold")}
    sentences = kind.sentences if by_measure is None else (by_measure, *kind.sentences)
    sentence = next((say(text) for text in sentences if _places(text) <= given.keys()), generic)
    parts, further = [_filled(say, sentence, given)], 0
    clauses = {**CLAUSES, **kind.clauses}
    for name in [name for name in given if name not in _places(sentence)]:
        clause = _clause(say, name, clauses.get(name, ""), given)
        if len("; ".join([*parts, clause])) <= LONGEST - WORD:
            parts.append(clause)
        else:
            further += 1
    return "; ".join([*parts, say("further options: {n}", n=further)] if further else parts)


def _places(text: str) -> set[str]:
    """The arguments that a sentence names."""
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def _measure(name: str) -> str:
    """The measure that a step goes by, as one writes it."""
    return re.sub("^([a-z])_", r"\1-", name).replace("_", " ") if "_" in name else name.upper()


def _filled(say: Say, text: str, given: Mapping[str, Any]) -> str:
    """A sentence with its arguments in words; the text is translated before, so that a name is never taken for it."""
    words = ""
    for before, name, how, _ in Formatter().parse(text):
        words += before
        if name and how == "bands":
            words += _bands(say, given[name], closed=given.get("closed", "left"))
        elif name and how == "names" and isinstance(given[name], Mapping):
            words += _listed(say, [_value(say, str(made)) for made in given[name]], MADE)
        elif name and how == "word":
            words += say(str(given[name]))
        elif name == "risk" and any(given[name] == row.name for row in CATALOGUE):
            words += say(_measure(given[name]))
        elif name:
            words += _value(say, given[name])
    return words


def _clause(say: Say, name: str, clause: str, given: Mapping[str, Any]) -> str:
    """What an argument adds to the sentence."""
    if given[name] is False:
        return say("without the option {c}", c=name)
    if clause:
        return _filled(say, say(clause), given)
    if given[name] is True:
        return say("with the option {c}", c=name)
    return say("with the option {c} at {c2}", c=name, c2="{c}").replace("{c}", _value(say, given[name]))


def _value(say: Say, value: Any) -> str:
    """An argument in words: a name, a number, a list of names; of a table or a list of numbers how long it is."""
    if isinstance(value, str):
        return value if len(value) <= WORD else value[: WORD - 1] + "…"
    if isinstance(value, bool):
        return say("yes") if value else say("no")
    if isinstance(value, int | float):
        return say(f"{value:.12g}")
    names = list(value) if isinstance(value, list | tuple) else []
    if names and all(isinstance(name, str) for name in names):
        return _listed(say, [_value(say, name) for name in names])
    return say("a list of {n}", n=len(value)) if isinstance(value, Mapping | list | tuple) else str(value)


def _listed(say: Say, names: Sequence[str], most: int = LIST) -> str:
    """Names in a row; of many the first, and how many more."""
    shown = max((at for at in range(1, min(most, len(names)) + 1) if sum(map(len, names[:at])) <= LIST), default=1)
    shown += shown == len(names) - 1 and shown < most
    row, more = ", ".join(names[:shown]), len(names) - shown
    return say("{l} and {n} more", l="{l}", n=more).replace("{l}", row) if more else row


def _bands(say: Say, bands: Any, *, closed: str) -> str:
    """Bands in words: between edges, by their names, or so many of them."""
    if isinstance(bands, Mapping):
        return _listed(say, [_value(say, str(name)) for name in bands])
    if not isinstance(bands, list | tuple):
        return say("{n} cut from the data", n=bands)
    if not all(edge is None or isinstance(edge, int | float) for edge in bands):
        return _value(say, bands)
    edges = ["" if edge is None or math.isinf(edge) else f"{edge:.12g}" for edge in bands]
    words = ("up to {n}", "above {n}", "above {n} to {n2}") if closed == "right" else (
        "below {n}", "{n} and more", "{n} to below {n2}",
    )  # fmt: skip
    named = [
        say(words[2], n=low, n2=high) if low and high else say(words[1], n=low) if low else say(words[0], n=high)
        for low, high in pairwise(edges)
    ]
    return _listed(say, named)
