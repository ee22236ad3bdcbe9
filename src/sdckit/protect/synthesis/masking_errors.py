"""How values were masked: the noise of a number, the confusion of categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.data import arguments
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.protect.synthesis.synthesis_variables import MISSING, Variable


@dataclass(frozen=True, eq=False)
class MaskedVariable:
    """A variable, its masked copy, and how the one became the other."""

    variable: Variable
    copy: str
    number: Floats | None  # shape (n,); the masked numbers
    sd: float  # of the noise of numbers
    level: Ints | None  # shape (n,); the masked levels, among those of the variable
    log_confusion: (
        Floats | None
    )  # shape (L, L); log probability of each masked level (columns) given the true one

    @property
    def name(self) -> str:
        """The variable."""
        return self.variable.name


def read_masked(
    variables: Mapping[str, Variable], copies: Mapping[str, str], errors: Mapping[str, Any]
) -> list[MaskedVariable]:
    """Read masked copies and their errors.

    Raises `ColumnError`: errors for other variables than those masked; `DataError`: an error of 0, or above the
    variable's spread; a matrix that holds no probabilities; a copy of another kind, or missing elsewhere.
    """
    if set(copies) != set(errors):
        odd = sorted(set(copies) ^ set(errors))[0]
        says = f"error= says for exactly the variables of masked= how they were masked; {odd!r} is in one of them only"
        raise ColumnError(says, argument="error")
    return [_read(variables[name], variables[copy], errors[name]) for name, copy in copies.items()]


def _read(one: Variable, copy: Variable, error: Any) -> MaskedVariable:
    gone = one.held.level == MISSING
    if not np.array_equal(gone, copy.held.level == MISSING):
        says = f"masked: {copy.name!r} is missing elsewhere than {one.name!r}; mask after missing values are settled"
        raise DataError(says, argument="masked")
    if one.kind not in {"number", "category"} or copy.kind != one.kind:
        kinds = f"{one.name!r} is a {one.kind} and {copy.name!r} a {copy.kind}"
        says = f"masked: {kinds}; give two numbers or two categories"
        raise DataError(says, argument="masked")
    if one.held.number is not None:
        assert copy.held.number is not None
        sd = arguments.amount_above(
            error, "error", f"is the standard deviation of the noise in {copy.name!r}"
        )
        spread = float(np.nanstd(one.held.number, ddof=1))
        if not sd <= spread:
            says = (
                f"error of {one.name!r}: noise of {sd:g} is wider than the variable itself; give its standard "
                "deviation in the variable's units"
            )
            raise DataError(says, argument="error")
        return MaskedVariable(one, copy.name, copy.held.number, sd, None, None)
    matrix = _confusion(one, error)
    with np.errstate(divide="ignore"):
        return MaskedVariable(one, copy.name, None, 0.0, _levels_in(one, copy), np.log(matrix))


def _levels_in(one: Variable, copy: Variable) -> Ints:
    """The masked levels as those of the variable."""
    place = {text: at for at, text in enumerate(one.texts)}
    if any(text not in place for text in copy.texts):
        says = f"masked: {copy.name!r} holds a category that {one.name!r} does not have"
        raise DataError(says, argument="masked")
    table = np.array([*(place[text] for text in copy.texts), MISSING], np.int64)
    return np.asarray(table[copy.held.level], np.int64)


def _confusion(one: Variable, error: Any) -> Floats:
    """Probability of each masked level (columns) given the true one (rows)."""
    size = one.n_levels
    if arguments.is_number(error):
        stay = arguments.within(error, "error", f"is the probability that {one.name!r} stays", 0, 1, "()")
        return np.full((size, size), (1 - stay) / (size - 1)) + np.eye(size) * (
            stay - (1 - stay) / (size - 1)
        )
    how = (
        f"error of {one.name!r}: give the probability of staying, or of each masked category by the true one"
    )
    if isinstance(error, Mapping):
        if set(error) - set(one.texts) or any(not isinstance(row, Mapping) for row in error.values()):
            raise DataError(how, argument="error")
        rows: Sequence[Any] = [
            [error.get(true, {}).get(text, 0.0) for text in one.texts] for true in one.texts
        ]
    else:
        rows = error
    try:
        matrix = np.asarray(rows, np.float64)
    except (TypeError, ValueError):
        raise DataError(how, argument="error") from None
    if matrix.shape != (size, size) or not (matrix >= 0).all() or np.abs(matrix.sum(axis=1) - 1).max() > 1e-6:
        says = f"{how}; {size} rows of {size} that sum to 1, in the order {', '.join(one.texts[:3])}, ..."
        raise DataError(says, argument="error")
    if np.array_equal(matrix, np.eye(size)):
        says = f"error of {one.name!r}: nothing is masked, there is nothing to draw; leave it out"
        raise DataError(says, argument="error")
    return matrix
