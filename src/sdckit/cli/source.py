"""What a command on one file is told to read: options written once, handed over as one thing."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial, wraps
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from sdckit.cli import errors, options
from sdckit.cli.progress import Steps
from sdckit.display import some_of
from sdckit.errors import ColumnError, ScenarioError, sure

if TYPE_CHECKING:
    import polars as pl

    from sdckit.data.files.file_checks import FileHeader
    from sdckit.data.files.scan_file import ScanEngine
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.recoded_original.published_recodings import Recodings

# Read what a command needs of a file, and nothing else.


GivenRecipe = Annotated[Path | None, options.option("release", "--recipe")]
GivenLog = Annotated[Path | None, options.option("release", "--log")]

GivenTargets = Annotated[int | None, options.option("release", "--targets")]


def read_given(
    file: Path, recipe: Path | None, log: Path | None, *, identifiers: Sequence[str] = (),
    header: FileHeader | None = None, **how: Any,
) -> Recodings | None:  # fmt: skip
    """Read ``--recipe`` and ``--log``; a log is held against the columns of the whole file, of which few are read."""
    if recipe is None and log is None:
        return None
    from sdckit.data.files.readers import scan_header
    from sdckit.workflow.recoded_original.published_recodings import read_recodings

    recodings = sure(read_recodings(recipe, log))
    if log is None:
        return recodings
    return recodings.check_file((header or scan_header(file, **how)).columns, identifiers=identifiers)


def read_declared(
    file: Path, scenario: Scenario, *, steps: Steps, also: tuple[str, ...] = (), if_there: tuple[str, ...] = (),
    header: FileHeader | None = None, **how: Any,
) -> pl.DataFrame:  # fmt: skip
    """Read the declared columns of a file, and `also`; an absent one is named by its role.

    `how` it is read are options of `read_file`. Of those named `if_there` what the file has; identifiers only where
    they are among `also`; its `header` where it is known.
    """
    steps.step(f"reading {file.name}")
    from sdckit.data.files.readers import read_file, scan_header

    if if_there:
        header = header or scan_header(file, **how)
        also += tuple(name for name in if_there if name in header.columns and name not in scenario.identifiers)
    names = [*scenario.columns, *also]
    if header is not None:  # as the file has them: what is tried first may depend on it
        places = {name: place for place, name in enumerate(header.columns)}
        names.sort(key=lambda name: places.get(name, len(places)))
    linking = None if scenario.ledger is None else scenario.ledger.id
    try:
        return read_file(
            file, columns=tuple(dict.fromkeys(names)),
            identifiers=[name for name in scenario.identifiers if name not in (linking, *also)],
            missing=scenario.missing_codes, **how,
        )  # fmt: skip
    except ColumnError:  # the scenario knows which role the absent column was to play
        header = scan_header(file, **how)
        scenario.check_columns(header.columns, certain=header.certain)
        raise


def release_header(
    file: Path, scenario: Scenario, *, also: tuple[str, ...] = (), header: FileHeader | None = None, **how: Any
) -> FileHeader:
    """Read the names of a release's columns alone, or of a control file's; one without a key is refused."""
    from sdckit.data.files.readers import scan_header

    header = header or scan_header(file, **how)
    needed = (*scenario.all_keys, *also)
    if absent := [name for name in needed if name not in header.columns]:
        raise ColumnError(
            f"{file.name} has no column {absent[0]!r}; a release and a control file need every key, and a release "
            "the id where one is named. Where a recipe left it out, give --recipe or --log"
        )
    return header


def read_release(
    file: Path, scenario: Scenario, *, steps: Steps, also: tuple[str, ...] = (), whole: bool = False,
    if_there: tuple[str, ...] = (), header: FileHeader | None = None, **how: Any,
) -> pl.DataFrame:  # fmt: skip
    """Read the declared columns that a release has, or the `whole` of it but for identifiers.

    Of those named `if_there` what the file has. One without a key is refused with its name.
    """
    header = header or release_header(file, scenario, also=also, **how)
    left = scenario.narrowed(header.columns)
    # identifiers are gone from a release, as they should be
    left = left.changed(identifiers=[name for name in left.identifiers if name in header.columns])
    return read_declared(
        file, left, steps=steps, also=also, if_there=tuple(header.columns) if whole else if_there, header=header, **how
    )  # fmt: skip


USED = ("intruders", "person", "time", "identifiers", "missing", "alpha", "missing_codes")  # roles of every measure
DESIGN = ("weight", "sampling_fraction")
BEHIND = (  # a command's own options
    "missing", "user_missing", "delimiter", "encoding", "decimal", "sheet", "header_row", "join", "join_key",
    "no_progress",
)  # fmt: skip
AnyKeys = Annotated[options.Texts, options.option("source", "--keys")]
FromFile = Annotated[Path | None, options.option("source", "--scenario")]
OneIntruder = Annotated[str | None, options.option("source", "--intruder")]
NoProgress = Annotated[bool, options.option("source", "--no-progress")]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A file and how to read it; other files of the command are read `beside` it."""

    file: options.File
    missing: options.Missing = None
    user_missing: options.UserMissing = False
    delimiter: options.Delimiter = None
    encoding: options.Encoding = None
    decimal: options.Decimal = None
    sheet: options.Sheet = None
    header_row: options.HeaderRow = None
    join: options.Join = None
    join_key: options.JoinKey = None
    _others: dict[Path, Reading] = field(default_factory=dict, init=False, compare=False)

    @property
    def how(self) -> dict[str, Any]:
        """As the readers of files take it."""
        return {
            "delimiter": self.delimiter, "encoding": self.encoding, "decimal": self.decimal,
            "user_missing": self.user_missing, "sheet": self.sheet, "header_row": self.header_row,
            "join": self.join, "join_key": self.join_key,
        }  # fmt: skip

    def beside(self, file: Path) -> Reading:
        """How another file of the command is read, each of which is one file: `options_beside` says what holds for it.

        The file itself is read as it was said, wherever else it is named.
        """
        from sdckit.data.files.csv_beside import options_beside
        from sdckit.data.files.read_csv import CsvOptions

        if file == self.file:
            return self
        if file not in self._others:
            given = CsvOptions(self.delimiter, self.encoding, self.decimal)
            own = asdict(options_beside(file, given, original=self.file))
            self._others[file] = replace(self, file=file, sheet=None, header_row=None, join=None, join_key=None, **own)
        return self._others[file]

    @property
    def inputs(self) -> tuple[Path, ...]:
        """What is read and never written to."""
        return (self.file,) if self.join is None else (self.file, self.join)

    def has_unjoined(self) -> bool:
        """Whether no record of the first file belongs to some of the second; each of the first belongs to one."""
        from sdckit.data.files.readers import read_file

        first, second = (
            read_file(file, columns=[sure(self.join_key)], **{**self.beside(file).how, "join": None, "join_key": None})
            for file in self.inputs
        )
        return second.height > first.n_unique()

    def labels(self) -> dict[str, str]:
        """The variable labels of the file, where it has some: a document prints them beside the names."""
        from sdckit.data.files.read_labelled import read_labels

        return dict(read_labels(self.file, encoding=self.encoding, join=self.join).variables)

    def tell_user_missing(self) -> None:
        """Say of which columns the file declares codes to mean missing, as they are read."""
        from sdckit.data.files.read_labelled import read_labels

        if not self.file.is_file():
            return
        labels = read_labels(self.file, encoding=self.encoding, join=self.join).columns
        if coded := [name for name, own in labels.items() if own.missing]:
            kept = "those with labels stay" if self.user_missing else "--user-missing keeps those with labels"
            errors.tell(f"\nCodes of {some_of(coded)} are missing values, as {self.file.name} declares: {kept}.")


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
        self, *, design: bool = False, roles: Sequence[str] = (), missing_rule: list[str] | None = None, **given: Any
    ) -> Scenario:
        """Make the scenario of one intruder: the file's, each entry replaced where an option names it.

        Roles that the command has no use for are left out, so that their columns are not read; `design`
        keeps weight and sampling fraction, and `roles` are kept, too.
        """
        if self.keys and self.intruder:
            raise ScenarioError("--keys are those of one intruder; leave --intruder out")
        whole = options.make_scenario(
            self.scenario, keys=self.keys, intruders=None, missing_rule=missing_rule, thresholds={},
            missing_codes=options.codes(self.missing), **given,
        )  # fmt: skip
        scenario = self.of_intruder(whole)
        used = (*USED, *roles, *(DESIGN if design else ()))
        declared = type(scenario)(**{name: getattr(scenario, name) for name in used})
        declared._folder = scenario.folder  # where the paths of hierarchies start
        return declared

    def of_intruder(self, whole: Scenario) -> Scenario:
        """The scenario of the intruder that was named, or of its only one."""
        if self.intruder is None and len(whole.intruders) > 1:
            names = ", ".join(whole.intruders)
            raise ScenarioError(f"the scenario has several intruders ({names}); --intruder NAME takes one")
        return whole.intruder(self.intruder or next(iter(whole.intruders)))


def takes(
    *groups: type, leave_out: Sequence[str] = (), behind: Sequence[str] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options of classes such as `Source`, which it takes as its first arguments.

    Some are left out, some stand `behind` its own.
    """
    return partial(_with_options, groups=groups, leave_out=leave_out, behind=behind)


def _with_options(
    command: Callable[..., Any], *, groups: Sequence[type], leave_out: Sequence[str], behind: Sequence[str]
) -> Callable[..., Any]:
    """Put the options of groups before the command's own, and some `behind` them.

    Arguments without a name come first: the command's own, then the file.
    """
    shared = {
        name: parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for group in groups
        for name, parameter in inspect.signature(group, eval_str=True).parameters.items()
        if name not in leave_out
    }
    own = list(inspect.signature(command, eval_str=True).parameters.values())[len(groups) :]
    typed_first = [parameter for parameter in own if parameter.kind is not inspect.Parameter.KEYWORD_ONLY]
    first = sorted(
        (parameter for name, parameter in shared.items() if name not in behind),
        key=lambda parameter: parameter.name != "file",
    )

    @wraps(command)
    def called(**values: Any) -> Any:
        made = [
            group(**{entry.name: values.pop(entry.name) for entry in fields(group) if entry.name in shared})
            for group in groups
        ]
        return command(*made, **values)

    last = [parameter for parameter in own if parameter not in typed_first] + [shared[name] for name in behind]
    called.__signature__ = inspect.Signature([*typed_first, *first, *last])  # type: ignore[attr-defined]
    called.__annotations__ = {}
    return called


# The options that leave a file with an engine: it is grouped there, and never read whole.


IN_MEMORY = "memory"
SHARE = 2  # DuckDB and this process may take one part in so many of the free memory


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """Which engine reads and groups, and what it may take."""

    engine: Annotated[str | None, options.option("engine", "--engine")] = None
    memory: Annotated[str | None, options.option("engine", "--memory")] = None

    @property
    def used(self) -> bool:
        """Whether an engine was asked for."""
        return self.engine not in (None, IN_MEMORY)

    def by_default(self, reading: Reading, scenario: Scenario, *, has_release: bool) -> EngineOptions:
        """With an engine for a folder, an address and a file too large for the memory, where none is named.

        DuckDB where it is installed, which keeps with this process to half of the free memory, else Polars.
        """
        from sdckit.data.files.scan_file import is_for_an_engine
        from sdckit.data.memory import LEAST, free_bytes

        named = self.engine is not None or self.memory is not None
        if named or has_release or _not_done(reading) or not is_for_an_engine(reading.file, len(scenario.columns)):
            return self
        if find_spec("duckdb") is None:
            return replace(self, engine="polars")
        free = free_bytes()
        return replace(
            self, engine="duckdb", memory=None if free is None else f"{max(LEAST, free // SHARE) // 10**6}MB"
        )

    def check(self, reading: Reading) -> None:
        """Refuse what no engine does: joining a second file."""
        if not self.used:
            if self.memory is not None:
                raise ScenarioError("--memory is what an engine may take; give --engine duckdb")
            return
        if (refused := _not_done(reading)) is not None:
            raise ScenarioError(refused)

    def header(self, reading: Reading) -> FileHeader:
        """What the file says of itself; its records are not read."""
        from sdckit.data.files.readers import plan_header, scan_header

        if not self.used:
            return scan_header(reading.file, **reading.how)
        return plan_header(
            reading.file, engine=cast("ScanEngine", self.engine), memory=self.memory, delimiter=reading.delimiter,
            encoding=reading.encoding,
        )  # fmt: skip

    def open(self, reading: Reading, scenario: Scenario, also: Sequence[str], steps: Steps) -> tuple[Any, int]:
        """The declared columns of the file as a plan, and its number of records; warn of codes that mean missing."""
        from sdckit.data.files.scan_file import warn_of_suspects

        columns = tuple(dict.fromkeys([*scenario.columns, *also]))
        codes = scenario.missing_codes
        never = [name for name in scenario.identifiers if name not in also]
        plan, n = self.scan(reading, steps, columns=columns, identifiers=never, missing=codes)
        warn_of_suspects(plan, reading.file, codes, n)
        return plan, n

    def scan(
        self, reading: Reading, steps: Steps, *, columns: Sequence[str] | None = None, identifiers: Sequence[str] = (),
        missing: Sequence[str] = (), beside: Any = None,
    ) -> tuple[Any, int]:  # fmt: skip
        """The file as a plan, all its columns where none are named, and its number of records; `beside` another."""
        from sdckit.data.files.scan_file import scan_file
        from sdckit.data.frames import count_records

        steps.step(f"opening {reading.file.name} by {self.engine}")
        plan = scan_file(
            reading.file, engine=cast("ScanEngine", self.engine), columns=columns, identifiers=identifiers,
            missing=missing, memory=self.memory if beside is None else None, delimiter=reading.delimiter,
            encoding=reading.encoding, decimal=reading.decimal, beside=beside if self.engine == "duckdb" else None,
        )  # fmt: skip
        return plan, count_records(plan)


def _not_done(reading: Reading) -> str | None:
    """Why no engine takes what was asked for; None where one does."""
    if reading.join is not None or reading.user_missing or reading.sheet is not None or reading.header_row is not None:
        return (
            "--engine reads one Parquet or CSV file as it is; leave --join, --user-missing, --sheet, --header-row out"
        )
    return None
