"""What a command on one file is told to read: options written once, handed over as one thing."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from sdckit.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    File,
    Join,
    JoinKey,
    Missing,
    Texts,
    UserMissing,
    codes,
    make_scenario,
)
from sdckit.cli.progress import Steps
from sdckit.cli.reading import read_declared, read_release
from sdckit.errors import ColumnError, ScenarioError

if TYPE_CHECKING:
    import polars as pl

    from sdckit.data.scenarios.scenario import Scenario


USED = ("intruders", "person", "identifiers", "missing", "alpha", "missing_codes")  # roles of every measure
DESIGN = ("weight", "sampling_fraction")
BEHIND = (
    "missing",
    "user_missing",
    "delimiter",
    "encoding",
    "decimal",
    "join",
    "join_key",
    "no_progress",
)  # a command's own options
AnyKeys = Annotated[Texts, Option("--keys", metavar="A,B", help="What an intruder could know.")]
FromFile = Annotated[
    Path | None, Option("--scenario", metavar="S.toml", help="Take roles and codes from a file; options win.")
]
OneIntruder = Annotated[
    str | None,
    Option("--intruder", metavar="NAME", help="One of the scenario's intruders, where it has several."),
]
NoProgress = Annotated[bool, Option("--no-progress", help="Show no progress; all else stays.")]
POPULATION = Option(
    "--population",
    metavar="FILE",
    help="The people the file is a part of, one row each; read as the file is.",
)
Population = Annotated[Path | None, POPULATION]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A file and how to read it; other files of the command are read alike."""

    file: File
    missing: Missing = None
    user_missing: UserMissing = False
    delimiter: Delimiter = None
    encoding: Encoding = None
    decimal: Decimal = None
    join: Join = None
    join_key: JoinKey = None

    @property
    def how(self) -> dict[str, Any]:
        """As the readers of files take it."""
        return {**self.how_others, "join": self.join, "join_key": self.join_key}

    @property
    def how_others(self) -> dict[str, Any]:
        """The same for releases, control and population: each is one file."""
        return {
            "delimiter": self.delimiter, "encoding": self.encoding, "decimal": self.decimal,
            "user_missing": self.user_missing,
        }  # fmt: skip

    @property
    def inputs(self) -> tuple[Path, ...]:
        """What is read and never written to."""
        return (self.file,) if self.join is None else (self.file, self.join)

    def labels(self) -> dict[str, str]:
        """The variable labels of the file, where it has some: a document prints them beside the names."""
        from sdckit.data.files.read_labelled import read_labels

        return dict(read_labels(self.file, encoding=self.encoding, join=self.join).variables)


@dataclass(frozen=True, kw_only=True)
class Source(Reading):
    """A file, how to read it, and what is known about its columns."""

    keys: AnyKeys = None
    scenario: FromFile = None
    intruder: OneIntruder = None
    no_progress: NoProgress = False

    def steps(self) -> Steps:
        """The progress display of the command."""
        return Steps(quiet=self.no_progress)

    def declared(
        self, *, design: bool = False, roles: Sequence[str] = (), missing_rule: list[str] | None = None,
        **given: Any,
    ) -> Scenario:  # fmt: skip
        """Make the scenario of one intruder: the file's, each entry replaced where an option names it.

        Roles that the command has no use for are left out, so that their columns are not read; `design`
        keeps weight and sampling fraction, and `roles` are kept, too.
        """
        if self.keys and self.intruder:
            raise ScenarioError("--keys are those of one intruder; leave --intruder out")
        whole = make_scenario(
            self.scenario, keys=self.keys, intruders=None, missing_rule=missing_rule, thresholds={},
            missing_codes=codes(self.missing), **given,
        )  # fmt: skip
        if self.intruder is None and len(whole.intruders) > 1:
            names = ", ".join(whole.intruders)
            raise ScenarioError(f"the scenario has several intruders ({names}); --intruder NAME takes one")
        one = whole.intruder(self.intruder or next(iter(whole.intruders)))
        used = (*USED, *roles, *(DESIGN if design else ()))
        return type(one)(**{name: getattr(one, name) for name in used})

    def read(
        self, scenario: Scenario, steps: Steps, *, file: Path | None = None, also: tuple[str, ...] = (),
        whole: bool = False,
    ) -> pl.DataFrame:  # fmt: skip
        """Read the columns that the scenario declares, and `also`; of the file, or of another read alike.

        The `whole` of a file is all of its columns but for identifiers.
        """
        how = self.how if file is None else self.how_others
        if whole:
            return read_release(file or self.file, scenario, steps=steps, also=also, whole=True, **how)
        return read_declared(file or self.file, scenario, steps=steps, also=also, **how)


def read_population(source: Source, path: Path, scenario: Scenario, steps: Steps) -> pl.DataFrame:
    """Read the keys of a population file, as the file itself is read."""
    known = type(scenario)(intruders=scenario.intruders, missing_codes=scenario.missing_codes)
    try:
        return source.read(known, steps, file=path)
    except ColumnError as error:
        raise ColumnError(f"population {path.name}: {error}", argument=error.argument) from None


def reads_keys(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a `Source`, which it takes as its first argument."""
    return _with_options(command, Source, behind=BEHIND)


def reads_a_file(command: Callable[..., Any]) -> Callable[..., Any]:
    """Do the same for a command without keys: its file and how to read it, and the scenario."""
    return _with_options(command, Source, leave_out=("keys", "intruder"), behind=BEHIND)


def takes(*groups: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options of several such classes, which it takes as its first arguments."""
    return lambda command: _with_options(command, *groups)


def _with_options(
    command: Callable[..., Any], *groups: type, leave_out: Sequence[str] = (), behind: Sequence[str] = ()
) -> Callable[..., Any]:
    """Put the options of groups before the command's own, and some `behind` them.

    Arguments without a name come first: the command's own, then the file.
    """
    shared = {
        name: one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for group in groups
        for name, one in inspect.signature(group, eval_str=True).parameters.items()
        if name not in leave_out
    }
    own = list(inspect.signature(command, eval_str=True).parameters.values())[len(groups) :]
    typed_first = [one for one in own if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    first = sorted(
        (one for name, one in shared.items() if name not in behind), key=lambda one: one.name != "file"
    )

    @wraps(command)
    def called(**values: Any) -> Any:
        made = [
            group(**{one.name: values.pop(one.name) for one in fields(group) if one.name in shared})
            for group in groups
        ]
        return command(*made, **values)

    last = [one for one in own if one not in typed_first] + [shared[name] for name in behind]
    called.__signature__ = inspect.Signature([*typed_first, *first, *last])  # type: ignore[attr-defined]
    called.__annotations__ = {}
    return called
