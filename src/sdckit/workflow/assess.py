"""The main job: a scenario and a file, every measure that applies, a verdict per threshold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from sdckit.data import arguments
from sdckit.data.frames import is_lazy, open_frame
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.scenario_checks import unconfirmed_words
from sdckit.errors import ColumnError, ScenarioError, SdcWarning
from sdckit.workflow.assessment import Assessment, IntruderAssessment, KeyFacts, ReleaseAssessment
from sdckit.workflow.plan import Planned, carry_out, chosen_measures, plan_file
from sdckit.workflow.verdicts import judge, with_origins

if TYPE_CHECKING:
    from sdckit.workflow.recipes.recipe import Recipe
    from sdckit.workflow.recipes.recipe_log import RecipeLog
    from sdckit.workflow.recoding.recodings import Recodings


N_ATTACKS = 500
Step = Callable[[str], None]
GivenRecipe: TypeAlias = "Recipe | str | Path | Recodings | None"
GivenLog: TypeAlias = "RecipeLog | str | Path | None"


@overload
def assess(
    data: Any, released: None = None, *, scenario: Scenario | None = None, keys: Sequence[str] | None = None,
    weight: str | None = None, sampling_fraction: float | None = None, household: str | None = None,
    person: str | None = None, sensitive: Sequence[str] | str = (), numeric: Sequence[str] | str = (),
    measures: Sequence[str] | str = (), by: Sequence[str] | str | None = None, id: str | None = None,
    models: Mapping[str, str] | Sequence[str] | str = (), seed: int | None = None, control: Any = None,
    attacks: bool = False, n_attacks: int = N_ATTACKS, recipe: GivenRecipe = None, log: GivenLog = None,
    step: Step | None = None,
) -> Assessment: ...  # fmt: skip
@overload
def assess(
    data: Any, released: Any, *, scenario: Scenario | None = None, keys: Sequence[str] | None = None,
    weight: str | None = None, sampling_fraction: float | None = None, household: str | None = None,
    person: str | None = None, sensitive: Sequence[str] | str = (), numeric: Sequence[str] | str = (),
    measures: Sequence[str] | str = (), by: Sequence[str] | str | None = None, id: str | None = None,
    models: Mapping[str, str] | Sequence[str] | str = (), seed: int | None = None, control: Any = None,
    attacks: bool = False, n_attacks: int = N_ATTACKS, recipe: GivenRecipe = None, log: GivenLog = None,
    step: Step | None = None,
) -> ReleaseAssessment: ...  # fmt: skip
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
    by: Sequence[str] | str | None = None,
    id: str | None = None,
    models: Mapping[str, str] | Sequence[str] | str = (),
    seed: int | None = None,
    control: Any = None,
    attacks: bool = False,
    n_attacks: int = N_ATTACKS,
    recipe: GivenRecipe = None,
    log: GivenLog = None,
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
        Further measures by name, or "all" of them (`sdckit assess --help` lists them). The others always run.
    by : str or sequence of str, optional
        Columns of `data` whose combinations are subgroups: measures that have figures of them have ``by_group``, and
        a confidential document has a table. Of a release by itself those columns that it has, too.
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
    recipe, log : Recipe, RecipeLog or path, optional
        The recipe that made the release, or the internal log of its run: what it recodes by a rule (bands, groups,
        limits, multiples) is done to the original and the control file first; what is random or suppresses is the
        protection to be measured, and is not. The figures of the original are then those of the recoded original. A
        log is held against the files, and says that rows belong together. Without either, bands are recognised by
        their names and, where rows belong together, groups, limits and multiples; ``.recoded`` and the report say so.
    step : callable, optional
        Is told in words what is being done, for a progress display.

    Returns
    -------
    Assessment
        ``assessment[intruder][measure]``: every measure that the roles permit (``skipped`` says why one did not
        run),
        ``verdicts``, ``passed``, ``summary()``, ``to_dict()``, ``report(path)``, ``to_json(path)``.
    ReleaseAssessment
        For a release: ``original`` and ``released`` (an Assessment each), ``intruders`` with the measures of
        two files, ``utility`` and ``attacks``; verdicts are those of the worst release.

    Raises
    ------
    ScenarioError
        Neither scenario nor keys, or both; a measure that does not exist.
    ColumnError, DataError
        As `key_frequencies`; a log of another file or another release, a hierarchy that is not the log's.

    References
    ----------
    Benschop, T., Machingauta, C. and Welch, M. (2019). Statistical Disclosure Control: A Practice Guide.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m"], "age": [30, 30, 41]})
    >>> print(assess(survey, scenario=Scenario(keys=["sex", "age"], thresholds={"k": 2})))
    Assessment of 3 records against 1 intruder
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
    groups = arguments.names(by, "by", single=True) or ()
    _check_groups(data, groups)
    tell = step or (lambda _: None)
    if released is None:
        attacked = control is not None or attacks or n_attacks != N_ATTACKS
        if id is not None or seed is not None or models or attacked or recipe is not None or log is not None:
            raise ScenarioError(
                "id=, models=, seed=, control=, attacks=, n_attacks=, recipe= and log= are for a release against its "
                "original; give released="
            )
        return _assess_file(data, scenario=scenario, measures=chosen, step=tell, by=groups)
    from sdckit.workflow.assess_release import assess_release
    from sdckit.workflow.recoding.recodings import read_recodings

    return assess_release(
        data, released, scenario=scenario, measures=chosen, by=groups, id=id, models=models, seed=seed, control=control,
        attacks=attacks, n_attacks=n_attacks, tell=tell, assess_file=_assess_file,
        recodings=read_recodings(recipe, log),
    )  # fmt: skip


def _check_groups(data: Any, by: Sequence[str]) -> None:
    """Refuse columns of subgroups that the file does not have, before anything is read."""
    if not by:
        return
    present = open_frame(data).collect_schema().names()
    for name in by:
        if name not in present:
            near = did_you_mean(str(name), present)
            raise ColumnError(f"by: no column {name!r} in the data; {near}", argument="by")


def _assess_file(
    data: Any, *, scenario: Scenario, measures: Sequence[str], step: Step, compared: bool = False,
    by: Sequence[str] = (),
) -> Assessment:  # fmt: skip
    """Assess one file; `compared` says that it stands beside another one, which may have more columns of `by`."""
    frame = open_frame(data)
    present = frame.collect_schema().names()
    groups = tuple(by) if all(name in present for name in by) else ()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SdcWarning)
        plans = plan_file(scenario, measures=measures, data=frame, tell=step, by=groups)
        intruders = tuple(_against(name, planned, compared=compared) for name, planned in plans.items())
    told = [str(w.message) for w in caught if issubclass(w.category, SdcWarning)]
    messages = tuple(dict.fromkeys([*_unconfirmed(scenario), *told]))
    for message in messages:
        warnings.warn(message, SdcWarning, stacklevel=3)
    from sdckit import __version__

    return Assessment(
        scenario=scenario, n=intruders[0]["key_frequencies"].n, engine=frame.implementation.value,
        intruders=intruders, warnings=messages, version=__version__, date=date.today().isoformat(),
        backend="pyarrow" if is_lazy(frame) else frame.implementation, measures=tuple(measures),
        by=groups,
    )  # fmt: skip


def _unconfirmed(scenario: Scenario) -> list[str]:
    if not scenario.unconfirmed:
        return []
    told = f"the scenario is a guess that is not confirmed: {unconfirmed_words(scenario)}"
    return [f"{told}. Figures and verdicts below are for exploring; check refuses it as a gate"]


def _against(name: str, planned: Sequence[Planned], *, compared: bool) -> IntruderAssessment:
    context = planned[0].context
    context.tell(f"tabulating the keys of {name}")
    cells = context.cells  # what is wrong with the file is told here, not by the first measure
    outcome = carry_out(planned)
    one = context.scenario
    verdicts = with_origins(
        judge(
            one.limits,
            name,
            outcome.results,
            sensitive=one.sensitive,
            skipped=outcome.skipped,
            compared=compared,
        ),
        one,
    )
    return IntruderAssessment(name, one.keys, outcome.results, verdicts, outcome.skipped, _key_facts(cells))


def _key_facts(cells: Any) -> tuple[KeyFacts, ...]:
    found = []
    for key, rule, gone in zip(cells.keys, cells.rules, cells.n_missing, strict=True):
        counts, n_levels, large = cells.level_counts(key)
        found.append(KeyFacts(key, cells.kind(key), n_levels, tuple(counts), gone, large, rule))
    return tuple(found)
