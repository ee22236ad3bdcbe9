"""The options that say what a file is released as, and an office's limits for such files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from sdckit.errors import ScenarioError

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


PANEL = "Thresholds"


@dataclass(frozen=True, kw_only=True)
class ReleaseType:
    """A type of release by its name in a scenario, and the file of an office's types."""

    release_type: Annotated[
        str | None,
        Option(
            metavar="TYPE",
            help="Hold the thresholds of public-use, teaching, scientific-use, enclave, or a type of the office.",
            rich_help_panel=PANEL,
        ),
    ] = None
    release_types: Annotated[
        Path | None,
        Option(
            metavar="OFFICE.toml",
            help="An office's thresholds by type; instead of the scenario's [release_types].",
            rich_help_panel=PANEL,
        ),
    ] = None

    @property
    def entries(self) -> dict[str, Any]:
        """What was given, as entries of a scenario."""
        given = {"release": self.release_type, "release_types": self.release_types}
        return {name: value for name, value in given.items() if value is not None}

    def of(self, scenario: Scenario | None) -> Scenario | None:
        """The same scenario with what was given."""
        if not self.entries:
            return scenario
        if scenario is None:
            raise ScenarioError("--release-type and --release-types need a scenario; give --scenario S.toml")
        return scenario.changed(**self.entries)
