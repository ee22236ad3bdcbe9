"""What to do about a rule that gives changed values back: which column to leave out, to change or to compute anew."""

from sdckit.attacks.recovery.numeric_relations import rearranged
from sdckit.attacks.recovery.reconstruct import FILE_ORDER, ORDERED_BY
from sdckit.attacks.recovery.reconstruction_rules import Source
from sdckit.data.methods import ADVICE
from sdckit.data.scenarios.scenario_toml import toml_entry


def remedy(
    column: str, source: Source, weight: str | None, household: str | None, *, left_out: bool = False,
    as_texts: bool = False,
) -> str:  # fmt: skip
    """What to do about a source that gives values of a column back, which may be `left_out` of the release.

    `as_texts`: or go out as texts, such as ranges, of which nothing can be computed anew.

    >>> remedy("wage", Source(("total", "rest"), "total - rest", 9, "numbers", "total - rest"), None, None)
    'recompute total from the released columns (derived = { total = "wage + rest" } in the recipe), or leave it out: with rest it tells wage'
    """  # noqa: E501
    if source.kind == "order":
        return _order_remedy(column, source.words)
    if source.columns == (column,) or source.kind == "cells":
        return _absence_remedy(column, source)
    coarser_weight = f"{ADVICE['weight']}".format(weight=weight)
    others = [name for name in source.columns if name != weight]
    names = " and ".join(others)
    names, it_tells = (f"one of {names}", "together they tell") if len(others) > 1 else (names, "it tells")
    if left_out:
        return f"{f'leave out {names}, too' if others else coarser_weight}: {it_tells} {column}"
    if source.kind == "numbers":
        return _arithmetic_remedy(column, source, as_texts=as_texts)
    if weight is not None and weight in source.columns:
        return f"{coarser_weight}, or leave it out: it tells {column}"
    if source.kind == "text":
        return f"leave out {names}, or change it as {column} was changed: it tells {column} ({source.words})"
    if source.kind == "table":
        return f"recode {names} as {column} was changed, or leave it out: a code table tells {column} by it"
    if source.kind == "linked":
        companion = next(name for name in source.columns if name != column)
        return (
            f"leave out {companion}, or change {column} alike in all rows that belong together: it tells "
            f"{column} ({source.words})"
        )
    if household is not None and household in source.columns:
        if source.kind == "counted":
            return f"leave {household} out, or {ADVICE['rows_of_households']}: its rows count {column}"
        if source.kind == "divided" or len(source.columns) > 1:  # mates who are alike in another column, not all mates
            return f"suppress {household} together with {column} (together), or leave it out: the mates tell {column}"
        return f"add {column} to household_variables, to protect it once for all mates: they give it back"
    return f"coarsen or leave out {names}, or suppress it together with {column}: {it_tells} {column}"


def _absence_remedy(column: str, source: Source) -> str:
    if source.kind == "numbers":
        return (
            f"change {column} more, by other amounts from person to person, or leave it out: one rule undoes it for all"
        )
    if source.kind == "beside":
        return (
            f"{ADVICE['what_follows']}, or put categories of {column} together: what is missing is the only one that "
            "no record shows beside the other keys"
        )
    if source.kind == "cells":
        names = " and ".join(source.columns)
        return f"put categories of {names} together, or suppress others, too: no record shows what is missing"
    return (
        f"put categories of {column} together, or suppress other values of it, too: what is missing is the one that no "
        "record shows"
    )


def _order_remedy(column: str, words: str) -> str:
    """Whatever the rows are sorted by, or the column that a file in another order could be sorted by."""
    if words == FILE_ORDER or not words.startswith(ORDERED_BY):
        return f"{ADVICE['row_order']}: neighbours tell values"
    name = words.removeprefix(ORDERED_BY)
    if name == column:
        return f"change {column} more, or leave it out: its values stand in the order of the original ones"
    return f"leave out {name}, or {ADVICE['sorted_by']}: rows sorted by it tell {column}"


def _arithmetic_remedy(column: str, source: Source, *, as_texts: bool) -> str:
    """The companion that is a sum of the others is to follow from what is released; else the first that can be."""
    formulas = {name: text for name, text in rearranged(column, source.formula).items() if name in source.columns}
    if as_texts or len(formulas) != len(source.columns):
        names = " or ".join(name for name in source.columns if name != column)
        return (
            f"leave out {names}, or change it as {column} was changed: {source.formula or source.words} tells {column}"
        )
    name, formula = min(formulas.items(), key=lambda pair: pair[1].count("-"))
    beside = " and ".join(other for other in source.columns if other != name)
    told = f"with {beside} it tells" if beside else "it tells"
    entry = f"derived = {{ {toml_entry(name, formula)} }}"
    return f"recompute {name} from the released columns ({entry} in the recipe), or leave it out: {told} {column}"
