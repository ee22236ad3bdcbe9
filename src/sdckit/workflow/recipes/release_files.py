"""Write a release to files together with its log, remembered in the ledger of its scenario before it is written."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.errors import DataError, ScenarioError, sure

if TYPE_CHECKING:
    from sdckit.attacks.differencing.release_ledger import ReleaseLedger
    from sdckit.data.files.file_labels import FileLabels
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.recipes.recipe import Applied, Recipe
    from sdckit.workflow.recipes.recipe_log import RecipeLog


def write_release(
    data: Any, out: Path, *, log: RecipeLog | None, log_path: Path | None, sources: Sequence[Path], excel_safe: bool,
    labels: FileLabels, remember: Callable[[Sequence[Path], Sequence[Path]], None] | None = None,
) -> list[Path]:  # fmt: skip
    """Write the protected file, or each of several, and the log.

    All of it is written beside its place first. Then an older release goes, the log comes into place, and the
    release after it: whatever ends the program between, no file has the log of another, and none is without its own.
    Before, where it is given, `remember` is called with the files and the places they go to.
    """
    from sdckit.data.files.file_labels import shared_codes
    from sdckit.data.files.whole_files import real_target, remove, replacing
    from sdckit.data.files.write_file import WRITTEN, writing_file
    from sdckit.data.frames import is_lazy, open_frame

    files = data if isinstance(data, list) else [data]
    if len(files) > 1 and not is_lazy(open_frame(files[0])):
        labels = shared_codes(files, labels, WRITTEN[out.suffix.lower()])
    paths = numbered(out, len(files))
    with ExitStack() as moved:  # the last one entered is moved first
        parts = [
            moved.enter_context(writing_file(file, path, labels=labels, sources=sources, excel_safe=excel_safe))
            for file, path in zip(files, paths, strict=True)
        ]
        if log_path is not None and log is not None:
            part = moved.enter_context(replacing(real_target(log_path), what="the log", private=True))
            replace(log, released=tuple(path.name for path in paths)).write(part)
        if remember is not None:
            remember(parts, paths)
        if log_path is not None and log is not None:
            for path in paths:
                older = real_target(path)
                remove(older) if older.is_dir() else older.unlink(missing_ok=True)
    return paths


def numbered(out: Path, m: int) -> list[Path]:
    """Names of m files: the one given, or with _1, _2, ... before the ending.

    Examples
    --------
    >>> [path.name for path in numbered(Path("out.csv"), 2)]
    ['out_1.csv', 'out_2.csv']
    """
    return [out] if m == 1 else [out.with_name(f"{out.stem}_{j}{out.suffix}") for j in range(1, m + 1)]


def unread(recipe: Recipe, scenario: Scenario | None) -> tuple[str, ...]:
    """Identifiers that no step uses: they are not read, so they cannot be released."""
    from sdckit.workflow.recipes.recipe_checks import columns_used

    used = columns_used(recipe.steps)
    return () if scenario is None else tuple(name for name in scenario.identifiers if name not in used)


# A release in the ledger: pending until `check` passes it.


def ledger_files(scenario: Scenario | None, folder: Path | None = None, key: Path | None = None) -> tuple[Path, Path]:
    """The folder of a ledger and the file of its key: those that are named, else those of a scenario.

    Raises ScenarioError: none is named.
    """
    if scenario is not None and scenario.ledger is not None:
        folder = folder or scenario.folder / scenario.ledger.folder
        key = key or scenario.folder / scenario.ledger.key
    if folder is None or key is None:
        raise ScenarioError("name the ledger and its key: --ledger DIR --key FILE, or [ledger] in the scenario")
    return folder, key


def open_ledger(scenario: Scenario | None, folder: Path | None = None, key: Path | None = None) -> ReleaseLedger:
    """Open the ledger of a scenario, or the one that is named.

    Raises ScenarioError: none is named; FileFormatError, DataError: as `ReleaseLedger.open`.
    """
    from sdckit.attacks.differencing.release_ledger import ReleaseLedger

    folder, key = ledger_files(scenario, folder, key)
    survey = None if scenario is None or scenario.ledger is None else scenario.ledger.survey
    return ReleaseLedger.open(folder, key=key, survey=survey)


def check_ledger(scenario: Scenario | None) -> None:
    """Open the ledger of a scenario that names one: a key that is not there is told before any work.

    Raises as `open_ledger`.
    """
    if scenario is not None and scenario.ledger is not None:
        open_ledger(scenario)


def own_entries(ledger: ReleaseLedger, files: Sequence[Path]) -> tuple[str, ...]:
    """The entries of a ledger that remember files that are to go out, known by their bytes."""
    return tuple(dict.fromkeys(name for file in files if file.is_file() for name in ledger.names_of(file)))


def against_ledger(
    scenario: Scenario, files: Sequence[Path], earlier: Sequence[Path] = ()
) -> tuple[Scenario, ReleaseLedger | None, tuple[str, ...]]:
    """The scenario with its ledger opened but for the entries of these files; that ledger, and these entries.

    The `earlier` releases are compared by all of their columns. Raises DataError: the ledger does not know one of them
    by its bytes; ScenarioError: there is no ledger.
    """
    place = scenario.ledger
    if place is None:
        if earlier:
            raise ScenarioError(NO_LEDGER)
        return scenario, None, ()
    ledger = open_ledger(scenario)
    own = own_entries(ledger, files)
    at_hand = dict(place.files)
    for file in earlier:
        names = ledger.names_of(file)
        if not names:
            raise DataError(UNKNOWN.format(file=file.name))
        at_hand |= dict.fromkeys(names, str(file.resolve()))
    place = place.model_copy(update={"files": at_hand})
    return scenario.changed(ledger=place.holding(ledger.without(own))), ledger, own


NO_LEDGER = (
    "--earlier gives releases of the scenario's ledger themselves, and the scenario names no ledger; sdckit ledger "
    "check --earlier FILE compares two files without one"
)
UNKNOWN = (
    "the ledger does not know {file} by its bytes; give the file as it went out, or say which release it is: under "
    '[ledger] files = {{"NAME" = "FILE"}}'
)


@dataclass(frozen=True)
class PendingRelease:
    """What the ledger of a scenario is to remember of the files that a recipe writes.

    `ids` reads a column of the file that they are made from: the id of the ledger may stay there. `again`: whether a
    pending entry of the same name is replaced.
    """

    ledger: ReleaseLedger
    scenario: Scenario
    names: tuple[str, ...]
    ids: Callable[[str], Any]
    date: str = ""
    again: bool = False

    def check_names(self) -> PendingRelease:
        """Raise DataError where a name is taken: by a release that went out, or by a pending one that stays."""
        for name in self.names:
            self.ledger._file.check_free(name, again=self.again)
        return self

    def remember(self, applied: Applied, parts: Sequence[Path], paths: Sequence[Path]) -> None:
        """Add an entry of each file before it is moved from its part to its path.

        A file that the ledger knows already, by its bytes, is left as it is.
        """
        ledger, people = self.ledger, sure(self.scenario.ledger).people or ""
        for part, path, name in zip(parts, paths, self.names, strict=True):
            if ledger.names_of(part):
                continue
            frame, own, id = _as_read(part, path.suffix, self.scenario, applied, self.ids)
            ledger = ledger.add(
                frame, name=name, scenario=own, date=self.date, people=people, id=id, file=part, pending=True,
                again=self.again,
            )  # fmt: skip

    @property
    def line(self) -> str:
        """What became of it, in a sentence."""
        return f"In the ledger of {self.ledger.survey}: {', '.join(self.names)}, pending until sdckit check passes it."


def _as_read(
    part: Path, suffix: str, scenario: Scenario, applied: Applied, ids: Callable[[str], Any]
) -> tuple[Any, Scenario, str | None]:
    """The release as whoever has the file reads it, its scenario, and the id, from the original where it lacks it."""
    from sdckit.data.files.readers import read_file
    from sdckit.data.files.whole_files import spill_folder
    from sdckit.data.frames import open_frame
    from sdckit.data.replace import with_column_of
    from sdckit.workflow.recoded_original.published_recodings import left_of, read_recodings

    with spill_folder() as place:
        copy = place / f"release{suffix}"  # readers go by the ending
        shutil.copyfile(part, copy)
        frame: Any = open_frame(read_file(copy, missing=scenario.missing_codes))
    recodings = sure(read_recodings(applied.recipe, applied.log))
    left, _ = left_of(scenario, recodings, frame.columns)
    own, id = left.narrowed(frame.columns), None if left.ledger is None else left.ledger.id
    own = own.changed(identifiers=[name for name in own.identifiers if name not in frame.columns])
    if id is None or id in frame.columns:
        return frame.to_native(), own, id
    if not recodings.tells_rows:  # nobody's records
        return frame.to_native(), own, None
    column, rows = ids(id), recodings.in_order_of(applied.original).rows
    whole = with_column_of(frame, column if rows is None else column[rows.tolist()])
    return whole.to_native(), own.keeping_back_id(), id
