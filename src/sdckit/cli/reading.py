"""Read what a command needs of a file, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from sdckit.errors import ColumnError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from sdckit.cli.progress import Steps
    from sdckit.data.files.file_checks import FileHeader
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.recoding.recodings import Recodings


RELEASE_PANEL = "A release against its original"
GivenRecipe = Annotated[
    Path | None,
    Option(
        "--recipe",
        metavar="RECIPE.toml",
        help="The recipe that made the release: its recodings are done to FILE first, nothing else of it.",
        rich_help_panel=RELEASE_PANEL,
    ),
]
GivenLog = Annotated[
    Path | None,
    Option(
        "--log",
        metavar="LOG.json",
        help="The log of protect --log instead: it is held against the files, too.",
        rich_help_panel=RELEASE_PANEL,
    ),
]


def read_given(
    file: Path, recipe: Path | None, log: Path | None, *, identifiers: Sequence[str] = (), **how: Any
) -> Recodings | None:
    """Read ``--recipe`` and ``--log``; a log is held against the columns of the whole file, of which few are read."""
    if recipe is None and log is None:
        return None
    from sdckit.data.files.readers import scan_header
    from sdckit.workflow.recoding.recodings import read_recodings

    found = read_recodings(recipe, log)
    assert found is not None
    if log is None:
        return found
    columns = scan_header(file, **how).columns
    return found.check_file(columns, identifiers=identifiers)


def read_declared(
    file: Path, scenario: Scenario, *, steps: Steps, also: tuple[str, ...] = (), if_there: tuple[str, ...] = (),
    **how: Any,
) -> pl.DataFrame:  # fmt: skip
    """Read the declared columns of a file, and `also`; an absent one is named by its role.

    `how` it is read are options of `read_file`. Of those named `if_there` what the file has, never an identifier.
    """
    steps.step(f"reading {file.name}")
    from sdckit.data.files.readers import read_file, scan_header

    if if_there:
        header = scan_header(file, **how)
        also += tuple(
            name for name in if_there if name in header.columns and name not in scenario.identifiers
        )
    linking = None if scenario.ledger is None else scenario.ledger.id
    try:
        return read_file(
            file, columns=tuple(dict.fromkeys([*scenario.columns, *also])),
            identifiers=[name for name in scenario.identifiers if name != linking],
            missing=scenario.missing_codes, **how,
        )  # fmt: skip
    except ColumnError:  # the scenario knows which role the absent column was to play
        header = scan_header(file, **how)
        scenario.check_columns(header.columns, certain=header.certain)
        raise


def release_header(file: Path, scenario: Scenario, *, also: tuple[str, ...] = (), **how: Any) -> FileHeader:
    """Read the names of a release's columns alone, or of a control file's; one without a key is refused."""
    from sdckit.data.files.readers import scan_header

    header = scan_header(file, **how)
    needed = (*scenario.all_keys, *also)
    if absent := [name for name in needed if name not in header.columns]:
        raise ColumnError(
            f"{file.name} has no column {absent[0]!r}; a release and a control file need every key, and a release "
            "the id where one is named. Where a recipe left it out, give --recipe or --log"
        )
    return header


def read_release(
    file: Path,
    scenario: Scenario,
    *,
    steps: Steps,
    also: tuple[str, ...] = (),
    whole: bool = False,
    **how: Any,
) -> pl.DataFrame:
    """Read the declared columns that a release has, or the `whole` of it but for identifiers.

    One without a key is refused with its name.
    """
    header = release_header(file, scenario, also=also, **how)
    left = scenario.narrowed(header.columns)
    # identifiers are gone from a release, as they should be
    left = left.changed(identifiers=[name for name in left.identifiers if name in header.columns])
    return read_declared(
        file, left, steps=steps, also=also, if_there=tuple(header.columns) if whole else (), **how
    )  # fmt: skip
