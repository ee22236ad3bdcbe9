"""What a command would do, without reading the data: measures, memory, time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sdckit.catalogue import CATALOGUE, Measure

if TYPE_CHECKING:
    from sdckit.data.readers import FileHeader
    from sdckit.data.scenario import Scenario

__all__ = ["applicable", "plan_lines"]

# What `assess` runs without being asked; the others are named by --measures.
ALWAYS = (
    "key_frequencies",
    "k_anonymity",
    "individual_risk",
    "household_structure",
    "key_contributions",
    "l_diversity",
)
DESIGNED = ("population_risk", "population_uniques")
# Measured on two cores with one and ten million records, seven keys, a weight and households; meant as an
# order of magnitude.
BYTES_PER_VALUE = 16
BYTES_PER_RECORD = 120
BYTES_AT_REST = 400_000_000
SECONDS_PER_VALUE = 2e-7
SECONDS_AT_REST = 2.0
MEGABYTE = 1_000_000


def applicable(
    scenario: Scenario, measures: Sequence[str] = ()
) -> tuple[list[Measure], list[tuple[Measure, str]]]:
    """Split the measures `assess` runs into those the roles permit and the others, with what each lacks.

    Parameters
    ----------
    scenario
        The declared roles.
    measures
        Further measures that were asked for.
    """
    roles = ("household", "sensitive", "weight", "numeric")
    declared = {"keys"} | {role for role in roles if getattr(scenario, role)}
    designed = scenario.weight is not None or scenario.sampling_fraction is not None
    will: list[Measure] = []
    will_not: list[tuple[Measure, str]] = []
    for row in CATALOGUE:
        if row.name not in ALWAYS and row.name not in measures:
            continue
        lacking = [role for role in row.needs if role not in declared]
        if row.name in DESIGNED and not designed:
            lacking.append("weight or sampling_fraction")
        if lacking:
            will_not.append((row, f"needs {' and '.join(lacking)}"))
        else:
            will.append(row)
    return will, will_not


def plan_lines(path: Path, header: FileHeader, scenario: Scenario, measures: Sequence[str] = ()) -> list[str]:
    """Say what would run, and roughly what it would cost."""
    will, will_not = applicable(scenario, measures)
    share = f"{len(scenario.columns)} of {len(header.columns)} columns"
    lines = [
        f"Would read {share} of {path.name} ({header.format}):",
        f"  {', '.join(scenario.columns)}",
    ]
    if scenario.identifiers:
        lines.append(f"Would not read: {', '.join(scenario.identifiers)}")
    for name, keys in scenario.intruders.items():
        lines.append(f"Intruder '{name}' knows {', '.join(keys)}")
    lines += [f"  would run  {row.name}: {row.question}" for row in will]
    lines += [f"  would not  {row.name}: {reason}" for row, reason in will_not]
    limits = ", ".join(f"{name} {limit}" for name, limit in scenario.thresholds.declared.items())
    lines.append(f"Thresholds: {limits or 'none declared'}")
    lines.append(_cost(path, header.n_rows, scenario))
    return lines


def _cost(path: Path, n_rows: int | None, scenario: Scenario) -> str:
    width = len(scenario.columns)
    if n_rows is None:  # text is about as large in memory as in the file
        megabytes = (BYTES_AT_REST + 3 * path.stat().st_size) / MEGABYTE
        return f"The number of records is not known before reading; memory about {megabytes:,.0f} MB"
    values = n_rows * width
    memory = BYTES_AT_REST + values * BYTES_PER_VALUE + n_rows * BYTES_PER_RECORD
    seconds = SECONDS_AT_REST + values * SECONDS_PER_VALUE * (1 + len(scenario.intruders))
    return f"{n_rows:,} records: memory about {memory / MEGABYTE:,.0f} MB, time about {seconds:,.0f} s"
