"""``sdckit assess``: the main job on a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sdckit.catalogue import further
from sdckit.cli import errors, options, outputs, source
from sdckit.cli.attack_files import MatchingOptions, check_attack_options, check_different
from sdckit.cli.measure_commands import read_models
from sdckit.cli.progress import Steps
from sdckit.cli.source import EngineOptions, GivenLog, GivenRecipe, GivenTargets, Reading
from sdckit.data.scenarios.scenario_form import NONE
from sdckit.errors import ScenarioError, sure

if TYPE_CHECKING:
    from sdckit.data.files.file_checks import FileHeader
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.assessment import Assessment, ReleaseAssessment
    from sdckit.workflow.recoded_original.published_recodings import Recodings


Names = list[str] | None
Share = float | None


@dataclass(frozen=True, kw_only=True)
class Roles:
    """What the columns are, as typed."""

    keys: Annotated[Names, options.option("roles", "--keys")] = None
    intruders: Annotated[Names, options.option("roles", "--intruders")] = None
    weight: Annotated[str | None, options.option("roles", "--weight")] = None
    sampling_fraction: Annotated[Share, options.option("roles", "--sampling-fraction")] = None
    household: Annotated[str | None, options.option("roles", "--household")] = None
    person: Annotated[str | None, options.option("roles", "--person")] = None
    sensitive: Annotated[Names, options.option("roles", "--sensitive")] = None
    numeric: Annotated[Names, options.option("roles", "--numeric")] = None
    magnitudes: Annotated[Names, options.option("roles", "--magnitudes")] = None
    identifiers: Annotated[Names, options.option("roles", "--identifiers")] = None
    insensitive: Annotated[Names, options.option("roles", "--insensitive")] = None
    insensitive_because: Annotated[str | None, options.option("roles", "--insensitive-because")] = None
    scenario: Annotated[Path | None, options.option("roles", "--scenario")] = None
    measures: Annotated[Names, options.option("roles", "--measures", all=", ".join(further()))] = None
    by: Annotated[Names, options.option("roles", "--by")] = None
    missing_rule: Annotated[Names, options.option("roles", "--missing-rule")] = None
    alpha: Annotated[Share, options.option("roles", "--alpha")] = None

    def declared(self, **given: Any) -> Scenario:
        """Make the scenario: the file's, each entry replaced where an option names it."""
        same = ("keys", "missing_rule", "weight", "sampling_fraction", "household", "person", "alpha")
        lists = ("sensitive", "numeric", "magnitudes", "identifiers", "insensitive")
        given |= {name: getattr(self, name) for name in (*same, "insensitive_because")}
        given |= {name: options.split(getattr(self, name)) for name in lists}
        given |= {name: () for name in ("sensitive", "magnitudes") if given[name] == [NONE]}
        return options.make_scenario(self.scenario, intruders=self.intruders, **given)


@dataclass(frozen=True, kw_only=True)
class Release:
    """What is to go out, and how it is held against its original."""

    released: Annotated[list[Path] | None, options.option("release", "--released")] = None
    id: Annotated[str | None, options.option("release", "--id")] = None
    aligned: Annotated[bool, options.option("release", "--aligned")] = False
    model: Annotated[Names, options.option("release", "--model")] = None
    seed: Annotated[int | None, options.option("release", "--seed")] = None
    control: Annotated[Path | None, options.option("release", "--control")] = None
    attacks: Annotated[bool, options.option("release", "--attacks")] = False
    n_attacks: Annotated[int | None, options.option("release", "--n-attacks")] = None
    targets: GivenTargets = None
    recipe: GivenRecipe = None
    log: GivenLog = None

    @property
    def files(self) -> tuple[Path, ...]:
        """The releases."""
        return tuple(self.released or ())

    @property
    def attempts(self) -> int:
        """Of each attack."""
        return 500 if self.n_attacks is None else self.n_attacks

    def recodings(
        self, reading: Reading, scenario: Scenario, own: FileHeader, headers: Sequence[FileHeader]
    ) -> tuple[Recodings | None, Scenario]:
        """What --recipe or --log do to the original, and the scenario without the keys that they leave out."""
        recodings_read = source.read_given(
            reading.file, self.recipe, self.log, identifiers=scenario.identifiers, header=own, **reading.how
        ) if self.files else None  # fmt: skip
        if recodings_read is None:
            return None, scenario
        from sdckit.workflow.recoded_original.published_recodings import left_of

        columns = {name for header in headers for name in header.columns}
        return recodings_read, left_of(scenario, recodings_read, columns, judged=True)[0]

    @property
    def left_out(self) -> tuple[str, ...] | None:
        """Columns that the recipe or the log leaves out; None without one."""
        if self.recipe is None and self.log is None:
            return None
        from sdckit.workflow.recoded_original.published_recodings import read_recodings

        recodings = read_recodings(self.recipe, self.log)
        return None if recodings is None else recodings.left_out

    def by_itself(self, scenario: Scenario, own: FileHeader) -> Scenario:
        """The scenario of a release without its original, of which --recipe or --log tell what was left out."""
        if self.files or (left_out := self.left_out) is None:
            return scenario
        if not left_out or not set(own.columns).isdisjoint(left_out):
            more = "" if left_out else "; of a release by itself, where no column was left out: leave them off"
            raise ScenarioError(f"--recipe and --log tell how a release was made; give --released FILE{more}")
        declared = {*scenario.columns, *scenario.insensitive}  # one of these that nobody left out is amiss
        return scenario.of_release(declared.difference(left_out).union(own.columns))

    def alone(self, scenario: Scenario, own: FileHeader) -> Scenario:
        """The scenario of a report that goes out: without the ledger and roles of columns that the release has not.

        A key that it has not is refused, unless --recipe or --log tell that it was left out.
        """
        if self.left_out or not own.certain:
            return scenario.changed(ledger=None)
        return scenario.of_release({*scenario.all_keys, *own.columns})

    def headers(self, reading: Reading, engine: EngineOptions) -> list[FileHeader]:
        """What the releases say of themselves."""
        return [engine.header(reading.beside(file)) for file in self.files]

    def check(self, file: Path) -> None:
        """Refuse options that mean nothing without a release, and files that stand for two things."""
        if not self.files and (self.id is not None or self.aligned or self.model or self.seed is not None):
            raise ScenarioError("--id, --aligned, --model and --seed compare a release with FILE; give --released FILE")
        check_attack_options(
            has_release=bool(self.files), attacked=self.control is not None or self.attacks, n_attacks=self.n_attacks,
            targets=self.targets, id=self.id,
        )  # fmt: skip
        check_different(file, self.files, self.control)


@source.takes(
    Roles, Release, MatchingOptions, options.Limits, options.ReleaseType, options.CoverOptions, EngineOptions, Reading
)
def assess(
    roles: Roles,
    release: Release,
    matching: MatchingOptions,
    limits: Any,
    of_type: options.ReleaseType,
    cover: options.CoverOptions,
    engine: EngineOptions,
    reading: Reading,
    *,
    report: Annotated[Path | None, options.option("output", "--report")] = None,
    json: Annotated[str | None, options.option("output", "--json")] = None,
    internal: Annotated[bool, options.option("output", "--internal")] = False,
    public: Annotated[bool, options.option("output", "--public")] = False,
    figures: Annotated[Path | None, options.option("output", "--figures")] = None,
    beside: Annotated[Path | None, options.option("output", "--beside")] = None,
    full: Annotated[bool, options.option("output", "--full")] = False,
    dry_run: Annotated[bool, options.option("output", "--dry-run")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Assess a file, or a release against its original: who can be recognised, what would be learnt.

    Exit code 0 when it ran, whatever the verdict; 2 for bad input.
    """
    file = reading.file
    chosen = roles.declared(
        thresholds=vars(limits), missing_codes=options.codes(reading.missing), aligned=release.aligned or None,
        matching=matching.entries, **of_type.entries,
    )  # fmt: skip
    release.check(file)
    engine = engine.by_default(reading, chosen, has_release=bool(release.files))
    engine.check(reading)
    matching.check(has_release=bool(release.files))
    asked = further_measures(roles.measures)
    others = (roles.scenario, of_type.release_types, release.control, release.recipe, release.log, *release.files)
    outputs.check_targets(report, json, figures, inputs=(*reading.inputs, *others))
    outputs.check_report_name(report)
    outputs.check_table(figures)
    cover.check(written=report is not None)
    if public and (report is None or internal or release.files or beside is not None):
        raise ScenarioError(
            "--public is of a --report that goes out with a release, and follows from it: give the release alone as "
            "FILE, without --released, --internal and --beside"
        )
    outputs.check_beside(beside, written=report is not None or json is not None)
    if public:
        chosen = release.alone(chosen, engine.header(reading))
    if dry_run:
        from sdckit.cli.plan import print_plan

        print_plan(reading, chosen, asked, release, read_models(release.model), engine)
        return
    from sdckit.workflow.recipes.release_files import against_ledger

    chosen, *_ = against_ledger(chosen, release.files or [file])
    with Steps(quiet=quiet) as steps:
        result = run(
            reading, chosen, release, steps=steps, documents=bool(report or json), internal=internal,
            measures=asked, by=options.split(roles.by), engine=engine,
        )  # fmt: skip
        steps.step("writing the report")
        if report is not None:
            read = [input_ for input_ in (*reading.inputs, *release.files) if input_.is_file()]
            labels = reading.labels() if file.is_file() else {}
            result.report(report, internal=internal, beside=beside, labels=labels, public=public,
                          **cover.arguments(*read))  # fmt: skip
        if json is not None:
            result.to_json(json, internal=internal, beside=beside)
        if figures is not None:
            from sdckit.data.files.write_file import write_file

            write_file(result.details(), figures, private=True)
    if not quiet and json != outputs.TO_STDOUT:
        deliver(result, name=file.name, report=report, full=full or bool(asked) or bool(roles.by))
        reading.tell_user_missing()


def run(
    reading: Reading, scenario: Scenario, release: Release, *, steps: Steps, engine: EngineOptions,
    documents: bool = False, internal: bool = False, measures: Sequence[str] = (), by: Sequence[str] | None = None,
    gate: bool = False,
) -> Assessment | ReleaseAssessment:  # fmt: skip
    """Open the declared columns of a file, and its releases, in memory or by an engine, and assess them.

    `gate`: only what its limits read.
    """
    from sdckit.catalogue.attacks import RECOVERABLE
    from sdckit.data.files.read_labelled import check_labels_beside
    from sdckit.data.scenarios.column_roles import left_to_patterns
    from sdckit.workflow.assess import assess_read

    groups, also = tuple(by or ()), () if release.id is None else (release.id,)
    own, headers = engine.header(reading), release.headers(reading, engine)
    scenario = release.by_itself(scenario, own)
    recodings, left = release.recodings(reading, scenario, own, headers)
    for file, header in zip(release.files, headers, strict=True):
        source.release_header(file, left, also=also, header=header)
    _check_insensitive(scenario, [own, *headers])
    # whoever has a release has all of its columns; the original's tell whether they give back the truth
    going_out = [[name for name in header.columns if name not in scenario.identifiers or name in also]
                 for header in headers]  # fmt: skip
    more = tuple(dict.fromkeys(name for columns in going_out for name in columns))
    used = () if recodings is None else recodings.needs((*scenario.columns, *more))
    of_own = also  # with the identifiers that are left out: whether what goes out was made of them
    if headers:
        gone = (name for name in scenario.identifiers if name in own.columns and name not in more)
        of_own = tuple(dict.fromkeys((*also, *gone)))
    else:
        # any column may tell values of others, or link the records of two releases
        every = not engine.used and scenario.limit_on(RECOVERABLE.name) is not None
        every = every or scenario.ledger is not None
        more = tuple(own.columns if every else (*left_to_patterns(scenario, own.columns), *scenario.insensitive))
    frame: Any
    if engine.used:
        there = [name for name in (*more, *used) if name in own.columns and name not in scenario.identifiers]
        frame, n = engine.open(reading, scenario, (*of_own, *groups, *there), steps)
        opened = [
            engine.scan(reading.beside(file), steps, columns=columns, missing=scenario.missing_codes, beside=frame)
            for file, columns in zip(release.files, going_out, strict=True)
        ]
        others, sizes = [other for other, _ in opened], [size for _, size in opened]
    else:
        others = [
            source.read_release(
                file, left, also=also, whole=True, header=header, steps=steps, **reading.beside(file).how
            )
            for file, header in zip(release.files, headers, strict=True)
        ]
        frame = source.read_declared(
            reading.file, scenario, also=(*of_own, *groups), if_there=(*more, *used), steps=steps, header=own,
            **reading.how,
        )  # fmt: skip
        n, sizes = frame.height, [other.height for other in others]
    people = None
    if release.control is not None:
        how = reading.beside(release.control).how
        people = source.read_release(release.control, left, if_there=more, steps=steps, **how)
        if not engine.used:
            check_labels_beside([(reading.file, frame), (release.control, people)])
    if documents:
        for records in (n, *sizes):
            outputs.check_enough_records(records, internal=internal)
    steps.step(f"assessing {n:,} records")
    assessed: Assessment | ReleaseAssessment = assess_read(
        frame, others or None, scenario=scenario, measures=measures, by=groups, id=release.id, seed=release.seed,
        models=read_models(release.model), control=people, attacks=release.attacks, n_attacks=release.attempts,
        recipe=recodings, step=steps.step, targets=release.targets, gate=gate,
    )  # fmt: skip
    return _with_files(assessed, headers or [own], reading, release)


def _check_insensitive(scenario: Scenario, headers: Sequence[FileHeader]) -> None:
    from sdckit.data.scenarios.column_roles import check_insensitive

    columns = list(dict.fromkeys(name for header in headers for name in header.columns))
    check_insensitive(scenario, columns, certain=all(header.certain for header in headers))


def _with_files(
    assessed: Assessment | ReleaseAssessment, headers: Sequence[FileHeader], reading: Reading, release: Release
) -> Assessment | ReleaseAssessment:
    """The assessment with the roles of all columns of the files, of which only some were read, and what else they hold.

    The identifiers of a file by itself are left out: it is read without them. Those of a release go out.
    """
    from sdckit.data.files.beside_records import BESIDE, beside_records
    from sdckit.data.scenarios.column_roles import among_columns

    scenario, known = assessed.scenario, sure(assessed.column_roles)
    kept_back = () if assessed.compared else scenario.identifiers
    columns = dict.fromkeys(name for header in headers for name in header.columns if name not in kept_back)
    certain = all(header.certain for header in headers)
    roles = among_columns(known, scenario, list(columns), id=release.id, certain=certain)
    own = [reading.beside(file) for file in release.files or reading.inputs]
    beside = dict.fromkeys(
        text for how in own for text in beside_records(
            how.file, encoding=how.encoding, user_missing=how.user_missing, delimiter=how.delimiter,
            missing=scenario.missing_codes, sheet=how.sheet, header_row=how.header_row,
        )
    )  # fmt: skip
    beside |= {BESIDE["unjoined"]: None} if len(own) > len(headers) and reading.has_unjoined() else {}
    return replace(assessed, column_roles=roles, beside=(*assessed.beside, *beside))


def deliver(
    result: Assessment | ReleaseAssessment, *, name: str, report: Path | None, note: str = "", full: bool = False
) -> None:
    """Print the page to decide on or, `full`, every chapter; where the report went, and a last word."""
    from sdckit.cli.terminal import print_page
    from sdckit.report.notebook import screen_page

    print_page(screen_page(result, full=full), name=name)
    if taken := options.whole_population(result.scenario, name, options=True):
        errors.tell(f"\n{taken}")
    if report is not None:
        errors.tell(f"\nReport written: {report.name}")
    if note:
        errors.tell(f"\n{note}")


def further_measures(measures: list[str] | None) -> tuple[str, ...]:
    """Read ``--measures``; a wrong name is told before the file is read."""
    names = options.split(measures)
    if not names:
        return ()
    from sdckit.workflow.plan import chosen_measures

    return chosen_measures(names)
