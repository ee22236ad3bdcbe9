"""Write a release to files together with its log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sdckit.data.files.file_labels import FileLabels
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.recipes.recipe import Recipe
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
