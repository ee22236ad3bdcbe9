"""What the commands that change files share: reading all of one, and writing what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sdckit.cli.options import as_typed, codes, option, path_typed
from sdckit.cli.outputs import TO_STDOUT, refuse_existing
from sdckit.data.files.file_limits import json_in
from sdckit.errors import DataError, FileFormatError, ScenarioError

if TYPE_CHECKING:
    import polars as pl

    from sdckit.cli.options import ReleaseType
    from sdckit.cli.progress import Steps
    from sdckit.cli.source import EngineOptions, Reading
    from sdckit.data.files.file_labels import FileLabels
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.recipes.recipe import Applied, Recipe
    from sdckit.workflow.recipes.recipe_log import RecipeLog

# Logs of older releases: none stays beside a file that it is not the log of.


def refuse_old_logs(files: Sequence[Path], *, replaced: Sequence[Path | None]) -> None:
    """Refuse to write files that a log beside them names, unless it is one of those that are replaced with them.

    Such a log would be taken for that of the new file. It is looked for in the folder of the files.
    """
    goes = {path.resolve() for path in replaced if path is not None}
    for folder in dict.fromkeys(path.resolve().parent for path in files):
        here = {path.name for path in files if path.resolve().parent == folder}
        for log in sorted(folder.glob("*.json")):
            if log.resolve() not in goes and (named := sorted(here & _named_by(log))):
                raise ScenarioError(
                    f"{log.name} is the log of an older {named[0]} and would be left beside the new one; "
                    f"--log {log.name} replaces both, or move it away"
                )


def _named_by(path: Path) -> set[str]:
    """The releases that a file is the log of; none where it is no log."""
    from sdckit.workflow.recipes.recipe_log import FORMAT

    try:
        with path.open("rb") as file:
            if FORMAT.encode() not in file.read(len(FORMAT) + 50):  # the format stands first
                return set()
        return {name for name in json_in(path)["released"] if isinstance(name, str)}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


Out = Annotated[Path, option("protected", "--out", "-o")]
Log = Annotated[Path | None, option("protected", "--log")]
Replay = Annotated[Path | None, option("protected", "--replay")]
SeedMixed = Annotated[int | None, option("protected", "--seed")]
Force = Annotated[bool, option("protected", "--force")]
Labelled = Annotated[bool | None, option("protected", "--labels/--no-labels")]
Safe = Annotated[bool, option("protected", "--excel-safe")]


def read_all(
    file: Path, reading: Reading, *, steps: Steps, recipe: Recipe, scenario: Scenario | None,
    leave_out: Sequence[str], **how: Any,
) -> pl.DataFrame:  # fmt: skip
    """Read every column of a file but those to be left out.

    `how` it is read are options of `read_file`. Where a CSV's first line might be a record, the columns of recipe
    and scenario must be in it, or none of its names is told.
    """
    steps.step(f"reading {file.name}")
    from sdckit.data.files.readers import read_file, scan_header

    if not scan_header(file, **how).certain:
        from sdckit.workflow.recipes.recipe_checks import columns_mentioned

        needed = (*columns_mentioned(recipe.all_steps), *(() if scenario is None else scenario.columns))
        if not needed:
            raise DataError(f"the first line of {file.name} may be a record, not a header; name columns")
        scan_header(file, columns=tuple(dict.fromkeys(needed)), **how)

    return read_file(file, identifiers=tuple(leave_out), missing=codes_of(reading.missing, scenario), **how)


def open_all(
    reading: Reading, engine: EngineOptions, *, steps: Steps, recipe: Recipe, scenario: Scenario | None,
    leave_out: Sequence[str],
) -> tuple[Any, int]:  # fmt: skip
    """The same of FILE, as a plan where an engine is named; and its number of records."""
    if engine.used:
        return engine.scan(reading, steps, identifiers=leave_out, missing=codes_of(reading.missing, scenario))
    frame = read_all(
        reading.file, reading, steps=steps, recipe=recipe, scenario=scenario, leave_out=leave_out, **reading.how
    )
    return frame, frame.height


def read_replay(
    path: Path | None, recipe: Recipe, *, scenario: Scenario | None = None, seed: int | None = None,
    keys: Mapping[str, str] | None = None,
) -> RecipeLog | None:  # fmt: skip
    """Read the log of ``--replay``, and refuse one of another recipe or scenario, before any work."""
    if path is None:
        return None
    from sdckit.workflow.recipes.recipe_log import RecipeLog

    if seed is not None or keys:
        raise ScenarioError("--replay takes the secret, seed and keys of its log; leave out --seed and --id-key")
    log = RecipeLog.read(path)
    if log.recipe != recipe.to_toml():
        raise ScenarioError(f"{path.name} is the log of another recipe; give the one that it was written with")
    if log.scenario != ("" if scenario is None else scenario.to_toml()):
        raise ScenarioError(f"{path.name} is the log of another scenario; give the one that it was written with")
    return log


def apply_or_replay(
    recipe: Recipe, data: Any, log: RecipeLog | None, *, steps: Steps, watch: bool = True,
    scenario: Scenario | None = None, seed: int | None = None, keys: Mapping[str, str] | None = None,
) -> Applied:  # fmt: skip
    """Apply a recipe by draws of its own, or by those of a log."""
    if log is not None:
        return recipe.replay(data, log, folder=recipe.folder, watch=watch, step=steps.step)
    return recipe.apply(data, scenario=scenario, seed=seed, id_keys=keys, watch=watch, step=steps.step)


def check_release(out: Sequence[Path], log: Path | None, *, replay: Path | None, force: bool) -> None:
    """Refuse to replace a release or a log, and to leave the log of an older release beside a new one."""
    refuse_existing(*out, log, force=force)
    refuse_old_logs(out, replaced=(log, replay))


def check_format(out: Path, *files: Path, excel_safe: bool) -> None:
    """Refuse an output of no format, or one that is the input, before any work."""
    from sdckit.data.files.write_file import check_output

    kind, _ = check_output(out, sources=files)
    if excel_safe and kind != "CSV":
        raise FileFormatError(f"--excel-safe is for CSV; {out.name} is {kind}, which runs nothing")


def check_written(out: Path, *, labels: bool | None) -> None:
    """Refuse what no engine writes."""
    if out.suffix.lower() not in {".parquet", ".pq"}:
        raise FileFormatError(f"{out.name}: an engine writes Parquet; let the name end in .parquet")
    if labels:
        raise ScenarioError("--labels: an engine writes none; leave it out")


def labels_for(out: Path, reading: Reading, *, wanted: bool | None) -> FileLabels:
    """What FILE says of its columns, where it is to go into OUT: by itself where OUT has codes to label."""
    from sdckit.data.files.file_labels import FileLabels
    from sdckit.data.files.read_labelled import read_labels
    from sdckit.data.files.write_file import LABELLED, WRITTEN

    kind = WRITTEN[out.suffix.lower()]
    if wanted and kind == "CSV":
        raise FileFormatError(f"--labels: {out.name} is CSV, which has no labels; leave it out, or write .sav or .dta")
    if not (kind in LABELLED if wanted is None else wanted):
        return FileLabels()
    return read_labels(reading.file, encoding=reading.encoding, join=reading.join)


def scenario_of(recipe: Recipe, path: Path | None) -> Scenario | None:
    """The scenario of the option, else the one that the recipe names."""
    from sdckit.data.scenarios.scenario import Scenario

    return recipe.find_scenario(None if path is None else Scenario.from_toml(path))


def codes_of(missing: list[str] | None, scenario: Scenario | None) -> Sequence[str]:
    """The codes for missing of the option, else of the scenario."""
    return codes(missing) or (() if scenario is None else scenario.missing_codes)


def next_commands(recipe: str, reading: Reading, of_type: ReleaseType, scenario: Path) -> list[str]:
    """The commands that protect a file by the recipe written to `recipe`, and check the release."""
    from sdckit.data.files.write_file import WRITTEN

    ending = reading.file.suffix.lower()
    released = f"safe{ending if ending in WRITTEN else '.csv'}"  # types and labels stay
    name, file = path_typed("recipe.toml" if recipe == TO_STDOUT else recipe), path_typed(reading.file)
    given = f" --scenario {path_typed(scenario)}{as_typed(reading, of_type)}"
    return [
        f"  sdckit protect {name} {file}{given} --out {released} --log log.json",
        f"  sdckit check {file}{given} --released {released} --log log.json",
    ]


def public_command(
    released: Path, scenario: Path, *read: Any, recipe: Path | None = None, log: Path | None = None
) -> str:
    """The command that writes the document that may go out beside a release: of the release by itself.

    >>> public_command(Path("safe.csv"), Path("our scenario.toml"), log=Path("log.json"))
    "sdckit assess safe.csv --scenario 'our scenario.toml' --log log.json --public --report safe-public.html"
    """
    made = "".join(
        f" --{name} {path_typed(path)}" for name, path in (("recipe", recipe), ("log", log)) if path is not None
    )
    report = path_typed(f"{released.stem}-public.html")
    given = f"{path_typed(released)} --scenario {path_typed(scenario)}{as_typed(*read)}{made}"
    return f"sdckit assess {given} --public --report {report}"


DECIDES = "for those who decide, not to go out with the release"
MAY_GO_OUT = "What may go out with the release is a report of it by itself:"
