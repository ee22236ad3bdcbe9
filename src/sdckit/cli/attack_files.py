"""What ``sdckit attack`` is asked for, settled before a file is read; then its files, the columns that are used."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sdckit.catalogue import Knowledge, rows
from sdckit.cli.options import Texts, codes, option, split, split_named
from sdckit.data import nearest, pl
from sdckit.data.files.file_limits import json_in
from sdckit.errors import ColumnError, DataError, FileFormatError, ScenarioError

if TYPE_CHECKING:
    from sdckit.attacks.planted.canaries import Canaries
    from sdckit.cli.progress import Steps
    from sdckit.cli.source import Source
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.plan import AttackedColumns, Planned
    from sdckit.workflow.recoded_original.published_recodings import Recodings


WIDTH = "--match-width"
NO_RELEASE = "--match-… and --high-risk are for a release beside its original; give --released FILE"


@dataclass(frozen=True, kw_only=True)
class MatchingOptions:
    """How somebody looks for the row made from a person whose values they know, as typed."""

    match_width: Annotated[Texts, option("matching", WIDTH)] = None
    match_absolute: Annotated[Texts, option("matching", "--match-absolute")] = None
    match_known: Annotated[Texts, option("matching", "--match-known")] = None
    match_synthetic: Annotated[Texts, option("matching", "--match-synthetic")] = None
    match_tol: Annotated[float | None, option("matching", "--match-tol")] = None
    high_risk: Annotated[float | None, option("matching", "--high-risk")] = None

    @property
    def entries(self) -> dict[str, Any]:
        """What was typed, as entries of the table."""
        entries: dict[str, Any] = {
            "width": _width(self.match_width), "known": split(self.match_known),
            "synthetic": split(self.match_synthetic), "tol": self.match_tol, "high_risk": self.high_risk,
            "relative": dict.fromkeys(split(self.match_absolute), False),
        }  # fmt: skip
        return {name: value for name, value in entries.items() if value not in (None, [], {})}

    def check(self, *, has_release: bool) -> None:
        """Refuse what means nothing without a release."""
        if self.entries and not has_release:
            raise ScenarioError(NO_RELEASE)


def _width(texts: list[str] | None) -> float | dict[str, float] | None:
    parts = split(texts)
    if not parts:
        return None
    if len(parts) == 1 and "=" not in parts[0]:
        return _number(parts[0])
    if any("=" not in part for part in parts):
        raise ScenarioError(f"{WIDTH} takes one number for all, or key=number for each: {WIDTH} income=0.1,age=2")
    return {name: _number(value) for name, value in split_named(parts, option=WIDTH).items()}


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ScenarioError(f"{WIDTH} takes numbers, such as {WIDTH} 0.1 or {WIDTH} income=0.1") from None


INTRUDER = "default"
SIDES = 2
NOBODY_KNOWS = "(no column)"  # attacks without an intruder's knowledge, before the files are read
# What to give, by what an attack needs.
WAYS_OUT = {
    ("known",): "; give --known twice: --known A,B --known C,D",
    ("known", "target"): "; give --known A,B and --target COLUMN",
    ("control",): "; give --control FILE",
    ("variables",): "; give --known A,B and --id COLUMN, or --aligned",
}


@dataclass(frozen=True)
class Wanted:
    """What was asked for.

    `kinds` are the attacks named (none: all that apply), `sides` the pieces of knowledge as given: one, or two
    that may be joined. `rows` says whether the command line says that rows belong together, `declared` whether
    the scenario does; `typed` whether knowledge or a target was typed. A pair of linked records must meet one
    rule of `blocking`.
    """

    kinds: tuple[str, ...]
    sides: tuple[tuple[str, ...], ...]
    targets: tuple[str, ...]
    by: tuple[str, ...] = ()
    id: str | None = None
    rows: bool = False
    declared: bool = False
    blocking: tuple[tuple[str, ...], ...] = ()
    typed: bool = False

    @property
    def known(self) -> tuple[str, ...]:
        """Everything that is known, in one piece."""
        return tuple(dict.fromkeys(name for side in self.sides for name in side))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns named, but the id."""
        return tuple(dict.fromkeys([*self.known, *self.targets, *self.by]))

    def knowledge(self, variables: Sequence[str], numeric: Sequence[str] | None, n_attacks: int) -> Knowledge:
        """The same as an attack takes it."""
        return Knowledge(
            variables=tuple(variables), known=self.known,
            halves=(self.sides[0], self.sides[1]) if len(self.sides) == SIDES else None, targets=self.targets,
            numeric=None if numeric is None else tuple(numeric), by=self.by, blocking=self.blocking,
            n_attacks=n_attacks,
        )  # fmt: skip


def read_wanted(
    *, kinds: Sequence[str], known: Sequence[Sequence[str]], targets: Sequence[str], by: Sequence[str] = (),
    id: str | None = None, aligned: bool = False, blocking: Sequence[Sequence[str]] = (),
    scenario: Scenario | None = None,
) -> Wanted:  # fmt: skip
    """Read the options; a scenario says what they leave open.

    Examples
    --------
    >>> read_wanted(kinds=[], known=[["age"]], targets=["income"]).columns
    ('age', 'income')
    """
    names = {row.kind: row.name for row in rows("attack")}
    if unknown := [name for name in kinds if name not in names]:
        raise ScenarioError(f"--kind {unknown[0]!r} is unknown; {nearest.did_you_mean(unknown[0], tuple(names))}")
    sides = tuple(tuple(side) for side in known if side)
    if len(sides) > SIDES:
        raise ScenarioError("--known stands once, or twice for two pieces: --known A,B --known C,D")
    if len(sides) == SIDES and (both := [name for name in sides[0] if name in sides[1]]):
        raise ScenarioError(f"{both[0]!r} stands in both --known: what joins two pieces anyway is no attack")
    wanted = Wanted(
        kinds=tuple(names[name] for name in dict.fromkeys(kinds)), sides=sides,
        targets=tuple(dict.fromkeys(targets)), by=tuple(dict.fromkeys(by)), id=id,
        rows=aligned or id is not None, blocking=tuple(tuple(rule) for rule in blocking), typed=bool(sides or targets),
    )  # fmt: skip
    if id in wanted.known:
        raise ScenarioError(f"{id!r} says which rows belong together: leave it out of --known")
    if scenario is None:
        return wanted
    if not sides and len(scenario.intruders) == 1:
        wanted = replace(wanted, sides=(tuple(scenario.keys),))
    return replace(wanted, targets=wanted.targets or tuple(scenario.sensitive), declared=scenario.aligned)


def planned(
    wanted: Wanted, variables: Sequence[str] = (), *, numeric: Sequence[str] | None = None, n_attacks: int, **known: Any
) -> tuple[Planned, ...]:
    """Plan the attacks; one that was named and cannot be made is refused, others are left out."""
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.plan import plan_attacks

    scenario = Scenario(intruders={INTRUDER: wanted.known or tuple(variables) or (NOBODY_KNOWS,)})
    knowledge = {INTRUDER: wanted.knowledge(variables, numeric, n_attacks)}
    every = plan_attacks(scenario, knowledge, kinds=wanted.kinds, aligned=wanted.rows or wanted.declared, **known)
    for plan in every:
        if plan.lacks and plan.row.name in wanted.kinds:
            raise ScenarioError(f"--kind {plan.row.kind}: {plan.lacks}{WAYS_OUT.get(plan.row.needs, '')}")
    _check_used(wanted, every)
    return tuple(plan for plan in every if not plan.lacks)


def _check_used(wanted: Wanted, every: Sequence[Planned]) -> None:
    """Refuse options that no attack uses."""
    made = {plan.row.name: plan.row for plan in every if not plan.lacks}
    if wanted.typed and not any(row.of_intruder for row in made.values()):
        raise ScenarioError(
            "--known and --target are used by no attack here: linkability takes --known twice, inference "
            "--known and --target, linking records --known and --id or --aligned"
        )
    linking = [plan for plan in every if "variables" in plan.row.needs]
    if (wanted.rows or wanted.blocking) and all(plan.lacks for plan in linking):
        reason = f": {linking[0].lacks}" if linking else ""
        raise ScenarioError(f"--id, --aligned, --blocking are for linking records that belong together{reason}")
    if wanted.by and len(linking) == len(made):
        raise ScenarioError(f"{linking[0].row.kind} knows no subgroups; leave --by out")


SCHEMA = "sdckit/canaries"


@dataclass(frozen=True, eq=False)
class Key:
    """What is needed to look for planted records in a release.

    `both` are the planted records, and behind them those held back, unless `coins` say which are planted; `ranges` are
    those of each number.
    """

    both: pl.DataFrame
    n_planted: int
    copies: int
    variables: tuple[str, ...]
    numeric: tuple[str, ...]
    ranges: tuple[float, ...]
    coins: tuple[bool, ...] | None = None


def write_key(made: Canaries, path: Path) -> None:
    """Write the key as JSON, for its owner only."""
    from sdckit.data.files.whole_files import write_whole

    both = made.both.to_native()
    plain = {
        "schema": SCHEMA, "schema_version": "1", "n_planted": made.n_planted, "copies": made.copies,
        "seed": str(made.seed),
        "variables": list(made.variables), "numeric": list(made.numeric), "ranges": made.ranges.tolist(),
        "columns": {name: _plain(both.get_column(name)) for name in made.variables},
        **({} if made.coins is None else {"coins": made.coins.tolist()}),
    }  # fmt: skip
    write_whole(json.dumps(plain, indent=1, ensure_ascii=False) + "\n", path, what="key", private=True)


def read_key(path: Path) -> Key:
    """Read a key."""
    wrong = FileFormatError(f"{path.name} is no key of canaries; 'sdckit canaries make' writes one")
    try:
        plain = json_in(path)
    except ValueError:
        raise wrong from None
    except OSError as error:
        raise FileFormatError(f"cannot read {path.name}: {error.strerror}") from None
    if not isinstance(plain, dict) or plain.get("schema") != SCHEMA:
        raise wrong
    try:
        names = tuple(plain["variables"])
        key = Key(
            pl.DataFrame([_series(name, plain["columns"][name]) for name in names]),
            int(plain["n_planted"]), int(plain["copies"]), names, tuple(plain["numeric"]),
            tuple(float(range_) for range_ in plain["ranges"]),
            tuple(plain["coins"]) if "coins" in plain else None,
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError, pl.exceptions.PolarsError):
        raise wrong from None  # the words of the error may show values
    if not 0 < key.n_planted < key.both.height or len(key.ranges) != len(key.numeric):
        raise wrong
    coins, n = key.coins, key.both.height
    if coins is not None and (len(coins), sum(side is True for side in coins)) != (n, key.n_planted):
        raise wrong
    return key


def _plain(series: pl.Series) -> dict[str, Any]:
    """Values with the type that they need to be compared with a release."""
    kind = series.dtype
    if kind == pl.Boolean:
        return {"type": "boolean", "values": series.to_list()}
    if kind == pl.Date:
        return {"type": "date", "values": series.to_physical().to_list()}
    if isinstance(kind, pl.Datetime):
        values = series.to_physical().to_list()
        return {"type": "datetime", "unit": kind.time_unit, "zone": kind.time_zone, "values": values}
    if kind.is_integer():
        return {"type": "integer", "values": series.to_list()}
    if kind.is_numeric():
        return {"type": "number", "values": series.cast(pl.Float64).fill_nan(None).to_list()}
    if kind in (pl.String, pl.Categorical) or isinstance(kind, pl.Enum):
        return {"type": "text", "values": series.cast(pl.String).to_list()}
    raise DataError(f"column {series.name!r} holds {kind}, which no key can; leave it out: --variables A,B")


def _series(name: str, plain: Mapping[str, Any]) -> pl.Series:
    kind, values = plain["type"], plain["values"]
    if kind == "date":
        return pl.Series(name, values, pl.Int32).cast(pl.Date)
    if kind == "datetime":
        return pl.Series(name, values, pl.Int64).cast(pl.Datetime(plain["unit"], plain["zone"]))
    types: dict[str, Any] = {"boolean": pl.Boolean, "integer": pl.Int64, "number": pl.Float64, "text": pl.String}
    return pl.Series(name, values, types[kind])


@dataclass(frozen=True, eq=False)
class Attacked:
    """What is attacked.

    `columns` are for the attacks that are told none, made once unless a scenario chose them;
    `declared` are numbers, None where nothing is declared;
    `left_out` are columns that not every file has; `id` says which rows belong together.
    """

    original: pl.DataFrame
    released: list[pl.DataFrame]
    control: pl.DataFrame | None
    columns: AttackedColumns
    declared: tuple[str, ...] | None
    left_out: tuple[str, ...]
    id: str | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """Columns of the attacks that are told none."""
        return self.columns.declared


def read_attacked(
    source: Source, released: Sequence[Path], control: Path | None, *, wanted: Wanted, variables: Sequence[str],
    identifiers: Sequence[str], scenario: Scenario | None, steps: Steps, recodings: Recodings | None = None,
) -> Attacked:  # fmt: skip
    """Read the columns that the attacks use, of every file; warn of those that nobody chose and that number people."""
    from sdckit.cells.comparable_files import warn_of_numbers
    from sdckit.data.files.read_labelled import check_labels_beside
    from sdckit.data.frames import open_frame
    from sdckit.workflow.plan import AttackedColumns

    check_different(source.file, released, control)
    never = tuple(dict.fromkeys([*identifiers, *(scenario.identifiers if scenario is not None else ())]))
    if named := [name for name in (*wanted.columns, *variables) if name in never]:
        raise ColumnError(f"{named[0]!r} is an identifier and never read; leave it out of the attacks")
    if wanted.id in (*wanted.columns, *variables):
        raise ColumnError(f"{wanted.id!r} says which rows belong together; leave it out of the attacks")
    never = never if wanted.id is None else (*never, wanted.id)
    files = (source.file, *released, *(() if control is None else (control,)))
    left_out: tuple[str, ...] = ()
    chosen = AttackedColumns(tuple(dict.fromkeys(variables)))
    if not variables:
        chosen, left_out = _shared(source, files, wanted, scenario, never, identifiers, has_control=control is not None)
    columns = tuple(dict.fromkeys([*chosen.declared, *wanted.columns, *chosen.every]))
    paired = columns if wanted.id is None else (*columns, wanted.id)
    also = () if recodings is None else recodings.needs(columns)
    read = [(source.file, (*paired, *also)), *((file, paired) for file in released)]
    frames = [_read(source, file, names_of, scenario, steps) for file, names_of in read]
    if scenario is None and not variables:
        warn_of_numbers(open_frame(frames[0]), [name for name in chosen.declared if name not in wanted.columns])
    declared = scenario.numeric if scenario is not None and scenario.numeric else None
    last = None
    if control is not None:
        last = _read(source, control, columns, scenario, steps)
        check_labels_beside([(source.file, frames[0]), (control, last)])
    return Attacked(frames[0], frames[1:], last, chosen, declared, left_out, wanted.id)


def without_left_out(source: Source, released: Sequence[Path], scenario: Scenario, recodings: Recodings) -> Scenario:
    """The scenario without the variables that a recipe left out of the releases."""
    from sdckit.data.files.readers import scan_header
    from sdckit.workflow.recoded_original.published_recodings import left_of

    columns = {name for file in released for name in scan_header(file, **source.beside(file).how).columns}
    left, _ = left_of(scenario, recodings, columns)
    return left.changed(
        **{
            role: [name for name in getattr(left, role) if name in columns or name not in recodings.left_out]
            for role in ("sensitive", "numeric")
        }
    )


def check_different(file: Path, released: Sequence[Path], control: Path | None, original: Path | None = None) -> None:
    """Refuse a release that is the original, and a control file that is one of them."""
    if original is not None and _same(original, file):
        raise ScenarioError(f"--original {original.name} is the release itself; give the file it was made from")
    for number, other in enumerate(released):
        if any(_same(other, earlier) for earlier in released[:number]):
            raise ScenarioError(f"--released names {other.name} twice; name it once")
        if _same(other, file):
            raise ScenarioError(f"--released {other.name} is the original itself; give the file made from it")
        if control is not None and _same(other, control):
            raise ScenarioError(f"--control {control.name} is the release; give people never used to make it")
    if control is not None and _same(control, file):
        raise ScenarioError(f"--control {control.name} is the original itself; give people who are not in it")


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def _shared(
    source: Source, files: Sequence[Path], wanted: Wanted, scenario: Scenario | None, never: Sequence[str],
    identifiers: Sequence[str], *, has_control: bool,
) -> tuple[AttackedColumns, tuple[str, ...]]:  # fmt: skip
    """The columns that all files have, of a scenario those it declares; and the names that some lack.

    `identifiers` are warned of where FILE lacks them.
    """
    from sdckit.data.files.readers import scan_header
    from sdckit.workflow.plan import AttackedColumns, attacked_columns

    needed = tuple(dict.fromkeys([*wanted.columns, *(scenario.all_keys if scenario is not None else ())]))
    headers = []
    for file in files:
        named = identifiers if file == source.file else ()
        header = scan_header(file, columns=needed or None, identifiers=named, **source.beside(file).how)
        if not needed and not header.certain:
            raise DataError(
                f"the first line of {file.name} may be a record instead of a header; name columns: --variables A,B"
            )
        headers.append(header.columns)
    every = dict.fromkeys(name for header in headers for name in header if name not in never)
    if scenario is not None:
        every = dict.fromkeys([*scenario.all_keys, *scenario.sensitive, *scenario.numeric])
    names = tuple(name for name in every if all(name in header for header in headers))
    if not names:
        raise ColumnError("the files have no column in common")
    lacking = tuple(name for name in every if name not in names)
    if scenario is None:
        return AttackedColumns(names), lacking
    people = headers.pop() if has_control else None
    return attacked_columns(scenario, headers[0], headers[1:], people, id=wanted.id, declared=names), lacking


def check_attack_options(
    *, has_release: bool, attacked: bool, n_attacks: int | None, targets: int | None, id: str | None
) -> None:
    """Refuse attacks on nothing, and none of them."""
    from sdckit.data.drawn_rows import people_drawn

    if attacked and not has_release:
        raise ScenarioError("--control and --attacks need a release to attack; give --released FILE")
    if n_attacks is not None and not attacked:
        raise ScenarioError("--n-attacks is of the simulated attacks; give --control FILE or --attacks")
    if n_attacks is not None and n_attacks < 1:
        raise ScenarioError("--n-attacks counts attempts; give a whole number of 1 or more")
    if targets is not None and not has_release:
        raise ScenarioError("--targets draws people to be looked up in a release; give --released FILE")
    people_drawn(targets, id=id)


def _read(source: Source, file: Path, wanted: Sequence[str], scenario: Scenario | None, steps: Steps) -> pl.DataFrame:
    from sdckit.data.files.readers import read_file

    steps.step(f"reading {file.name}")
    missing = codes(source.missing) or (scenario.missing_codes if scenario is not None else ())
    return read_file(file, columns=wanted, missing=missing, **source.beside(file).how)
