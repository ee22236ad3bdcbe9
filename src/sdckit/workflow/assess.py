"""The main job: a scenario and a file, every measure that applies, a verdict per threshold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, overload

from sdckit.attribute.l_diversity import LDiversity, l_diversity
from sdckit.cells.as_cells import tabulate_roles
from sdckit.data import arguments
from sdckit.data.frames import is_lazy, open_frame
from sdckit.data.roles import resolve_roles
from sdckit.data.scenario import Scenario
from sdckit.errors import DataError, ScenarioError, SdcWarning
from sdckit.identity.household_structure import HouseholdStructure, household_structure
from sdckit.identity.individual_risk import IndividualRisk, individual_risk
from sdckit.identity.k_anonymity import k_anonymity
from sdckit.identity.key_contributions import KeyContributions, key_contributions
from sdckit.identity.key_frequencies import key_frequencies
from sdckit.workflow.assessment import Assessment, IntruderAssessment, KeyFacts
from sdckit.workflow.extra_measures import chosen_measures, extra_measures
from sdckit.workflow.release_assessment import ReleaseAssessment
from sdckit.workflow.verdicts import Verdict, judge

__all__ = ["Assessment", "IntruderAssessment", "KeyFacts", "Verdict", "assess"]

TESTED_K = (2, 3, 5)
TESTED_L = (2, 3)
N_ATTACKS = 500
Step = Callable[[str], None]


@overload
def assess(
    data: Any,
    released: None = None,
    *,
    scenario: Scenario | None = None,
    keys: Sequence[str] | None = None,
    weight: str | None = None,
    sampling_fraction: float | None = None,
    household: str | None = None,
    person: str | None = None,
    sensitive: Sequence[str] | str = (),
    numeric: Sequence[str] | str = (),
    measures: Sequence[str] | str = (),
    id: str | None = None,
    models: Mapping[str, str] | Sequence[str] | str = (),
    seed: int | None = None,
    control: Any = None,
    attacks: bool = False,
    n_attacks: int = N_ATTACKS,
    step: Step | None = None,
) -> Assessment: ...
@overload
def assess(
    data: Any,
    released: Any,
    *,
    scenario: Scenario | None = None,
    keys: Sequence[str] | None = None,
    weight: str | None = None,
    sampling_fraction: float | None = None,
    household: str | None = None,
    person: str | None = None,
    sensitive: Sequence[str] | str = (),
    numeric: Sequence[str] | str = (),
    measures: Sequence[str] | str = (),
    id: str | None = None,
    models: Mapping[str, str] | Sequence[str] | str = (),
    seed: int | None = None,
    control: Any = None,
    attacks: bool = False,
    n_attacks: int = N_ATTACKS,
    step: Step | None = None,
) -> ReleaseAssessment: ...
def assess(
    data: Any,
    released: Any = None,
    *,
    scenario: Scenario | None = None,
    keys: Sequence[str] | None = None,
    weight: str | None = None,
    sampling_fraction: float | None = None,
    household: str | None = None,
    person: str | None = None,
    sensitive: Sequence[str] | str = (),
    numeric: Sequence[str] | str = (),
    measures: Sequence[str] | str = (),
    id: str | None = None,
    models: Mapping[str, str] | Sequence[str] | str = (),
    seed: int | None = None,
    control: Any = None,
    attacks: bool = False,
    n_attacks: int = N_ATTACKS,
    step: Step | None = None,
) -> Assessment | ReleaseAssessment:
    """Assess a file, or a release against its original: who can be recognised, and what would be learnt.

    Parameters
    ----------
    data : data frame
        One row per record; pandas, Polars (eager or lazy), PyArrow, DuckDB or Spark. The original, where
        `released` is given.
    released : data frame or list of data frames, optional
        What is to go out, made from `data`: one file, or m synthetic ones.
    scenario : Scenario, optional
        Intruders, roles, thresholds. Without one, the arguments below make it.
    keys, weight, sampling_fraction, household, person, sensitive, numeric
        Roles of a scenario with one intruder and no threshold.
    measures : str or sequence of str
        Further measures: "suda", "population_risk", "population_uniques", "risky_cells", "outliers",
        "t_closeness", "beta_likeness", "delta_disclosure", "alpha_k", or "all" of them. The other measures always run.
    id : str, optional
        Column that says which row of a release was made from which row of the original; without it, rows
        belong together by position where the scenario says ``aligned``.
    models : str, sequence of str, or dict of str to str, optional
        Regressions that users of a release will fit, as formulas; a dict gives each its family ("linear",
        "logistic", "poisson", "multinomial").
    seed : int, optional
        For what is random in the comparison of two files.
    control : data frame, optional
        People of the same kind who were never used to make the release; starts the simulated attacks.
    attacks : bool
        Make the simulated attacks without a control file, too.
    n_attacks : int
        Attempts of each attack, 1 or more.
    step : callable, optional
        Is told in words what is being done, for a progress display.

    Returns
    -------
    Assessment
        ``intruders`` with every measure that the roles permit (``skipped`` says why one did not run),
        ``verdicts``, ``passed``, ``summary()``, ``to_dict()``, ``report(path)``, ``to_json(path)``.
    ReleaseAssessment
        For a release: ``original`` and ``released`` (an Assessment each), ``intruders`` with the measures of
        two files, ``utility`` and ``attacks``; verdicts are those of the worst release.

    Raises
    ------
    ScenarioError
        Neither scenario nor keys, or both; a measure that does not exist.
    ColumnError, DataError
        As `key_frequencies`.

    References
    ----------
    Benschop, T., Machingauta, C. and Welch, M. (2019). Statistical Disclosure Control: A Practice Guide.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m"], "age": [30, 30, 41]})
    >>> print(assess(survey, scenario=Scenario(keys=["sex", "age"], thresholds={"k": 2})))
    Assessment of 3 records against 1 intruder(s)
      default (sex, age): 1 sample uniques, global risk 0.6667
        exceeded: 1 record is in a group of fewer than 2 with the same keys (k = 2)
    """
    roles: dict[str, Any] = {
        "keys": arguments.names(keys, "keys"),
        "weight": arguments.column_or_none(weight, "weight"),
        "sampling_fraction": arguments.sampling_fraction_or_none(sampling_fraction),
        "household": arguments.column_or_none(household, "household"),
        "person": arguments.column_or_none(person, "person"),
        "sensitive": arguments.names(sensitive, "sensitive", single=True) or None,
        "numeric": arguments.names(numeric, "numeric", single=True) or None,
    }
    arguments.column_or_none(id, "id")
    arguments.seed(seed)
    arguments.flag(attacks, "attacks")
    arguments.count(n_attacks, "n_attacks", "is how many attacks are made")
    scenario = arguments.scenario_or_none(scenario)
    chosen = chosen_measures(measures)
    given = {name: value for name, value in roles.items() if value is not None}
    if scenario is None:
        if keys is None:
            raise ScenarioError(
                "say which variables an intruder knows: scenario= or keys=[...]", argument="keys"
            )
        scenario = Scenario(**given)
    elif given:
        raise ScenarioError(
            f"{', '.join(given)} and scenario= are both given; put everything into the scenario",
            argument=next(iter(given)),
        )
    tell = step if step is not None else _silent
    if released is None:
        attacked = control is not None or attacks or n_attacks != N_ATTACKS
        if id is not None or seed is not None or models or attacked:
            raise ScenarioError(
                "id=, models=, seed=, control=, attacks= and n_attacks= are for a release against its original; give "
                "released="
            )
        return _assess_file(data, scenario=scenario, measures=chosen, step=tell)
    from sdckit.workflow.assess_release import assess_release

    return assess_release(
        data,
        released,
        scenario=scenario,
        measures=chosen,
        id=id,
        models=models,
        seed=seed,
        control=control,
        attacks=attacks,
        n_attacks=n_attacks,
        tell=tell,
        assess_file=_assess_file,
    )


def _assess_file(
    data: Any, *, scenario: Scenario, measures: Sequence[str], step: Step, compared: bool = False
) -> Assessment:
    """Assess one file; `compared` says that it stands beside another one."""
    frame = open_frame(data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SdcWarning)
        shared: dict[str, Any] = {}
        intruders = tuple(
            _assess_intruder(frame, scenario, name, step, measures, shared, compared=compared)
            for name in scenario.intruders
        )
    messages = tuple(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, SdcWarning)))
    for message in messages:
        warnings.warn(message, SdcWarning, stacklevel=3)
    from sdckit import __version__

    backend = "pyarrow" if is_lazy(frame) else frame.implementation
    return Assessment(
        scenario, intruders[0].frequencies.n, frame.implementation.value, intruders, messages, __version__,
        date.today().isoformat(), backend, tuple(measures),
    )  # fmt: skip


def _silent(text: str) -> None:
    """Tell nobody."""


def _assess_intruder(
    frame: Any,
    scenario: Scenario,
    name: str,
    tell: Step,
    chosen: Sequence[str],
    shared: dict[str, Any],
    *,
    compared: bool,
) -> IntruderAssessment:
    tell(f"counting the keys of {name}")
    one = scenario.intruder(name)
    limits, skipped = one.thresholds, []
    cells = tabulate_roles(frame, resolve_roles(scenario=one))
    tested = sorted({*TESTED_K, *([limits.k] if limits.k else [])})
    tell(f"estimating the risk from {name}")
    risk = individual_risk(cells, threshold=limits.risk)
    by_category = cells.as_categories() if cells.has_wildcards else None
    category_risk, why_not = _category_risk(by_category, limits.risk)
    skipped += why_not
    structure, why_not = _households(cells if by_category is None else by_category, one)
    skipped += why_not
    tell(f"comparing what {name} would learn")
    diversity, diversity_wildcard, why_not = _diversity(cells, by_category, one)
    skipped += why_not
    tell(f"leaving out the keys of {name} one by one")
    contributions, why_not = _contributions(cells)
    skipped += why_not
    further, why_not = extra_measures(frame, cells, one, chosen, tell, shared=shared)
    skipped += why_not
    anonymity = k_anonymity(cells, k=tested)
    return IntruderAssessment(
        name=name,
        keys=one.keys,
        key_facts=_key_facts(cells),
        frequencies=key_frequencies(cells),
        k_anonymity=anonymity,
        individual_risk=risk,
        frequencies_category=None if by_category is None else key_frequencies(by_category),
        k_anonymity_category=None if by_category is None else k_anonymity(by_category, k=tested),
        individual_risk_category=category_risk,
        household_structure=structure,
        l_diversity=diversity,
        l_diversity_wildcard=diversity_wildcard,
        key_contributions=contributions,
        verdicts=judge(
            limits, name, k_anonymity=anonymity, risk=risk, l_diversity=diversity, sensitive=one.sensitive,
            no_l_because="; ".join(reason for measure, reason in skipped if measure == "l_diversity"),
            compared=compared,
        ),
        skipped=tuple(skipped),
        **further,  # type: ignore[arg-type]
    )  # fmt: skip


def _key_facts(cells: Any) -> tuple[KeyFacts, ...]:
    found = []
    for key, rule, gone in zip(cells.keys, cells.rules, cells.n_missing, strict=True):
        counts, n_levels, large = cells.level_counts(key)
        found.append(KeyFacts(key, cells.kind(key), n_levels, tuple(counts), gone, large, rule))
    return tuple(found)


Why = list[tuple[str, str]]


def _category_risk(by_category: Any, threshold: float | None) -> tuple[IndividualRisk | None, Why]:
    if by_category is None:
        return None, []
    try:
        return individual_risk(by_category, threshold=threshold), []
    except DataError as error:
        return None, [("individual_risk_category", str(error))]


def _households(cells: Any, scenario: Scenario) -> tuple[HouseholdStructure | None, Why]:
    if scenario.household is None:
        return None, [("household_structure", "the scenario names no household column")]
    try:
        return household_structure(cells), []
    except DataError as error:
        return None, [("household_structure", str(error))]


def _diversity(
    cells: Any, by_category: Any, scenario: Scenario
) -> tuple[LDiversity | None, LDiversity | None, Why]:
    if not scenario.sensitive:
        return None, None, [("l_diversity", "the scenario names no sensitive variable")]
    levels = sorted({*TESTED_L, *([scenario.thresholds.l] if scenario.thresholds.l else [])})
    base = by_category if by_category is not None else cells
    usable, skipped = [], []
    for variable in scenario.sensitive:
        try:
            l_diversity(base, sensitive=[variable], kind="distinct")
            usable.append(variable)
        except DataError as error:
            skipped.append(("l_diversity", str(error)))
    if not usable:
        return None, None, skipped
    found = l_diversity(base, sensitive=usable, levels=levels)
    if by_category is None:
        return found, None, skipped
    try:
        return found, l_diversity(cells, sensitive=usable, levels=levels), skipped
    except DataError as error:
        return found, None, [*skipped, ("l_diversity_wildcard", str(error))]


def _contributions(cells: Any) -> tuple[KeyContributions | None, Why]:
    if len(cells.keys) < 2:
        return None, [("key_contributions", "there is only one key")]
    if cells.roles.person is not None:
        return None, [("key_contributions", "distinct persons cannot be counted from cells")]
    try:
        return key_contributions(cells, k=TESTED_K, pairs=False), []
    except DataError as error:
        return None, [("key_contributions", str(error))]
