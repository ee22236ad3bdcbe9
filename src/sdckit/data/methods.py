"""The protection methods, one row each: effect on values, need of a lazy frame, and visible traces.

The rows stand in `methods.toml`. Recipes, plans, checks, logs, recovery, recognition and the forms of the app ask
them: a new method is its function, a row there, its test and its page. Rows are plain data; a method's arguments are
read from its signature.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sdckit.data.packaged import packaged, rows

Plan = Literal["values", "cells", "records", "columns", "order"]
Trace = Literal["", "missing", "other", "range", "limit", "rounded"]
Effect = Literal["same", "gone", "text", "unknown"]


@dataclass(frozen=True, kw_only=True)
class MethodKind:
    """A row: everything known about a protection method.

    Attributes
    ----------
    name : str
        Name of the public function, and of the method in a recipe.
    title : str
        Its name in the app.
    sentences : tuple of str
        What a step of it does, in words, with the names of its arguments in braces: the first is said whose arguments
        are all there. After a colon stands how a value is put in words: "bands", the "names" of a table, or a "word"
        that is translated.
    of_risk : mapping of str to str
        The sentence where records are above 0 by this measure, as the argument `risk` names it.
    clauses : mapping of str to str
        What an argument adds to the sentence; that of several methods stands in `CLAUSES`.
    plan : str
        What it needs of a lazy frame: the distinct "values" of the columns it names, the "cells" of the keys, whole
        "columns", the "order" of the records, or individual "records".
    by_record : mapping of str to tuple
        Arguments with which it needs records nevertheless: with these values, or any value if the tuple is empty.
    trace : str
        How a changed value looks in the release: "missing", an "other" value, a "range", a "limit" (the arguments
        ``top`` and ``bottom``), or "rounded" (to multiples of the argument ``base``); "" where it changes no value of
        interest to an intruder. Range, limit and rounding are recodings of the column under ``column``.
    random_with : mapping
        Arguments with which a recoding is random instead of deterministic.
    alike : bool
        Whether equal values stay equal in all records, so that it suppresses nothing in single records.
    effect : str
        Effect on the type of the columns under ``column`` or ``columns``: "same" type, "gone", "text", or "unknown"
        until the step has run.
    numbers : tuple of str
        Arguments whose columns must be numeric.
    naming : tuple of str
        Further arguments that name columns, beyond those common to all methods.
    keeps : tuple of str
        Arguments whose columns it does not change.
    files : tuple of str
        Arguments that are paths, relative to the folder of the recipe.
    scenario_keys : bool
        Whether it uses the keys of the scenario by default.
    predictors : str
        Default predictors: "all" columns, or the "others" that are not synthesized.
    new_rows : bool
        Whether it can draw new rows that belong to no person.
    unnamed : bool
        Whether it may change columns that no argument names.
    by_household : bool
        Whether it needs the household though it has no argument ``household_variables``.
    renumbers : bool
        Whether it renumbers the households of the column under ``household``.
    draws_with : tuple of str
        The arguments without any of which it is deterministic, though it takes a seed.
    computes : str
        The argument that is a table of the columns it changes and of the formulas that they follow from.
    editors : tuple of str
        Arguments that the app edits outside the form.
    first : bool
        Whether it is the first step and alone reads the original: what follows works on the records that it made.
    not_in_recipe : mapping of str to str
        Arguments that a recipe cannot set, and what to do instead.
    warm : mapping
        With which arguments it is run ahead of use, on the file of `warm_up`, to compile its kernels; empty without.
    """

    name: str
    title: str
    sentences: tuple[str, ...] = ()
    of_risk: Mapping[str, str] = field(default_factory=dict)
    clauses: Mapping[str, str] = field(default_factory=dict)
    plan: Plan = "records"
    by_record: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    trace: Trace = ""
    random_with: Mapping[str, object] = field(default_factory=dict)
    alike: bool = False
    effect: Effect = "same"
    numbers: tuple[str, ...] = ()
    naming: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    scenario_keys: bool = False
    predictors: Literal["", "all", "others"] = ""
    new_rows: bool = False
    unnamed: bool = False
    by_household: bool = False
    renumbers: bool = False
    draws_with: tuple[str, ...] = ()
    computes: str = ""
    editors: tuple[str, ...] = ()
    first: bool = False
    not_in_recipe: Mapping[str, str] = field(default_factory=dict)
    warm: Mapping[str, object] = field(default_factory=dict)

    @property
    def recodes(self) -> bool:
        """Whether it is a recoding: coarsens the values of its column by a rule."""
        return self.trace in ("range", "limit", "rounded")

    @property
    def banded(self) -> bool:
        """Whether the app edits bands, groups or a hierarchy for it."""
        return "bands" in self.editors


class Ways(dict[str, str]):
    """What helps against something, in the words of advice, by the method that does it.

    >>> f"{ADVICE['linking_number']}", f"{ADVICE['linking_number']:or}"
    ('round it (round_to), add noise (add_noise)', 'round it (round_to) or add noise (add_noise)')
    """

    def __format__(self, last: str) -> str:
        """The ways, each with its method in brackets; the last one after a comma, or this word."""
        ways = [f"{words} ({method})" for method, words in self.items()]
        if last:
            ways[-2:] = [f" {last} ".join(ways[-2:])]
        return ", ".join(ways)


_TABLE = packaged("data/methods.toml")
ADVICE = {about: Ways(ways) for about, ways in _TABLE["advice"].items()}
CLAUSES: dict[str, str] = _TABLE["clauses"]  # of arguments that several methods have
METHODS = {kind.name: kind for kind in rows(MethodKind, _TABLE["methods"])}
MIXING = next(kind for kind in METHODS.values() if kind.plan == "order")
RECOMPUTING = next(kind for kind in METHODS.values() if kind.computes)  # what a recipe's entry of that name stands for


def kind_of(name: str) -> MethodKind:
    """The row of a method; an empty row for a name that only the log of another version knows.

    Examples
    --------
    >>> kind_of("round_to").trace, kind_of("of_tomorrow").trace
    ('rounded', '')
    """
    return METHODS.get(name) or MethodKind(name=name, title=name)
