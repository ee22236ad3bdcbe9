"""Programmes in whole numbers, solved once more where the solver itself fails."""

from __future__ import annotations

from typing import Any

SOLVER_FAILED = 4  # in SciPy's words: neither solved, nor infeasible, nor given up at a limit


def solve_programme(goal: Any, *, options: dict[str, Any] | None = None, **more: Any) -> Any:
    """Do as `scipy.optimize.milp`; where HiGHS stumbles over what it made simpler first, take the programme as it is.

    Parameters
    ----------
    goal : array of float (V,)
        What is made smallest.
    options, more
        As of `scipy.optimize.milp`.

    Examples
    --------
    >>> import numpy as np
    >>> solve_programme(np.array([1.0]), integrality=np.array([1]), bounds=(1.5, 4.0)).x
    array([2.])
    """
    from scipy.optimize import milp

    given = options or {}  # each call takes a copy: SciPy takes out what it has read
    found = milp(goal, options={**given}, **more)
    if found.status == SOLVER_FAILED:
        found = milp(goal, options={**given, "presolve": False}, **more)
    return found
