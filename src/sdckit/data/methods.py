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
    sentences : tuple of str
        What a step of it does, in words, with the names of its arguments in braces: the first is said whose arguments
        are all there. After a colon stands how a value is put in words: "bands", or the "names" of a table.
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
    draws_with : str
        The argument without which it is deterministic, though it takes a seed.
    computes : str
        The argument that is a table of the columns it changes and of the formulas that they follow from.
    editors : tuple of str
        Arguments that the app edits outside the form.
    first : bool
        Whether it is the first step and alone reads the original: what follows works on the records that it made.
    not_in_recipe : mapping of str to str
        Arguments that a recipe cannot set, and what to do instead.
    """

    name: str
    title: str
    sentences: tuple[str, ...] = ()
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
    draws_with: str = ""
    computes: str = ""
    editors: tuple[str, ...] = ()
    first: bool = False
    not_in_recipe: Mapping[str, str] = field(default_factory=dict)

    @property
    def recodes(self) -> bool:
        """Whether it is a recoding: coarsens the values of its column by a rule."""
        return self.trace in ("range", "limit", "rounded")

    @property
    def banded(self) -> bool:
        """Whether the app edits bands, groups or a hierarchy for it."""
        return "bands" in self.editors


CLAUSES = {
    "how": "method: {how}",
    "strata": "in each group of {strata} by itself",
    "household": "household: {household}",
    "household_variables": "members share {household_variables}",
    "intruder": "against the intruder {intruder}",
    "suffix": "beside the originals, with {suffix} after their names",
    "m": "files made: {m}",
    "proper": "each file with parameters of its own",
}  # arguments that several methods have
KINDS = (
    MethodKind(
        name="recode", title="Coarser values",
        sentences=(
            "{column} in bands: {bands:bands}",
            "{column} in groups: {groups:names}",
            "{column} to level {level} of its hierarchy",
            "{column} one level up its hierarchy: {hierarchy}",
        ),
        clauses={
            "closed": "end that belongs to a band: {closed}", "labels": "bands called {labels}",
            "outside": "other values: {outside}", "hierarchy": "its hierarchy: {hierarchy}",
        },
        plan="values", trace="range", alike=True, effect="unknown",
        files=("hierarchy",), editors=("bands", "groups", "hierarchy", "level"),
    ),
    MethodKind(
        name="top_bottom_code", title="Cut off the ends",
        sentences=(
            "{column} cut off below {bottom} and above {top}",
            "{column} cut off above {top}",
            "{column} cut off below {bottom}",
        ),
        clauses={"to": "what was cut off becomes: {to}", "by": "in each group of {by} by itself"},
        plan="values", trace="limit", alike=True,
        numbers=("column",),
    ),
    MethodKind(
        name="round_to", title="Round numbers",
        sentences=("{column} rounded to multiples of {base}",),
        plan="values", by_record={"how": ("random",)}, trace="rounded",
        random_with={"how": "random"}, alike=True, numbers=("column",),
    ),
    MethodKind(
        name="drop_identifiers", title="Leave columns out",
        sentences=("{columns} left out of the file",),
        plan="columns", alike=True, effect="gone",
    ),
    MethodKind(
        name="new_ids", title="New identifiers",
        sentences=("{column} with new identifiers",),
        clauses={
            "length": "their digits: {length}", "block": "new ones after so many waves: {block}",
            "time": "the wave is {time}",
        },
        plan="values", alike=True, effect="text", renumbers=True,
        naming=("time",),
    ),
    MethodKind(
        name="local_suppression", title="Take out few values",
        sentences=(
            "values taken out until every combination of {keys} has at least {k} records",
            "values taken out until every combination of the keys has at least {k} records",
            "values taken out until every combination of {keys} has enough records",
            "values taken out until every combination of the keys has enough records",
        ),
        clauses={
            "importance": "importance: {importance}", "combinations": "sets of keys: {combinations}",
            "together": "taken out together: {together}", "hide_implied": "so that none follows from the others",
        },
        plan="cells",
        by_record={"hide_implied": (), "together": (), "household": ()}, trace="missing", scenario_keys=True,
        draws_with="hide_implied",
    ),
    MethodKind(
        name="suppress_above", title="Take out where risk is high",
        sentences=("values of {columns} taken out where the risk by {risk} is above {threshold}",),
        trace="missing",
    ),
    MethodKind(
        name="pram", title="Change categories at random",
        sentences=("categories of {columns} changed at random",),
        clauses={
            "pd": "each stays with a probability of at least {pd}", "alpha": "weight of the matrix: {alpha}",
            "matrix": "by a matrix of your own", "invariant": "frequencies kept in expectation",
        },
        trace="other",
    ),
    MethodKind(
        name="microaggregate", title="Means of small groups",
        sentences=(
            "{columns} averaged in groups of at least {k} similar records",
            "{columns} averaged in groups of similar records",
        ),
        clauses={"measure": "each gets the value: {measure}", "sort_by": "sorted by {sort_by}"},
        trace="other", numbers=("columns",),
    ),
    MethodKind(
        name="add_noise", title="Add noise",
        sentences=("noise of {noise} % of its standard deviation added to {columns}", "noise added to {columns}"),
        clauses={"keep_zeros": "zeros stay zeros"},
        trace="other", numbers=("columns",),
    ),
    MethodKind(
        name="rank_swap", title="Swap by rank",
        sentences=("values of {columns} swapped with others of similar rank",),
        clauses={
            "p": "ranks apart at most: {p} %", "r0": "correlation of at least {r0}",
            "k0": "change of at most {k0} of the mean", "top": "largest values averaged: {top} %",
            "bottom": "smallest values averaged: {bottom} %",
        },
        trace="other", numbers=("columns",),
    ),
    MethodKind(
        name="shuffle", title="Shuffle",
        sentences=(
            "values of {columns} shuffled by their relation to {given}",
            "values of {columns} shuffled by their relation to the others",
        ),
        trace="other", numbers=("columns",),
    ),
    MethodKind(
        name="swap_records", title="Swap households",
        sentences=("households that are rare by {keys} swapped between areas of {hierarchy}",),
        clauses={
            "k": "rare means fewer than {k} records",
            "swap_rate": "least share swapped: {swap_rate}", "similar": "partners agree in {similar}",
            "same_size": "only with households of the same size", "carry_along": "taken along: {carry_along}",
        },
        trace="other", naming=("hierarchy",), keeps=("keys",),
        by_household=True,
    ),
    MethodKind(
        name="synthesize", title="Synthetic values",
        sentences=("{columns} drawn from models of the data", "all that varies drawn from models of the data"),
        clauses={
            "n": "records made: {n}", "order": "in the order {order}", "models": "models: {models}",
            "predictors": "predicted by {predictors:names}", "rows": "in the records of {rows}",
            "fit_to": "fitted to: {fit_to}", "rules": "rules for {rules:names}",
            "min_leaf": "leaves of at least {min_leaf} records", "smoothing": "smoothed by {smoothing}",
            "transform": "transformed: {transform:names}",
        },
        trace="other",
        naming=("models", "predictors", "rules", "transform"), predictors="others", new_rows=True, unnamed=True,
    ),
    MethodKind(
        name="synthesize_margins", title="Synthetic records from protected tables",
        sentences=(
            "records drawn from tables with noise, within {domain}: ε = {epsilon} at δ = {delta}",
            "records drawn from tables rounded to multiples of {base}, within {domain}",
            "records drawn from protected tables, within {domain}",
        ),
        clauses={
            "protect": "protected by: {protect}", "cliques": "tables kept: {cliques}",
            "max_cells": "cells of a table at most: {max_cells}", "n": "records made: {n}",
            "budget": "spent from {budget}",
        },
        trace="other", files=("domain", "budget"), new_rows=True, unnamed=True, first=True,
        not_in_recipe={"tables": "them to sdckit synthesize-margins (--table), which needs no original"},
    ),
    MethodKind(
        name="mask_categorical", title="Mask categories",
        sentences=("categories of {columns} kept with a probability of {probability}, else changed",),
        trace="other",
    ),
    MethodKind(
        name="mask_continuous", title="Mask numbers",
        sentences=(
            "normal noise of standard deviation {sd} added to {columns}",
            "normal noise added to {columns} for a reliability of {reliability}",
            "normal noise added to {columns}",
        ),
        trace="other", numbers=("columns",),
    ),
    MethodKind(
        name="impute_masked", title="Draw what was masked",
        sentences=("true values of {masked:names} drawn, given the masked ones",),
        clauses={
            "error": "error of the mask: {error}", "predictors": "predicted by {predictors:names}",
            "models": "models: {models}", "iterations": "rounds: {iterations}",
        },
        trace="other",
        naming=("masked", "predictors", "models"), predictors="all",
    ),
    MethodKind(
        name="replace_high_risk", title="Replace where risk is high",
        sentences=("{replace} taken from similar records where the risk by {risk} is above {threshold}",),
        clauses={
            "match": "similar in {match}", "numeric": "of these are numbers: {numeric}",
            "k": "from the nearest records: {k}", "n_replace": "in at most so many records: {n_replace}",
            "exclude_high_risk": "never from others of high risk",
        },
        trace="other", unnamed=True,
    ),
    MethodKind(
        name="coarsen_weights", title="Coarser weights",
        sentences=("{weight} averaged over at least {k} records", "{weight} averaged over neighbouring records"),
        clauses={
            "hide": "so that it tells no {hide}", "share": "largest share of one value: {share}",
            "margins": "raked to the totals of {margins:names}",
        },
        alike=True, numbers=("weight",),
    ),
    MethodKind(
        name="limit_households", title="Limit households",
        sentences=("{household} with new numbers, so that none has more than {largest} members",),
        clauses={"size": "their size is {size}"},
        alike=True, renumbers=True,
    ),
    MethodKind(
        name="recompute", title="Compute anew",
        sentences=("{derived:names} computed anew from other columns",),
        plan="values", trace="other", numbers=("derived",), naming=("derived",),
        computes="derived",
    ),
    MethodKind(
        name="random_order", title="Random order",
        sentences=("the records in random order",),
        clauses={"household": "households stay together: {household}"},
        plan="order", alike=True,
    ),
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
