"""What a command would do, without reading the data: measures, memory, time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.catalogue import CATALOGUE, Measure, measure

if TYPE_CHECKING:
    from sdckit.data.readers import FileHeader
    from sdckit.data.scenario import Scenario

__all__ = ["applicable", "attacks_planned", "comparisons_planned", "plan_lines", "print_plan"]

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
ATTEMPTS = 500


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


def comparisons_planned(
    scenario: Scenario, columns: Iterable[str], *, aligned: bool, models: bool = False
) -> dict[str, str]:
    """Name the measures of a release beside its original, and what each lacks; empty where it would run.

    Parameters
    ----------
    scenario
        The declared roles.
    columns
        Columns that all files have.
    aligned
        Whether it is declared which rows belong together.
    models
        Whether a model was named.
    """
    from sdckit.workflow.release_measures import LEARNT, what_is_lacking

    shared = set(columns)
    fitted = scenario.narrowed(shared)
    found = what_is_lacking(fitted, aligned=aligned)
    if scenario.sensitive and not fitted.sensitive:
        gone = "a release does not have the sensitive variables"
        found |= dict.fromkeys(LEARNT, gone)
    several = len({*fitted.all_keys, *fitted.sensitive, *fitted.numeric}) > 1
    alone = "" if several else "there is only one variable in common"
    undeclared = "" if fitted.numeric else "no variable is declared numeric"
    return found | {
        "propensity": "",
        "ecdf_utility": undeclared,
        "compare_distributions": "",
        "tabular_utility": alone,
        "compare_associations": alone,
        "information_loss": undeclared if aligned else "rows are not declared to belong together",
        "compare_models": "" if models else "no model was named; give --model FORMULA",
    }


def attacks_planned(
    scenario: Scenario, columns: Iterable[str], *, aligned: bool, control: bool
) -> dict[str, str]:
    """Name the simulated attacks, and what each lacks; empty where it would be made.

    Parameters
    ----------
    scenario, columns, aligned
        As for `comparisons_planned`.
    control
        Whether there are people who were never in the file.
    """
    fitted = scenario.narrowed(set(columns))
    several = any(len(keys) > 1 for keys in scenario.intruders.values())
    one_key = "" if several else "there is only one key"
    learnt = "a release does not have the sensitive variables" if scenario.sensitive else "needs sensitive"
    unlinked = "" if find_spec("splink") else "needs splink: pip install 'sdckit[linkage]'"
    return {
        "singling_out": "",
        "membership": "" if control else "needs --control FILE",
        "distance_to_closest_record": "",
        "linkability": one_key,
        "probabilistic_linkage": one_key or unlinked if aligned else "needs --aligned or --id COLUMN",
        "inference": "" if fitted.sensitive else learnt,
    }


def plan_lines(
    path: Path,
    header: FileHeader,
    scenario: Scenario,
    measures: Sequence[str] = (),
    *,
    released: Sequence[tuple[Path, FileHeader]] = (),
    control: tuple[Path, FileHeader] | None = None,
    attacks: bool = False,
    n_attacks: int | None = None,
    aligned: bool | None = None,
    models: bool = False,
) -> list[str]:
    """Say what would run, and roughly what it would cost.

    Parameters
    ----------
    path, header
        The file.
    scenario
        The declared roles.
    measures
        Further measures that were asked for.
    released
        Each release with its header.
    control
        The control file with its header.
    attacks, n_attacks
        Whether attacks are made without a control file, too; attempts of each.
    aligned
        Whether it is declared which rows belong together; what the scenario says unless given.
    models
        Whether a model was named.
    """
    will, will_not = applicable(scenario, measures)
    lines = [f"{_would_read(path, header, scenario)}:", f"  {', '.join(scenario.columns)}"]
    lines += [f"{_would_read(*other, scenario)}, a release" for other in released]
    if control is not None:
        lines.append(f"{_would_read(*control, scenario)}, people never in the file")
    if scenario.identifiers:
        lines.append(f"Would not read: {', '.join(scenario.identifiers)}")
    for name, keys in scenario.intruders.items():
        lines.append(f"Intruder '{name}' knows {', '.join(keys)}")
    if released:
        lines.append("In each file:")
    lines += [f"  would run  {row.name}: {row.question}" for row in will]
    lines += [f"  would not  {row.name}: {reason}" for row, reason in will_not]
    if released:
        belong = scenario.aligned if aligned is None else aligned
        shared = set(header.columns).intersection(*(other.columns for _, other in released))
        lines.append("On a release beside the original:")
        lines += _told(comparisons_planned(scenario, shared, aligned=belong, models=models))
        if attacks or control is not None:
            lines.append(f"Simulated attacks, {n_attacks or ATTEMPTS:,} attempts each:")
            planned = attacks_planned(scenario, shared, aligned=belong, control=control is not None)
            lines += _told(planned)
        else:
            lines.append("Simulated attacks: none; --control FILE or --attacks starts them")
    limits = ", ".join(f"{name} {limit}" for name, limit in scenario.thresholds.declared.items())
    lines.append(f"Thresholds: {limits or 'none declared'}")
    others = [*released, *(() if control is None else (control,))]
    lines.append(_cost([(path, header), *others], scenario))
    return lines


def _would_read(path: Path, header: FileHeader, scenario: Scenario) -> str:
    held = [name for name in scenario.columns if name in header.columns]
    return f"Would read {len(held)} of {len(header.columns)} columns of {path.name} ({header.format})"


def _told(planned: dict[str, str]) -> list[str]:
    """What would run first."""
    will = [
        f"  would run  {name}: {measure(name).question}" for name, reason in planned.items() if not reason
    ]
    return will + [f"  would not  {name}: {reason}" for name, reason in planned.items() if reason]


def _cost(files: Sequence[tuple[Path, FileHeader]], scenario: Scenario) -> str:
    more = "; comparing the files takes more time" if len(files) > 1 else ""
    counts = [header.n_rows for _, header in files if header.n_rows is not None]
    if len(counts) < len(files):  # text is about as large in memory as in the file
        megabytes = (BYTES_AT_REST + 3 * sum(path.stat().st_size for path, _ in files)) / MEGABYTE
        return f"The number of records is not known before reading; memory about {megabytes:,.0f} MB{more}"
    n_rows = sum(counts)
    values = n_rows * len(scenario.columns)
    memory = BYTES_AT_REST + values * BYTES_PER_VALUE + n_rows * BYTES_PER_RECORD
    seconds = SECONDS_AT_REST + values * SECONDS_PER_VALUE * (1 + len(scenario.intruders))
    return f"{n_rows:,} records: memory about {memory / MEGABYTE:,.0f} MB, time about {seconds:,.0f} s{more}"


def print_plan(
    file: Path,
    scenario: Scenario,
    measures: Sequence[str],
    *,
    delimiter: str | None,
    encoding: str | None,
    released: Sequence[Path] = (),
    control: Path | None = None,
    id: str | None = None,
    **asked: Any,
) -> None:
    """Print what would run; of every file only the header and the number of records are read."""
    import typer

    from sdckit.cli.reading import release_header
    from sdckit.data.readers import scan_header

    header = scan_header(file, delimiter=delimiter, encoding=encoding)
    scenario.check_columns(header.columns, certain=header.certain)
    also = () if id is None else (id,)

    def other(one: Path, *needed: str) -> tuple[Path, FileHeader]:
        return one, release_header(one, scenario, delimiter=delimiter, encoding=encoding, also=needed)

    others = [other(one, *also) for one in released]
    people = None if control is None else other(control)
    aligned = scenario.aligned or id is not None
    for line in plan_lines(
        file, header, scenario, measures, released=others, control=people, aligned=aligned, **asked
    ):
        typer.echo(line)
