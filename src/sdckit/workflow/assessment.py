"""What `assess` gives: every figure of every intruder, and the doors to its documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from sdckit.data.scenario import Scenario
from sdckit.errors import DataError
from sdckit.result import SCHEMA_VERSION, LetGo, Result, json_ready
from sdckit.workflow.verdicts import Verdict, all_hold

if TYPE_CHECKING:
    from sdckit.attribute.alpha_k import AlphaK
    from sdckit.attribute.beta_likeness import BetaLikeness
    from sdckit.attribute.delta_disclosure import DeltaDisclosure
    from sdckit.attribute.l_diversity import LDiversity
    from sdckit.attribute.t_closeness import TCloseness
    from sdckit.identity.household_structure import HouseholdStructure
    from sdckit.identity.individual_risk import IndividualRisk
    from sdckit.identity.k_anonymity import KAnonymity
    from sdckit.identity.key_contributions import KeyContributions
    from sdckit.identity.key_frequencies import KeyFrequencies
    from sdckit.identity.outliers import Outliers
    from sdckit.identity.population_risk import PopulationRisk
    from sdckit.identity.population_uniques import PopulationUniques
    from sdckit.identity.risky_cells import RiskyCells
    from sdckit.identity.suda import Suda

__all__ = ["Assessment", "IntruderAssessment", "KeyFacts"]

MEASURES = (
    "frequencies", "k_anonymity", "individual_risk", "frequencies_category", "k_anonymity_category",
    "individual_risk_category", "household_structure", "l_diversity", "l_diversity_wildcard", "key_contributions",
    "suda", "population_risk", "population_uniques", "risky_cells", "outliers",
    "t_closeness", "beta_likeness", "delta_disclosure", "alpha_k",
)  # fmt: skip
LET_GO = "this assessment has let go of the data (it was pickled); assess again"


@dataclass(frozen=True)
class KeyFacts:
    """A key and its levels.

    Attributes
    ----------
    name, kind : str
        The variable, and what kind of values it has.
    n_levels, large_levels : int
        Its different values, and those with 5 records or more.
    level_counts : tuple of (str, int)
        Values with their records, at most 200, most frequent first.
    n_missing : int
        Records without a value.
    rule : str
        What a missing value means.
    """

    name: str
    kind: str
    n_levels: int
    level_counts: tuple[tuple[str, int], ...] = field(repr=False)
    n_missing: int
    large_levels: int
    rule: str


@dataclass(frozen=True, eq=False, repr=False)
class IntruderAssessment:
    """Every measure against one intruder; None where it did not run, with the reason in `skipped`."""

    name: str
    keys: tuple[str, ...]
    key_facts: tuple[KeyFacts, ...]
    frequencies: KeyFrequencies
    k_anonymity: KAnonymity
    individual_risk: IndividualRisk
    frequencies_category: KeyFrequencies | None
    k_anonymity_category: KAnonymity | None
    individual_risk_category: IndividualRisk | None
    household_structure: HouseholdStructure | None
    l_diversity: LDiversity | None
    l_diversity_wildcard: LDiversity | None
    key_contributions: KeyContributions | None
    verdicts: tuple[Verdict, ...]
    skipped: tuple[tuple[str, str], ...]
    suda: Suda | None = None
    population_risk: PopulationRisk | None = None
    population_uniques: PopulationUniques | None = None
    risky_cells: RiskyCells | None = None
    outliers: Outliers | None = None
    t_closeness: TCloseness | None = None
    beta_likeness: BetaLikeness | None = None
    delta_disclosure: DeltaDisclosure | None = None
    alpha_k: AlphaK | None = None

    def results(self) -> Iterator[tuple[str, Result]]:
        """The measures that ran, by name."""
        for name in MEASURES:
            result = getattr(self, name)
            if result is not None:
                yield name, result

    def __repr__(self) -> str:
        first = (
            f"{self.name} ({', '.join(self.keys)}): {self.frequencies.sample_uniques} sample uniques, "
            f"global risk {self.individual_risk.global_risk:.4g}"
        )
        return "\n".join([first, *(f"  {verdict.word}: {verdict.sentence}" for verdict in self.verdicts)])


@dataclass(frozen=True, eq=False)
class Assessment:
    """Who can be recognised in a file, how surely, and what would be learnt.

    Attributes
    ----------
    scenario : Scenario
    n : int
        Records.
    engine : str
        What held the data: "polars", "pandas", "duckdb", ...
    intruders : tuple of IntruderAssessment
        One per intruder of the scenario.
    warnings : tuple of str
        What in the data makes a figure say less than it seems to.
    version, date : str
        Of sdckit, and of the assessment (ISO).
    measures : tuple of str
        Further measures that were asked for.
    """

    scenario: Scenario
    n: int
    engine: str
    intruders: tuple[IntruderAssessment, ...]
    warnings: tuple[str, ...]
    version: str
    date: str
    backend: Any = field(default="pyarrow", repr=False)
    measures: tuple[str, ...] = ()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Every declared threshold against every intruder."""
        return tuple(verdict for intruder in self.intruders for verdict in intruder.verdicts)

    @property
    def passed(self) -> bool | None:
        """Whether every declared threshold holds; None where none is declared or one could not be judged."""
        return all_hold(self.verdicts)

    def __getitem__(self, name: str) -> IntruderAssessment:
        """The assessment against one intruder, by name."""
        for intruder in self.intruders:
            if intruder.name == name:
                return intruder
        raise KeyError(name)

    def summary(self) -> Any:
        """Every figure as a frame (``intruder``, ``measure``, ``figure``, ``value``) of the caller's engine."""
        from sdckit.data.frames import frame_of

        rows = [
            (intruder.name, name, figure, value)
            for intruder in self.intruders
            for name, result in intruder.results()
            for figure, value in result._flat()
        ]
        columns = list(zip(*rows, strict=True))
        names = ("intruder", "measure", "figure", "value")
        return frame_of(dict(zip(names, map(list, columns), strict=True)), self.backend)

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact, ready for JSON; for the session, not for release (`to_json` writes that)."""
        return {
            "schema_version": SCHEMA_VERSION,
            "sdckit": self.version,
            "date": self.date,
            "n": self.n,
            "engine": self.engine,
            "passed": self.passed,
            "scenario": self.scenario.model_dump(mode="json"),
            "warnings": list(self.warnings),
            "intruders": {
                intruder.name: {
                    "keys": list(intruder.keys),
                    "verdicts": [{**json_ready(vars(v)), "sentence": v.sentence} for v in intruder.verdicts],
                    "measures": {name: result.to_dict() for name, result in intruder.results()},
                    "skipped": [{"measure": name, "reason": reason} for name, reason in intruder.skipped],
                }
                for intruder in self.intruders
            },
        }

    def n_at_risk(self) -> dict[str, int]:
        """Records that are unique, or beyond the thresholds k and risk, by intruder."""
        self._need_data()
        return {
            one.name: one.individual_risk.cells.count_where(*self._risk_limits()) for one in self.intruders
        }

    def at_risk(self, limit: int = 1000) -> list[dict[str, Any]]:
        """The same records: row (from 1), keys, figures; at most `limit` by intruder, the riskiest first.

        Confidential: for the session and for internal reports only. A plan has no row numbers.
        """
        self._need_data()
        return [
            {"intruder": one.name, **row}
            for one in self.intruders
            for row in one.individual_risk.cells.rows_where(*self._risk_limits(), limit)
        ]

    @property
    def _let_go(self) -> bool:
        return any(isinstance(one.individual_risk.cells, LetGo) for one in self.intruders)

    def _need_data(self) -> None:
        if self._let_go:
            raise DataError(LET_GO)

    def _risk_limits(self) -> tuple[float, float | None]:
        return (self.scenario.thresholds.k or 2) - 1e-9, self.scenario.thresholds.risk

    def report(self, path: str | Path, *, internal: bool = False) -> None:
        """Write the report for the release committee: one HTML file (or Markdown, by the name).

        Parameters
        ----------
        path : str or Path
            Ends in .html or .md; an existing file is replaced once the new one is whole.
        internal : bool
            Exact figures and the records at risk; stamped confidential, readable by the owner only.

        Raises
        ------
        DataError
            Fewer than 50 records, unless internal; an assessment that was pickled.
        FileFormatError
            The file cannot be written.
        """
        from sdckit.report import write_report

        self._need_data()
        write_report(self, path, internal=internal)

    def to_json(self, path: str | Path, *, internal: bool = False) -> None:
        """Write the protected figures as JSON; the path "-" prints them.

        Raises
        ------
        DataError
            Fewer than 50 records, unless internal; an assessment that was pickled.
        FileFormatError
            The file cannot be written.
        """
        from sdckit.report import write_json

        self._need_data()
        write_json(self, path, internal=internal)

    def plot(self, *, internal: bool = False) -> Any:
        """Altair charts of the figures, protected unless `internal`: a chart can be saved and passed on."""
        from sdckit.report import assessment_chart

        self._need_data()
        return assessment_chart(self, internal=internal)

    def _repr_html_(self) -> str:
        from sdckit.report import notebook_html

        if self._let_go:
            return f"<p>{LET_GO}</p>"
        html: str = notebook_html(self)
        return html

    def __repr__(self) -> str:
        first = f"Assessment of {self.n} records against {len(self.intruders)} intruder(s)"
        return "\n".join([first, *(indent(repr(intruder), "  ") for intruder in self.intruders)])
