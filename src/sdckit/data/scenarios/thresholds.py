"""Limits (thresholds) of a release, validated; and the limits in force for a type of release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field, PlainValidator, PrivateAttr, ValidationError, create_model

from sdckit.data.limits import LIMITS, RELEASE_WORDS, ShareAtPoints, declarable, limits_of_type
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenarios import scenario_checks, scenario_toml
from sdckit.data.scenarios.scenario_form import NONE, NotAsked
from sdckit.display import displayed
from sdckit.errors import ScenarioError

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


MOST_POINTS = 100  # a measure has a figure for each number of points up to that of the limit


def _share_at_points(value: Any) -> ShareAtPoints | None:
    """A share for two known points, or a table of both."""
    if value is None or isinstance(value, ShareAtPoints):
        return value
    given = dict(value) if isinstance(value, Mapping) else {"alone": value}
    alone, points = given.pop("alone", None), given.pop("points", 2)
    share = isinstance(alone, int | float) and not isinstance(alone, bool) and 0 <= alone <= 1
    if given or not share or type(points) is not int or not 1 <= points <= MOST_POINTS:
        raise ScenarioError(
            "a limit on known points is a share from 0 to 1, which is for two points, or a table such as "
            f"{{ points = 2, alone = 0.05 }}, with 1 to {MOST_POINTS} points"
        )
    return ShareAtPoints(alone, points)


VALUES: dict[str, Any] = {
    "share at points": Annotated[Any, PlainValidator(_share_at_points)],
    "level": Annotated[int, Field(strict=True, ge=2)],
    "share": Annotated[float, Field(strict=True, gt=0, le=1)],
    "share from 0": Annotated[float, Field(strict=True, ge=0, le=1)],
    "multiple": Annotated[float, Field(strict=True, ge=1, le=100)],
}
if TYPE_CHECKING:
    _Limits = scenario_checks.ScenarioTable
else:
    _Limits = create_model(
        "_Limits",
        __base__=scenario_checks.ScenarioTable,
        **{name: (VALUES[kind.values] | None, None) for name, kind in declarable().items()},
    )


class Thresholds(_Limits):
    """The limits a release must keep; those not given are not checked.

    Where a type of release sets a limit, ``"none"`` says that it is not asked.

    Parameters
    ----------
    k
        Every combination of keys is held by at least k records (2 or more).
    risk
        No record's individual risk exceeds this (above 0, at most 1).
    l
        Every combination of keys holds at least l well-represented sensitive values (2 or more).
    global_risk, household_risk
        Limits on the expected share of records re-identified and on the largest household risk.
    known_points
        Limit on the share of the people who are alone for who knows some of their rows (of a panel, of visits): a table
        such as ``{"points": 2, "alone": 0.05}``, or the share by itself for two rows.
    match_risk, few_matches, replicated_uniques, correctly_disclosed
        Limits on a release beside its original, as shares of the records: rows expected to be matched back, those that
        fewer than k (the limit; else 3) released records match for whoever knows their true keys (0: none may),
        unique in both files, disclosed correctly (DiSCO).
    copied_records
        Limit on the share of the released records that are copies of single original records beyond chance (0: none
        may be).
    residual_risk
        Limit on the residual risk of every simulated attack on a release, beside people never in the file.
    membership_tpr
        Limit on the share of the members recognised at a false-positive rate of 1 %, as a multiple of it (1 to 100;
        guessing reaches 1).
    recoverable
        Limit on the share of the changed values of a column that can be reconstructed with certainty from the release
        (0: none may be).
    household_uniques
        Limit on the share of the households with a unique composition: their size and what is known of their members
        (0: none may be).
    differencing
        Limit on the share of the records of which something is disclosed by comparison with earlier releases in the
        ledger (0: of none).
    joint_recoverable
        Limit on the share of the hidden values of a column that can be reconstructed from the release together with the
        tables published beside it.
    exact_numbers
        Limit on the share of the records that dominate their group with a number of a column that is released within
        10 % of the truth (0: none may).
    broken_rules
        Limit on the share of the records that newly break an edit rule of the scenario (0: none may).

    Examples
    --------
    >>> Thresholds(k=3, risk=0.1).declared
    {'k': 3, 'risk': 0.1}
    >>> Thresholds(k=3, l="none").not_asked
    ('l',)
    """

    place = "thresholds"
    _not_asked: tuple[str, ...] = PrivateAttr(default=())
    if TYPE_CHECKING:  # the fields are those of the rows in `sdckit.data.limits`
        k: int | None
        risk: float | None
        l: int | None  # noqa: E741 - the name the literature uses
        global_risk: float | None
        household_risk: float | None
        household_uniques: float | None
        known_points: ShareAtPoints | None
        match_risk: float | None
        few_matches: float | None
        replicated_uniques: float | None
        copied_records: float | None
        correctly_disclosed: float | None
        residual_risk: float | None
        membership_tpr: float | None
        recoverable: float | None
        differencing: float | None
        joint_recoverable: float | None
        exact_numbers: float | None
        broken_rules: float | None

    def __init__(
        self,
        /,
        *,
        k: int | NotAsked | None = None,
        risk: float | NotAsked | None = None,
        l: int | NotAsked | None = None,  # noqa: E741
        global_risk: float | NotAsked | None = None,
        household_risk: float | NotAsked | None = None,
        household_uniques: float | NotAsked | None = None,
        known_points: Mapping[str, float] | float | NotAsked | None = None,
        match_risk: float | NotAsked | None = None,
        few_matches: float | NotAsked | None = None,
        replicated_uniques: float | NotAsked | None = None,
        copied_records: float | NotAsked | None = None,
        correctly_disclosed: float | NotAsked | None = None,
        residual_risk: float | NotAsked | None = None,
        membership_tpr: float | NotAsked | None = None,
        recoverable: float | NotAsked | None = None,
        differencing: float | NotAsked | None = None,
        joint_recoverable: float | NotAsked | None = None,
        exact_numbers: float | NotAsked | None = None,
        broken_rules: float | NotAsked | None = None,
        **unknown: object,
    ) -> None:
        given = {name: limit for name, limit in locals().items() if name in declarable()}
        super().__init__(**{name: None if limit == NONE else limit for name, limit in given.items()}, **unknown)
        self._not_asked = tuple(name for name, limit in given.items() if limit == NONE)

    @property
    def not_asked(self) -> tuple[str, ...]:
        """The limits of a type of release that are not asked."""
        return self._not_asked

    @property
    def entries(self) -> dict[str, Any]:
        """What was written, by name: the limits, and ``"none"`` for those not asked."""
        limits = {name: getattr(limit, "entry", limit) for name, limit in self.declared.items()}
        return {**limits, **dict.fromkeys(self.not_asked, NONE)}

    @property
    def declared(self) -> dict[str, int | float]:
        """The limits that were given, by name."""
        return {name: value for name, value in self if value is not None}


def read_limits(place: str, entries: Mapping[str, Any]) -> Thresholds:
    """Read limits from elsewhere than ``[thresholds]``; errors name their place.

    Examples
    --------
    >>> read_limits("release_types.public-use", {"k": 10}).declared
    {'k': 10}
    """
    made = Thresholds.__new__(Thresholds)
    try:
        BaseModel.__init__(made, **{str(name): limit for name, limit in entries.items()})
    except ValidationError as error:
        raise scenario_checks.explained(error, list(Thresholds.model_fields), prefix=place) from None
    return made


# Types of release and their limits: published, of an office, of the scenario.


ENTRY = "release_types"
ENCLAVE = "enclave"  # what leaves it is checked, not what lies in it: nothing is asked that nobody wrote down
SYNTHETIC = "synthetic"  # no record of it stands for a person

# For the sources, see docs/release-types.md.
RELEASE_TYPES: dict[str, Mapping[str, int | float]] = {name: limits_of_type(name) for name in RELEASE_WORDS}

NO_RELEASE = "no original stands beside the file"
NOTHING_SEEN = f"{NO_RELEASE} and nothing in it was taken out"
NOTHING_CHANGED = "nothing was taken out that could be given back"
ONE_ROW = "no column says which rows are the same person's"
LACKING = {
    "followed": ONE_ROW,
    "household": "no household column is declared", "sensitive": "no sensitive variable is declared",
    "magnitudes": "no column of numbers is declared",
}  # fmt: skip
STATED_NONE = {
    "household": "the scenario says that no column of the file numbers households",
    "sensitive": "the scenario says that no column of the file is sensitive",
    "magnitudes": "the scenario says that there are no magnitudes, and names no numeric column",
}
NOT_SAID = {
    "household": 'the scenario does not say whether there are households; write household = "...", the column that '
    'numbers them, or household = "none"',
    "sensitive": 'the scenario does not say which columns are sensitive; write sensitive = ["..."] or sensitive = []',
    "magnitudes": scenario_checks.NO_MAGNITUDES,
}
BY_SCENARIO, BY_OFFICE = "the scenario says that it is not asked", "the office says that it is not asked"


@dataclass(frozen=True)
class Limit:
    """A limit in force.

    Attributes
    ----------
    value : int or float
    origin : str
        "scenario", "release type" (published) or "office".
    of_type : int, float or None
        The limit of the type of release; None if it has none.
    """

    value: int | float
    origin: str
    of_type: int | float | None

    def words(self, release: str) -> str:
        """The origin of the limit in words.

        Examples
        --------
        >>> Limit(5, "release type", 5).words("public-use")
        'limit of a public-use file'
        >>> Limit(3, "scenario", 5).words("public-use")
        'limit of the scenario (a public-use file: 5)'
        """
        if self.origin == "scenario":
            beside = "" if self.of_type is None else f" ({a_release(release)}: {self.of_type:g})"
            return f"limit of the scenario{beside}"
        return f"{'the office’s limit' if self.origin == 'office' else 'limit'} of {a_release(release)}"


def release_words(name: str | None) -> str:
    """The name of a type of release in words.

    Examples
    --------
    >>> release_words("public-use"), release_words("partners")
    ('public-use file', '“partners”')
    """
    return "not stated" if name is None else RELEASE_WORDS.get(name, f"“{displayed(name)}”")


def a_release(name: str) -> str:
    """As `release_words`, with an article.

    Examples
    --------
    >>> a_release("scientific-use")
    'a scientific-use file'
    """
    return f"a {RELEASE_WORDS[name]}" if name in RELEASE_WORDS else f"a release of the type “{displayed(name)}”"


def office_types(given: Any) -> Any:
    """The types of release of an office, given as a table or as the path of a TOML file that holds only these.

    Raises `FileFormatError`: the file cannot be read; `ScenarioError`: it holds other entries.
    """
    if not isinstance(given, str | Path):
        return {} if given is None else given
    path = Path(given)
    entries = scenario_toml.read_toml(path, what="file of release types")
    for name in entries:
        if name != ENTRY:
            hint = did_you_mean(name, [ENTRY])
            raise ScenarioError(f"{path.name}: there is no entry '{name}' in a file of release types; {hint}")
    types = entries.get(ENTRY)
    if not isinstance(types, Mapping) or not types:
        raise ScenarioError(f"{path.name} names no release type; write a table such as [{ENTRY}.public-use]")
    try:
        _check_types(types)
    except ScenarioError as error:
        raise ScenarioError(f"{path.name}: {error}") from None
    return types


def check_release(scenario: Scenario) -> None:
    """Raise a `ScenarioError` if the type of release is unknown, or a table of an office has an invalid limit."""
    _check_types(scenario.release_types)
    known = [*RELEASE_TYPES, *(name for name in scenario.release_types if name not in RELEASE_TYPES)]
    if scenario.release is not None and scenario.release not in known:
        *most, last = (f"'{name}'" for name in known)
        raise ScenarioError(
            f"release must be one of {', '.join(most)} or {last}; types of your own are tables "
            "[release_types.NAME] with their limits",
            argument="release",
        )
    if scenario.release == SYNTHETIC and scenario.aligned:
        raise ScenarioError(
            f'release = "{SYNTHETIC}" and aligned = true contradict each other: no record of {a_release(SYNTHETIC)} '
            "was made from one of the original; leave out aligned, or name another type of release"
        )


def _check_types(types: Mapping[str, Any]) -> None:
    """Validate the tables of an office, like the limits of a scenario."""
    for name, limits in types.items():
        place = f"{ENTRY}.{name}"
        if not name.strip():
            raise ScenarioError(f"{ENTRY} has a type without a name; name it, as in [{ENTRY}.partners]")
        if not isinstance(limits, Mapping):
            raise ScenarioError(f"{place} must be a table of limits, such as k = 5")
        # A limit that does not apply has no number; its name is still checked.
        read_limits(place, {entry: None if limit == NONE else limit for entry, limit in limits.items()})


def limits_in_force(scenario: Scenario, *, compared: bool) -> dict[str, Limit]:
    """Limits in force: those of the scenario, then those of its type of release.

    A limit of the type is not in force where the scenario says so, for the limit itself or for the role it needs, or if
    it is on a release and its original and they are not `compared`. Limits of the scenario always are.
    """
    types = _of_type(scenario)
    own = scenario.thresholds.declared
    limits = {
        name: Limit(value, "scenario", types[name].value if name in types else None) for name, value in own.items()
    }
    limits |= {
        name: limit
        for name, limit in types.items()
        if name not in own and not _left_out(name, scenario, compared=compared)
    }
    return {name: limits[name] for name in type(scenario.thresholds).model_fields if name in limits}


def limits_not_asked(scenario: Scenario, *, compared: bool) -> dict[str, str]:
    """Limits of the type that are not in force, with reasons."""
    own, of_type = scenario.thresholds.declared, _of_type(scenario)
    published = RELEASE_TYPES.get(scenario.release or "", {})
    reasons = {
        name: _left_out(name, scenario, compared=compared) if name in of_type else BY_OFFICE
        for name in type(scenario.thresholds).model_fields
        if name in {**of_type, **published} and name not in own
    }
    return {name: reason for name, reason in reasons.items() if reason not in ("", ONE_ROW)}


def asks_everything(scenario: Scenario) -> bool:
    """Whether every column needs a role, and every limit of the type a word of the scenario that leaves it out.

    Examples
    --------
    >>> from sdckit import Scenario
    >>> [asks_everything(Scenario(keys=["sex"], release=name)) for name in ("teaching", "enclave", None)]
    [True, False, False]
    """
    return scenario.release not in (None, ENCLAVE)


def not_said(name: str, scenario: Scenario) -> str:
    """Why a limit of the type cannot be judged: the scenario says nothing of the role it needs; else ""."""
    needs, looked_at = LIMITS[name].needs, LIMITS[name].numbers and scenario.judged_numbers
    if needs not in NOT_SAID or not asks_everything(scenario) or needs in scenario.stated or looked_at:
        return ""
    return NOT_SAID[needs]


def _of_type(scenario: Scenario) -> dict[str, Limit]:
    """Limits of the type of release: published ones, overridden by those of the office."""
    if scenario.release is None:
        return {}
    published = RELEASE_TYPES.get(scenario.release, {})
    limits = {name: Limit(value, "release type", value) for name, value in published.items()}
    for name, value in scenario.release_types.get(scenario.release, {}).items():
        limits.pop(name, None)
        if value != NONE:
            of_office = getattr(read_limits(ENTRY, {name: value}), name)
            limits[name] = Limit(of_office, "office", of_office)
    return limits


def _left_out(name: str, scenario: Scenario, *, compared: bool) -> str:
    """Why a limit of the type is not asked, or ""."""
    kind = LIMITS[name]
    if name in scenario.thresholds.not_asked:
        return BY_SCENARIO
    if kind.scope == "release" and not compared and scenario.release != SYNTHETIC:  # of it nothing else is asked
        return NOTHING_SEEN if kind.alone else NO_RELEASE
    if not kind.needs or getattr(scenario, kind.needs) or (kind.numbers and scenario.numeric):
        return ""
    if not asks_everything(scenario) or kind.needs not in STATED_NONE:
        return LACKING[kind.needs]
    return STATED_NONE[kind.needs] if kind.needs in scenario.stated else ""
