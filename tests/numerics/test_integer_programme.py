"""A programme is solved, or said to have no solution; where the solver fails it is tried in another way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import LinearConstraint

from sdckit.numerics.integer_programme import SOLVER_FAILED, solve_programme

GOAL = np.array([1.0, 2.0])
MORE = {
    "integrality": np.ones(2),
    "bounds": (0.0, 9.0),
    "constraints": LinearConstraint(np.array([[2.0, 3.0]]), 7.0, 12.0),
}


def test_the_solution_is_that_of_all_points() -> None:
    points = [(x, y) for x in range(10) for y in range(10) if 7 <= 2 * x + 3 * y <= 12]
    found = solve_programme(GOAL, **MORE)
    assert found.fun == min(x + 2 * y for x, y in points)
    assert tuple(found.x.round()) in points


def test_what_cannot_be_is_said() -> None:
    none = LinearConstraint(np.array([[2.0, 2.0]]), 3.0, 3.0)
    assert solve_programme(GOAL, **{**MORE, "constraints": none}).status == 2


def test_where_the_solver_fails_it_is_asked_again_without_its_first_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    real = scipy.optimize.milp

    def stumbles(goal: Any, *, options: Any = None, **more: Any) -> Any:
        asked.append(dict(options))
        found = real(goal, options=options, **more)
        if len(asked) == 1:
            found.status, found.x = SOLVER_FAILED, None
        return found

    monkeypatch.setattr(scipy.optimize, "milp", stumbles)
    assert solve_programme(GOAL, options={"node_limit": 5}, **MORE).x is not None
    assert asked == [{"node_limit": 5}, {"node_limit": 5, "presolve": False}]
