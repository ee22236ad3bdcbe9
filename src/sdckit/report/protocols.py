"""What the report needs to know of an assessment and its results; the rooms above fulfil it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from sdckit.data.scenario import Scenario

__all__ = [
    "AssessmentLike",
    "ContributionLike",
    "ContributionsLike",
    "FrequenciesLike",
    "HouseholdsLike",
    "IntruderLike",
    "KAnonymityLike",
    "KeyFactsLike",
    "LDiversityLike",
    "OutliersLike",
    "PopulationRiskLike",
    "PopulationUniquesLike",
    "ReleaseIntruderLike",
    "ReleaseLike",
    "RiskLike",
    "RiskyCellsLike",
    "RiskyCombinationLike",
    "SudaLike",
    "VerdictLike",
]


class FrequenciesLike(Protocol):
    """Figures of `key_frequencies`."""

    @property
    def n(self) -> int: ...  # noqa: D102
    @property
    def n_cells(self) -> int: ...  # noqa: D102
    @property
    def sample_uniques(self) -> int: ...  # noqa: D102
    @property
    def frequency_of_frequencies(self) -> Mapping[str, int]: ...  # noqa: D102


class KAnonymityLike(Protocol):
    """Figures of `k_anonymity`."""

    @property
    def violations(self) -> Mapping[int, int]: ...  # noqa: D102


class RiskLike(Protocol):
    """Figures of `individual_risk`."""

    @property
    def n(self) -> int: ...  # noqa: D102
    @property
    def expected_reidentifications(self) -> float: ...  # noqa: D102
    @property
    def threshold(self) -> Any: ...  # noqa: D102
    @property
    def n_above(self) -> int | None: ...  # noqa: D102
    @property
    def household_risk(self) -> float | None: ...  # noqa: D102
    @property
    def expected_household_reidentifications(self) -> float | None: ...  # noqa: D102
    @property
    def method(self) -> str: ...  # noqa: D102

    def histogram(self, edges: Any) -> Sequence[int]: ...  # noqa: D102


class HouseholdsLike(Protocol):
    """Figures of `household_structure`."""

    @property
    def n_households(self) -> int: ...  # noqa: D102
    @property
    def unique_sizes(self) -> int: ...  # noqa: D102
    @property
    def rare_sizes(self) -> int: ...  # noqa: D102
    @property
    def unique_compositions(self) -> int: ...  # noqa: D102
    @property
    def sizes(self) -> Mapping[int, int]: ...  # noqa: D102


class LDiversityLike(Protocol):
    """Figures of `l_diversity`."""

    @property
    def variables(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def violations(self) -> Mapping[str, Mapping[str, Mapping[int, int]]]: ...  # noqa: D102
    @property
    def homogeneous(self) -> Mapping[str, int]: ...  # noqa: D102


class ContributionLike(Protocol):
    """One row of `key_contributions`."""

    @property
    def variables(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def uniques_without(self) -> int: ...  # noqa: D102
    @property
    def risk_without(self) -> float | None: ...  # noqa: D102


class ContributionsLike(Protocol):
    """Figures of `key_contributions`."""

    @property
    def table(self) -> Sequence[ContributionLike]: ...  # noqa: D102
    @property
    def uniques(self) -> int: ...  # noqa: D102


class SudaLike(Protocol):
    """Figures of `suda`."""

    @property
    def sample_uniques(self) -> int: ...  # noqa: D102
    @property
    def pairs(self) -> int: ...  # noqa: D102
    @property
    def msu_counts(self) -> Mapping[int, int]: ...  # noqa: D102
    @property
    def contributions(self) -> Mapping[str, float]: ...  # noqa: D102
    @property
    def level_contributions(self) -> Mapping[str, Mapping[str, float]]: ...  # noqa: D102
    @property
    def max_size(self) -> int: ...  # noqa: D102
    @property
    def scoring(self) -> str: ...  # noqa: D102
    @property
    def sampling_fraction(self) -> float: ...  # noqa: D102


class PopulationRiskLike(Protocol):
    """Figures of `population_risk`."""

    @property
    def sample_uniques(self) -> int: ...  # noqa: D102
    @property
    def sampling_fraction(self) -> float: ...  # noqa: D102
    @property
    def tau1(self) -> float: ...  # noqa: D102
    @property
    def tau2(self) -> float: ...  # noqa: D102
    @property
    def z2(self) -> float: ...  # noqa: D102
    @property
    def model(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def path(self) -> Mapping[str, float]: ...  # noqa: D102


class PopulationUniquesLike(Protocol):
    """Figures of `population_uniques`."""

    @property
    def sample_uniques(self) -> int: ...  # noqa: D102
    @property
    def population(self) -> float: ...  # noqa: D102
    @property
    def estimates(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def status(self) -> Mapping[str, str]: ...  # noqa: D102


class RiskyCombinationLike(Protocol):
    """The table of one combination of `risky_cells`."""

    @property
    def variables(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def dimension(self) -> int: ...  # noqa: D102
    @property
    def threshold(self) -> int: ...  # noqa: D102
    @property
    def n_unsafe(self) -> int: ...  # noqa: D102
    @property
    def records(self) -> int: ...  # noqa: D102


class RiskyCellsLike(Protocol):
    """Figures of `risky_cells`."""

    @property
    def n_combinations(self) -> int: ...  # noqa: D102
    @property
    def unsafe_cells(self) -> Mapping[int, int]: ...  # noqa: D102
    @property
    def records_affected(self) -> int: ...  # noqa: D102
    @property
    def table(self) -> Sequence[RiskyCombinationLike]: ...  # noqa: D102


class OutliersLike(Protocol):
    """Figures of `outliers`."""

    @property
    def method(self) -> str: ...  # noqa: D102
    @property
    def n_outliers(self) -> float: ...  # noqa: D102
    @property
    def counts(self) -> Mapping[str, float]: ...  # noqa: D102
    @property
    def n_missing(self) -> Mapping[str, int]: ...  # noqa: D102


class KeyFactsLike(Protocol):
    """A key and its levels."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def level_counts(self) -> Sequence[tuple[str, int]]: ...  # noqa: D102
    @property
    def n_missing(self) -> int: ...  # noqa: D102
    @property
    def n_levels(self) -> int: ...  # noqa: D102
    @property
    def large_levels(self) -> int: ...  # noqa: D102
    @property
    def rule(self) -> str: ...  # noqa: D102


class VerdictLike(Protocol):
    """One threshold and whether it holds."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def intruder(self) -> str: ...  # noqa: D102
    @property
    def variable(self) -> str | None: ...  # noqa: D102
    @property
    def limit(self) -> float: ...  # noqa: D102
    @property
    def holds(self) -> bool | None: ...  # noqa: D102
    @property
    def n_records(self) -> int | None: ...  # noqa: D102
    @property
    def reason(self) -> str: ...  # noqa: D102


class IntruderLike(Protocol):
    """Everything measured against one intruder."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def keys(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def key_facts(self) -> Sequence[KeyFactsLike]: ...  # noqa: D102
    @property
    def frequencies(self) -> FrequenciesLike: ...  # noqa: D102
    @property
    def k_anonymity(self) -> KAnonymityLike: ...  # noqa: D102
    @property
    def individual_risk(self) -> RiskLike: ...  # noqa: D102
    @property
    def frequencies_category(self) -> FrequenciesLike | None: ...  # noqa: D102
    @property
    def k_anonymity_category(self) -> KAnonymityLike | None: ...  # noqa: D102
    @property
    def individual_risk_category(self) -> RiskLike | None: ...  # noqa: D102
    @property
    def household_structure(self) -> HouseholdsLike | None: ...  # noqa: D102
    @property
    def l_diversity(self) -> LDiversityLike | None: ...  # noqa: D102
    @property
    def l_diversity_wildcard(self) -> LDiversityLike | None: ...  # noqa: D102
    @property
    def key_contributions(self) -> ContributionsLike | None: ...  # noqa: D102
    @property
    def suda(self) -> SudaLike | None: ...  # noqa: D102
    @property
    def population_risk(self) -> PopulationRiskLike | None: ...  # noqa: D102
    @property
    def population_uniques(self) -> PopulationUniquesLike | None: ...  # noqa: D102
    @property
    def risky_cells(self) -> RiskyCellsLike | None: ...  # noqa: D102
    @property
    def outliers(self) -> OutliersLike | None: ...  # noqa: D102
    @property
    def skipped(self) -> Sequence[tuple[str, str]]: ...  # noqa: D102


class AssessmentLike(Protocol):
    """An assessment of a file against a scenario."""

    @property
    def scenario(self) -> Scenario: ...  # noqa: D102
    @property
    def n(self) -> int: ...  # noqa: D102
    @property
    def engine(self) -> str: ...  # noqa: D102
    @property
    def intruders(self) -> Sequence[IntruderLike]: ...  # noqa: D102
    @property
    def verdicts(self) -> Sequence[VerdictLike]: ...  # noqa: D102
    @property
    def passed(self) -> bool | None: ...  # noqa: D102
    @property
    def measures(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def warnings(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def version(self) -> str: ...  # noqa: D102
    @property
    def date(self) -> str: ...  # noqa: D102

    def n_at_risk(self) -> Mapping[str, int]: ...  # noqa: D102
    def at_risk(self, limit: int = 1000) -> Sequence[Mapping[str, Any]]: ...  # noqa: D102


class ReleaseIntruderLike(Protocol):
    """The measures of two files against one intruder."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def keys(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def measures(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def skipped(self) -> Sequence[tuple[str, str]]: ...  # noqa: D102


@runtime_checkable
class ReleaseLike(Protocol):
    """An assessment of a release against its original."""

    @property
    def scenario(self) -> Scenario: ...  # noqa: D102
    @property
    def original(self) -> AssessmentLike: ...  # noqa: D102
    @property
    def released(self) -> Sequence[AssessmentLike]: ...  # noqa: D102
    @property
    def intruders(self) -> Sequence[ReleaseIntruderLike]: ...  # noqa: D102
    @property
    def verdicts(self) -> Sequence[VerdictLike]: ...  # noqa: D102
    @property
    def passed(self) -> bool | None: ...  # noqa: D102
    @property
    def measures(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def utility(self) -> Any: ...  # noqa: D102
    @property
    def no_utility(self) -> str: ...  # noqa: D102
    @property
    def attacks(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def attacks_skipped(self) -> Sequence[tuple[str, str]]: ...  # noqa: D102
    @property
    def attacks_asked(self) -> Any: ...  # noqa: D102
    @property
    def control(self) -> bool: ...  # noqa: D102
    @property
    def models(self) -> Sequence[tuple[str, str]]: ...  # noqa: D102
    @property
    def aligned(self) -> bool: ...  # noqa: D102
    @property
    def id(self) -> str | None: ...  # noqa: D102
    @property
    def warnings(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def date(self) -> str: ...  # noqa: D102
