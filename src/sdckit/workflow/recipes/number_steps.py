"""Steps of a recipe for numbers that dominate their group and would go out as they are."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sdckit.attribute.disclosure.exact_numbers import DEFAULT_K, exact_numbers
from sdckit.data.columns import float_values
from sdckit.data.replace import open_eager
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import printable
from sdckit.errors import SdcError
from sdckit.identity.contributions.coarsening import in_bands

Step = dict[str, Any]
FEWEST_ABOVE = 5  # values at the highest edge of the size classes, or above it
LEAST_WHOLE = 10  # a class of whole numbers below would hold one or two of them
DECADES = 4
WIDE, NARROW = (1, 2, 5), (1, 1.3, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8)  # no narrow one is told to within 10 %
MOST_IN_TWO = 0.9  # of the numbers, in the two classes that hold most of them
MANY = 50  # numbers, whose classes may be narrow
TIMES = (1, 2, 4)  # the smallest group of means, by k
OTHERWISE = (
    "Instead, where the check holds: top_bottom_code, add_noise or round_to; another column of groups: number_groups."
)
MEANS = "{}: numbers that dominate their group went out as they are. Now means of {} neighbours or more of a group."
CLASSES = "{}: numbers that dominate their group went out as they are. Now in size classes with round edges."
NO_STEP = "No step for {}: numbers that dominate their group go out as they are; leave it out, or make it coarser."


def exact_columns(original: Any, released: Any, scenario: Scenario) -> list[str]:
    """Columns that exceed the limit on numbers released as they are, row by row, for any intruder; none without one.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit import Scenario
    >>> firms = pl.DataFrame({"region": ["n", "n", "n"], "turnover": [900, 20, 10]})
    >>> scenario = Scenario(keys=["region"], magnitudes=["turnover"], thresholds={"exact_numbers": 0.0})
    >>> exact_columns(firms, firms, scenario)
    ['turnover']
    """
    by_intruder = (
        exact_numbers(original, released, scenario=scenario.intruder(name), aligned=True) for name in scenario.intruders
    )
    return columns_beyond(by_intruder, scenario) if scenario.judged_numbers else []


def columns_beyond(results: Iterable[Any], scenario: Scenario) -> list[str]:
    """Columns of `exact_numbers` above the limit of the scenario, in the first release; none without a limit."""
    if (limit := scenario.limits_of(compared=True).exact_numbers) is None:
        return []
    columns = (column for result in results for column in result.columns[0])
    return list(dict.fromkeys(column.column for column in columns if column.share > limit))


def size_classes(column: str, values: np.ndarray[Any, Any]) -> Step | None:
    """The step that puts a number in classes whose edges are 1, 2 and 5 times powers of ten; None without an edge.

    Where two of these would hold nearly all numbers, as of wages in logarithms, there are ten to a power of ten.
    Losses are put in classes as gains are.

    No number of such a class is told to within 10 %, whoever dominates a group.

    Examples
    --------
    >>> size_classes("turnover", np.array([3.0, 14, 30, 60, 110, 250, 900]))["bands"]
    [-inf, 10, 20, inf]
    """
    known = np.sort(values[np.isfinite(values)])
    if len(known) < FEWEST_ABOVE:
        return None
    # An edge belongs to the class above it, so that a loss at the outermost edge is not in the outermost class.
    gains, losses = known[-FEWEST_ABOVE], np.nextafter(-known[FEWEST_ABOVE - 1], -np.inf)
    # No class begins below all but a few sizes: it would be empty.
    sizes = [np.sort(part) for part in (known[known > 0], -known[known < 0])]
    least = [part[FEWEST_ABOVE - 1] if len(part) >= MANY else 0.0 for part in sizes]
    whole = bool((known == np.floor(known)).all())
    inside = np.empty(0)
    for digits in (WIDE, NARROW):
        up, down = (_edges(top, digits, whole=whole) for top in (gains, losses))
        inside = np.concatenate([-down[down > least[1]][::-1], up[up > least[0]]])
        in_class = np.sort(np.bincount(np.searchsorted(inside, known, side="right")))
        if in_class[-2:].sum() <= MOST_IN_TWO * len(known) or len(known) < MANY:
            break
    return in_bands(column, inside) if len(inside) else None


def _edges(top: float, digits: Sequence[float], *, whole: bool) -> np.ndarray[Any, Any]:
    """The edges of size classes up to `top`, of four powers of ten; none where it is no size."""
    if top <= 0:
        return np.empty(0)
    power = math.floor(math.log10(top))
    decades = np.outer(10.0 ** np.arange(power - DECADES + 1, power + 1), digits).ravel()
    edges = np.array([float(f"{edge:.2g}") for edge in decades.tolist()])
    return edges[(edges <= top) & (not whole or (edges >= LEAST_WHOLE) & (edges == np.floor(edges)))]


def number_steps(
    data: Any, released: Any, scenario: Scenario, run: Callable[[Any, Sequence[Mapping[str, Any]]], Any]
) -> Iterator[tuple[Step | None, Sequence[str]]]:
    """The step for each column that exceeds its limit in a release, with its comment: means of groups, else classes.

    `run` applies steps to the release; rows stay where they are.
    """
    for column in exact_columns(data, released, scenario):
        for step, why in _candidates(open_eager(data, {}), open_eager(released, {}), column, scenario):
            try:
                done = run(released, [step])
            except SdcError:  # such as groups of fewer records than means take
                continue
            if column not in exact_columns(data, done, scenario):
                yield step, [why, OTHERWISE]
                break
        else:
            yield None, [NO_STEP.format(printable(column))]


def _candidates(original: Any, released: Any, column: str, scenario: Scenario) -> Iterator[tuple[Step, str]]:
    if column in scenario.all_keys:  # steps on keys say how they are recoded
        return
    declared = scenario.number_groups or scenario.all_keys
    strata = [name for name in declared if name in released.columns]
    for times in TIMES:
        k = times * max(DEFAULT_K, scenario.limits.k or 0)
        step = {"method": "microaggregate", "columns": [column], "k": k, "how": "individual_ranking"}
        yield {**step, **({"strata": strata} if strata else {})}, MEANS.format(printable(column), k)
    if original[column].dtype.is_numeric() and (
        classes := size_classes(column, float_values(original[column], "magnitude"))
    ):
        yield classes, CLASSES.format(printable(column))
