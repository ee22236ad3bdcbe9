"""The options that leave a file with an engine: it is grouped there, and never read whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, cast

from typer import Option

from sdckit.cli.progress import Steps
from sdckit.cli.source import Reading
from sdckit.errors import ScenarioError

if TYPE_CHECKING:
    from sdckit.data.files.file_checks import FileHeader
    from sdckit.data.files.scan_file import ScanEngine
    from sdckit.data.scenarios.scenario import Scenario


PANEL = "Larger than memory"
IN_MEMORY = "memory"
SHARE = 4  # DuckDB may take one part in so many of the free memory


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """Which engine reads and groups, and what it may take."""

    engine: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="polars, duckdb or spark: FILE is Parquet or CSV, or a folder of it, and is never read whole; memory: "
            "it is. Else assess and check choose by what fits.",
            rich_help_panel=PANEL,
        ),
    ] = None
    memory: Annotated[
        str | None, Option(metavar="4GB", help="What --engine duckdb may take.", rich_help_panel=PANEL)
    ] = None

    @property
    def used(self) -> bool:
        """Whether an engine was asked for."""
        return self.engine not in (None, IN_MEMORY)

    def by_default(self, reading: Reading, scenario: Scenario, *, has_release: bool) -> EngineOptions:
        """With an engine for a folder, an address and a file too large for the memory, where none is named.

        DuckDB where it is installed, which keeps to a quarter of the free memory, else Polars.
        """
        from sdckit.data.files.scan_file import is_for_an_engine
        from sdckit.data.memory import free_bytes

        named = self.engine is not None or self.memory is not None
        if named or _not_done(reading, has_release=has_release) is not None:
            return self
        if not is_for_an_engine(reading.file, len(scenario.columns)):
            return self
        if find_spec("duckdb") is None:
            return replace(self, engine="polars")
        free = free_bytes()
        return replace(self, engine="duckdb", memory=None if free is None else f"{free // SHARE // 10**6}MB")

    def check(self, reading: Reading, *, has_release: bool) -> None:
        """Refuse what no engine does: comparing a release, joining a second file."""
        if not self.used:
            if self.memory is not None:
                raise ScenarioError("--memory is what an engine may take; give --engine duckdb")
            return
        if (refused := _not_done(reading, has_release=has_release)) is not None:
            raise ScenarioError(refused)

    def header(self, reading: Reading) -> FileHeader:
        """What the file says of itself; its records are not read."""
        from sdckit.data.files.readers import plan_header

        return plan_header(
            reading.file, engine=cast("ScanEngine", self.engine), memory=self.memory, delimiter=reading.delimiter,
            encoding=reading.encoding,
        )  # fmt: skip

    def open(
        self, reading: Reading, scenario: Scenario, also: Sequence[str], steps: Steps
    ) -> tuple[Any, int]:
        """The declared columns of the file as a plan, and its number of records."""
        columns = tuple(dict.fromkeys([*scenario.columns, *also]))
        return self.scan(
            reading, steps, columns=columns, identifiers=scenario.identifiers, missing=scenario.missing_codes
        )

    def scan(
        self, reading: Reading, steps: Steps, *, columns: Sequence[str] | None = None, identifiers: Sequence[str] = (),
        missing: Sequence[str] = (),
    ) -> tuple[Any, int]:  # fmt: skip
        """The file as a plan, all its columns where none are named, and its number of records."""
        from sdckit.data.files.scan_file import scan_file
        from sdckit.data.frames import count_records

        steps.step(f"opening {reading.file.name} by {self.engine}")
        plan = scan_file(
            reading.file, engine=cast("ScanEngine", self.engine), columns=columns, identifiers=identifiers,
            missing=missing, memory=self.memory, delimiter=reading.delimiter, encoding=reading.encoding,
            decimal=reading.decimal,
        )  # fmt: skip
        return plan, count_records(plan)


def _not_done(reading: Reading, *, has_release: bool) -> str | None:
    """Why no engine takes what was asked for; None where one does."""
    if has_release:
        return "--engine is for a file by itself; a release is compared in memory, leave it out"
    if reading.join is not None or reading.user_missing:
        return "--engine reads one Parquet or CSV file as it is; leave --join, --user-missing out"
    return None
