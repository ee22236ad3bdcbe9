"""Formula and files to outcomes and design matrices, coded alike in every file."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.pair import Pair
from sdckit.data.columns import first_rows
from sdckit.data.formula_text import FUNCTIONS, Sides
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats
from sdckit.utility.models.term_names import common_levels, told_names

MOST_LEVELS = 1000


@dataclass(frozen=True, eq=False)
class Design:
    """One file for a model.

    `rows`: records without a missing value in the columns used. `matrix` (n, p): a column per term. `outcome` (n,):
    the left side where it is an expression; None where it is a column.
    """

    rows: NDArray[np.int64]
    matrix: Floats
    outcome: Floats | None


def column_values(pair: Pair, name: str, *, as_category: bool = False) -> tuple[Any, ...]:
    """A column of each file for a formula: floats, or categories with the levels of all files.

    True and false are 1 and 0; text, categories and dates are categories, numbers with `as_category` too.

    Raises DataError: more than 1,000 categories, or no value at all.
    """
    import pandas as pd

    if ("numbers", name) in pair.memo and not as_category:
        return pair.numbers(name)
    shared = pair.codes(name)
    if shared.kind == "numbers" and not as_category:
        return pair.numbers(name)
    labels = shared.labels()[1:]
    if shared.kind == "true and false" and not as_category:
        one = np.array([np.nan, *(float(label == "True") for label in labels)])
        return tuple(one[codes] for codes in shared.codes)
    if shared.n_levels == 0:
        raise DataError(f"formula: {name!r} has no value at all", argument="formula")
    if shared.n_levels > MOST_LEVELS:
        raise DataError(
            f"formula: {name!r} has {shared.n_levels} categories; group them first, or convert the column to numbers",
            argument="formula",
        )
    # A base level must have records in every file: levels that a file lacks come last.
    present = np.array([np.bincount(codes, minlength=len(labels) + 1)[1:] > 0 for codes in shared.codes]).all(
        axis=0
    )
    order = np.argsort(~present, kind="stable")
    place = np.concatenate([[-1], np.argsort(order)])
    ordered = [labels[j] for j in order.tolist()]
    return tuple(pd.Categorical.from_codes(place[codes], ordered) for codes in shared.codes)


def designs(
    pair: Pair, sides: Sides, complete: Sequence[NDArray[np.bool_]]
) -> tuple[tuple[str, ...], tuple[str, ...], list[Design]]:
    """Names of the terms, the same without levels of a few records, and the design of each file, the original first.

    `complete`: records of each file that the caller can use otherwise (weights, outcome). Raises DataError: the
    formula cannot be evaluated; a term is not finite, with the rows; no complete record is left.

    What a transformation takes from the data (the knots of a spline, a mean) is taken from the original and
    kept for the releases.
    """
    import pandas as pd

    columns = {
        name: column_values(pair, name, as_category=name in sides.categories) for name in sides.columns
    }
    files = [
        pd.DataFrame({name: values[j] for name, values in columns.items()}, index=range(len(usable)))
        for j, usable in enumerate(complete)
    ]
    names: tuple[str, ...] = ()
    spec: Any = sides.terms
    left: Any = None if sides.outcome_column is not None else f"0 + {sides.outcome}"
    out = []
    for label, frame, usable in zip(pair.names, files, complete, strict=True):
        rows = np.flatnonzero(frame.notna().all(axis=1).to_numpy() & usable)
        if len(rows) == 0:
            raise DataError(f"{label}: no record has a value in every column of the formula")
        part = frame.iloc[rows]
        matrix, names, spec = _evaluated(spec, part, rows, label)
        outcome = None
        if left is not None:
            values, outcome_names, left = _evaluated(left, part, rows, label)
            if len(outcome_names) != 1:
                raise DataError(
                    "formula: the left side must be one number per record, or the name of a column",
                    argument="formula",
                )
            outcome = values[:, 0]
        out.append(Design(rows, matrix, outcome))
    return names, told_names(names, spec, common_levels(files[0], list(columns))), out


def _evaluated(
    spec: Any, frame: Any, rows: NDArray[np.int64], label: str
) -> tuple[Floats, tuple[str, ...], Any]:
    """Columns of one side, their names, and what evaluates them for the next file."""
    from formulaic import Formula
    from formulaic.errors import DataMismatchWarning

    context = {"np": np, **{name: getattr(np, name) for name in FUNCTIONS}}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", DataMismatchWarning)
            evaluate = Formula(spec) if isinstance(spec, str) else spec
            found = evaluate.get_model_matrix(frame, context=context, na_action="ignore", output="pandas")
            values = found.to_numpy(np.float64)
    except DataMismatchWarning:
        raise DataError(
            f"{label}: a variable that stands in C() and elsewhere has values that the original has not; give C() "
            "a column of its own"
        ) from None
    except Exception as error:  # noqa: BLE001 - the formula is the caller's, and messages may show values
        raise DataError(
            f"{label}: the formula cannot be evaluated ({type(error).__name__}); check its brackets, that "
            "functions are given numbers, and that splines say extrapolation='extend' where a release reaches farther"
        ) from None
    names = tuple(str(name) for name in found.columns)
    if len(names) == 0:
        raise DataError(
            "formula: there is no term on the right; give at least the constant 1", argument="formula"
        )
    for name, column in zip(names, values.T, strict=True):
        if len(wrong := rows[~np.isfinite(column)]):
            where = np.zeros(int(rows[-1]) + 1, bool)
            where[wrong] = True
            raise DataError(
                f"{label}: {name} is not a finite number in {first_rows(where)}; change the formula"
            )
    return values, names, found.model_spec
