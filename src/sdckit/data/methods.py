"""The protection methods, one row each: effect on values, need of a lazy frame, and visible traces.

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
    """A row: everything known about a protection method.

    Attributes
    ----------
    name : str
        Name of the public function, and of the method in a recipe.
    title : str
        Its name in the app.
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
    draws_with : str
        The argument without which it is deterministic, though it takes a seed.
    computes : str
        The argument that is a table of the columns it changes and of the formulas that they follow from.
    editors : tuple of str
        Arguments that the app edits outside the form.
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
    computes: str = ""
    editors: tuple[str, ...] = ()

    @property
    def recodes(self) -> bool:
        """Whether it is a recoding: coarsens the values of its column by a rule."""
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
        naming=("time",),
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
        name="synthesize", title="Synthetic values", trace="other",
        naming=("models", "predictors", "rules", "transform"), predictors="others", new_rows=True, unnamed=True,
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
    MethodKind(
        name="recompute", title="Compute anew", plan="values", trace="other", numbers=("derived",), naming=("derived",),
        computes="derived",
    ),
    MethodKind(name="random_order", title="Random order", plan="order", alike=True),
)  # fmt: skip
METHODS = {kind.name: kind for kind in KINDS}
RECOMPUTING = next(kind for kind in KINDS if kind.computes)  # what a recipe's entry of that name stands for


def kind_of(name: str) -> MethodKind:
    """The row of a method; an empty row for a name that only the log of another version knows.

    Examples
    --------
    >>> kind_of("round_to").trace, kind_of("of_tomorrow").trace
    ('rounded', '')
    """
    return METHODS.get(name) or MethodKind(name=name, title=name)
