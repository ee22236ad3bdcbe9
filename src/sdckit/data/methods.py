"""The protection methods, a row each: what each does to values, what it takes of a plan, and what it leaves to see.

Recipes, plans, checks, logs, recovery, recognition and the forms of the app ask these rows: a new method is its
function, a row here, its test and its page. Rows are plain data; a method's arguments are read from its signature.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Plan = Literal["values", "cells", "records", "columns", "order"]
Trace = Literal["", "missing", "other", "range", "limit", "rounded"]
Effect = Literal["same", "gone", "text", "unknown"]


@dataclass(frozen=True, kw_only=True)
class MethodKind:
    """What a protection method is.

    Attributes
    ----------
    name : str
        Of the public function, and of the method in a recipe.
    title : str
        What the app calls it.
    plan : str
        What it takes of a plan: the distinct "values" of the columns it names, the "cells" of the keys, whole
        "columns", the "order" of the records, or "records", one by one.
    by_record : mapping of str to tuple
        Arguments with which it takes records all the same: with these values, or with any where the tuple is empty.
    trace : str
        What it leaves to see in a value it changed: that it is "missing", an "other" value, a "range", a "limit" (the
        arguments ``top`` and ``bottom``), or "rounded" (to multiples of the argument ``base``); "" where it changes
        no value that an intruder wants. A range, a limit and rounding are recodings of the column under ``column``.
    random_with : mapping
        Arguments with which a recoding is no rule but chance.
    alike : bool
        It shows of a value the same in every record that has it, and so hides none of single records.
    effect : str
        What becomes of the columns under ``column`` or ``columns``: they stay of the "same" type, are "gone", are
        "text", or their type is "unknown" until the step has run.
    numbers : tuple of str
        Arguments whose columns must hold numbers.
    naming : tuple of str
        Arguments that name columns, beyond those that do so in every method.
    keeps : tuple of str
        Arguments whose columns it leaves as they are.
    files : tuple of str
        Arguments that are paths, from the folder of the recipe.
    scenario_keys : bool
        It takes the keys of the scenario where none are named.
    predictors : str
        Which columns predict where nothing is said: "all", or the "others" that are not drawn.
    new_rows : bool
        It can draw rows that are nobody's.
    unnamed : bool
        It may change columns that no argument names.
    by_household : bool
        It needs the household though it has no argument ``household_variables``.
    renumbers : bool
        It gives new numbers to the households of the column under ``household``.
    draws_with : str
        The argument without which it draws nothing, though it takes a seed.
    editors : tuple of str
        Arguments that the app edits elsewhere than in the form.
    """

    name: str
    title: str
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
    draws_with: str = ""
    editors: tuple[str, ...] = ()

    @property
    def recodes(self) -> bool:
        """Whether it makes the values of its column coarser by a rule."""
        return self.trace in ("range", "limit", "rounded")

    @property
    def banded(self) -> bool:
        """Whether the app edits bands, groups or a hierarchy for it."""
        return "bands" in self.editors


KINDS = (
    MethodKind(
        name="recode", title="Coarser values", plan="values", trace="range", alike=True, effect="unknown",
        files=("hierarchy",), editors=("bands", "groups", "hierarchy", "level"),
    ),
    MethodKind(
        name="top_bottom_code", title="Cut off the ends", plan="values", trace="limit", alike=True,
        numbers=("column",),
    ),
    MethodKind(
        name="round_to", title="Round numbers", plan="values", by_record={"how": ("random",)}, trace="rounded",
        random_with={"how": "random"}, alike=True, numbers=("column",),
    ),
    MethodKind(
        name="drop_identifiers", title="Leave columns out", plan="columns", alike=True, effect="gone",
    ),
    MethodKind(
        name="new_ids", title="New identifiers", plan="values", alike=True, effect="text", renumbers=True,
    ),
    MethodKind(
        name="local_suppression", title="Take out few values", plan="cells",
        by_record={"hide_implied": (), "together": (), "household": ()}, trace="missing", scenario_keys=True,
        draws_with="hide_implied",
    ),
    MethodKind(name="suppress_above", title="Take out where risk is high", trace="missing"),
    MethodKind(name="pram", title="Change categories at random", trace="other"),
    MethodKind(name="microaggregate", title="Means of small groups", trace="other", numbers=("columns",)),
    MethodKind(name="add_noise", title="Add noise", trace="other", numbers=("columns",)),
    MethodKind(name="rank_swap", title="Swap by rank", trace="other", numbers=("columns",)),
    MethodKind(name="shuffle", title="Shuffle", trace="other", numbers=("columns",)),
    MethodKind(
        name="swap_records", title="Swap households", trace="other", naming=("hierarchy",), keeps=("keys",),
        by_household=True,
    ),
    MethodKind(
        name="synthesize", title="Synthetic values", trace="other", naming=("models", "predictors", "rules"),
        predictors="others", new_rows=True, unnamed=True,
    ),
    MethodKind(name="mask_categorical", title="Mask categories", trace="other"),
    MethodKind(name="mask_continuous", title="Mask numbers", trace="other", numbers=("columns",)),
    MethodKind(
        name="impute_masked", title="Draw what was masked", trace="other",
        naming=("masked", "predictors", "models"), predictors="all",
    ),
    MethodKind(name="replace_high_risk", title="Replace where risk is high", trace="other", unnamed=True),
    MethodKind(name="coarsen_weights", title="Coarser weights", alike=True, numbers=("weight",)),
    MethodKind(name="limit_households", title="Limit households", alike=True, renumbers=True),
    MethodKind(name="random_order", title="Random order", plan="order", alike=True),
)  # fmt: skip
METHODS = {kind.name: kind for kind in KINDS}


def kind_of(name: str) -> MethodKind:
    """The row of a method; of one that only the log of another version knows, one that says nothing.

    Examples
    --------
    >>> kind_of("round_to").trace, kind_of("of_tomorrow").trace
    ('rounded', '')
    """
    return METHODS.get(name) or MethodKind(name=name, title=name)
