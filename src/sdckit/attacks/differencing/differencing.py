"""Differencing attack: disclosure by a release together with earlier ones."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sdckit.attacks.differencing import compare_releases, in_parts, linking_columns, release_ledger
from sdckit.attacks.differencing.compare_releases import SAYS, certain_together
from sdckit.attacks.differencing.linked_releases import SLACK, JointKeys, joint_keys, unlinking
from sdckit.attacks.differencing.release_ledger import Earlier, ReleaseLedger
from sdckit.cells.plans.lazy import TooMuchError
from sdckit.data import arguments, methods
from sdckit.data.frames import count_records, is_lazy, open_frame, plain_columns, result_frame, together_telling
from sdckit.data.ledger.digests import Digester
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import counted
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Bools
from sdckit.result import FileFigure, LetGo, Result, json_ready


@dataclass(frozen=True, eq=False, repr=False)
class Differencing(Result):
    """Disclosure by a release together with earlier releases that none of them causes alone.

    Attributes
    ----------
    n : int
        Records of the release.
    differencing : float
        Share of its records with any disclosure: the following four, each record counted once.
    people : int
        The same as a number; at most n.
    certain_together : int
        Records whose sensitive value is certain by intersecting the candidates of all releases, and by none alone.
    told_by_difference : int
        People whose sensitive value is disclosed by subtracting the counts of two releases, one of which contains the
        other.
    given_back : int
        Records with a value missing here that an earlier release shows.
    unprotected : int
        Records with a value shown here that is missing in an earlier release.
    linked : int
        Records that a column of both releases links to an earlier one: an id that goes out, an exact number or date; or
        that are alone in both with their values of several columns.
    linked_uniques : int
        Those that are alone with the keys of all releases that they are linked to.
    within : int
        The largest difference of counts that is considered.
    certain : dict of str to int
        ``certain_together`` by sensitive variable.
    entries : tuple of EarlierRelease
        Release by release.
    keys, sensitive : tuple of str
    notes : dict of str to str
    first : bool
        Whether it was said that nothing went out before.
    joint : JointKeys or None
        Of every linked record group, risk and sensitive values on these keys; None where nothing is linked.
    not_compared : tuple of str
        Why a key or sensitive variable could not be compared with earlier releases, by name.
    unlinking : str
        What would part the linked releases: new identifiers, rounding, noise on the column that links them.
    singly : bool
        Whether not all columns could be tried as links to an earlier release together (it is not at hand, too large or
        too small, or its codes are others), although all of the release together tell most records apart, or two of
        them are numbers, which may lie near, and those tried do not join it, or few of its records.
    records : frame
        Of every record ``certain_together``, ``given_back`` and ``unprotected``. Confidential.
    """

    measure: ClassVar[str] = "differencing"
    figures: ClassVar[tuple[str, ...]] = (
        "differencing", "people", "certain_together", "told_by_difference", "given_back", "unprotected",
        "linked", "linked_uniques",
    )  # fmt: skip
    dropped: ClassVar[tuple[str, ...]] = ("source", "flags", "joint")
    n: int
    differencing: float
    people: int
    certain_together: int
    told_by_difference: int
    given_back: int
    unprotected: int
    linked: int
    linked_uniques: int
    within: int
    certain: dict[str, int]
    entries: tuple[compare_releases.EarlierRelease, ...]
    keys: tuple[str, ...]
    sensitive: tuple[str, ...]
    source: Any = field(repr=False)
    flags: dict[str, Bools] = field(repr=False)
    notes: dict[str, str] = field(default_factory=dict)
    joint: JointKeys | None = field(default=None, repr=False)
    not_compared: tuple[str, ...] = ()
    unlinking: str = ""
    first: bool = False
    singly: bool = False

    @property
    def n_pending(self) -> int:
        """Earlier releases that have not gone out yet."""
        return sum(entry.pending for entry in self.entries)

    def joint_below(self, k: float) -> int:
        """Linked records in groups of fewer than k on the keys of all releases that they are linked to."""
        return 0 if self.joint is None else int((self.joint.frequency < k - SLACK).sum())

    def joint_above(self, risk: float) -> int:
        """Linked records with a risk above the limit on these keys."""
        return 0 if self.joint is None else int((self.joint.risk > risk + SLACK).sum())

    def joint_short(self, variable: str, least: float) -> int:
        """Linked records whose group on these keys holds fewer values of a sensitive variable."""
        return 0 if self.joint is None else int((self.joint.distinct[variable] < least - SLACK).sum())

    @property
    def joint_variables(self) -> tuple[str, ...]:
        """The sensitive variables of the linked releases."""
        return () if self.joint is None else tuple(self.joint.distinct)

    @property
    def linked_by(self) -> dict[str, tuple[str, ...]]:
        """The columns that link each earlier release, where any does."""
        return {entry.name: entry.linked_by for entry in self.entries if entry.linked_by}

    @property
    def remedies(self) -> tuple[str, ...]:
        """What would end what is disclosed, in exact figures: of how many records which way leads to it."""
        ways = ((SAYS["certain"], self.certain_together), (SHOWN, self.unprotected), (SAYS["hidden"], self.given_back))
        told = (words.format(counted(number, "record")) for words, number in ways if number)
        return (*filter(None, [self.unlinking]), *told, *filter(None, [self.notes.get("crossed")]))

    @property
    def linked_words(self) -> str:
        """The linked releases and the columns that link them, in words."""
        return "; ".join(f"{entry.name} (linked by {entry.linked_words})" for entry in self.entries if entry.linked_by)

    @property
    def unjoined(self) -> str:
        """Why it was not looked at whether a column links the releases; empty where it was."""
        return "" if self.flags else self.notes.get("certain_together", "")

    def _noted(self, *notes: str) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.entries if {*notes} & {*entry.notes})

    @property
    def without_levels(self) -> tuple[str, ...]:
        """Earlier releases of the same people of which the ledger kept no levels, so that they could not be joined."""
        return self._noted(compare_releases.NO_LEVELS)

    @property
    def without_homes(self) -> tuple[str, ...]:
        """Earlier releases of which the ledger does not know the households, which this release shows."""
        return self._noted(SAYS["no_homes"])

    @property
    def not_intersected(self) -> tuple[str, ...]:
        """Earlier releases of the same people whose candidate values could not be intersected for want of a link."""
        return self._noted(SAYS["no_link"], SAYS["linked_in_part"])

    @property
    def not_kept(self) -> str:
        """Which earlier releases the ledger kept no levels of, in a sentence; empty where there is none."""
        return SAYS["not_kept"].format(", ".join(self.without_levels)) if self.without_levels else ""

    @property
    def not_looked_for(self) -> tuple[str, ...]:
        """What was not looked for in some earlier releases, in a sentence each."""
        told = ((SAYS["not_intersected"], self.not_intersected), (SAYS["homes_not_kept"], self.without_homes))
        sentences = (reason.format(", ".join(names)) for reason, names in told if names)
        return (*sentences, *filter(None, [self.not_kept]))

    @cached_property
    def records(self) -> Any:
        """A row per record of the release, in the caller's frame type; refused where cells were compared in parts."""
        if not self.flags:
            raise DataError(
                "this release was compared by its cells in parts, since its records do not fit here: figures are told, "
                "but nothing of single records; take fewer columns, or give more memory"
            )
        return result_frame(dict(self.flags), self.source)

    def file_figures(self) -> Sequence[FileFigure]:
        """The figures that have a denominator."""
        return (FileFigure("differencing"),)

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact and ready for JSON, those of each earlier release under ``entries``."""
        listed = [json_ready({**vars(entry)}) for entry in self.entries]
        told = {"certain": dict(self.certain), "within": self.within, "not_compared": list(self.not_compared)}
        return {**super().to_dict(), **told, "entries": listed}

    def _backend(self) -> Any:
        return "pyarrow" if isinstance(self.source, LetGo) or not self.flags else self.source.implementation


def differencing(
    data: Any,
    *,
    earlier: Any = None,
    ledger: ReleaseLedger | None = None,
    keys: Sequence[str] | None = None,
    earlier_keys: Sequence[str] | Sequence[Sequence[str]] | None = None,
    sensitive: Sequence[str] | str = (),
    id: str | None = None,
    aligned: bool = False,
    within: int = 3,
    people: str | None = None,
    new: Sequence[str] = (),
    scenario: Scenario | None = None,
    first: bool = False,
    step: Callable[[str], None] | None = None,
) -> Differencing:
    """Find what a release gives away together with earlier releases, and with none of them alone.

    Parameters
    ----------
    data : data frame
        The release that is to go out.
    earlier : data frame, sequence of them, or dict of name to data frame, optional
        Earlier releases of the same people. With them everything is looked for exactly.
    ledger : ReleaseLedger, optional
        What is remembered of earlier releases.
    keys : sequence of str
        What an intruder could know.
    earlier_keys : sequence of str, or of sequences of str, optional
        The keys as the files of `earlier` have them, where they are other columns; of several files one list each, or
        one for all. Those of `keys` that each has, unless given.
    sensitive : str or sequence of str
        What would be learnt.
    id : str, optional
        Column with a value of its own for each person, the same in every release.
    aligned : bool
        Whether row i of the release and row i of each earlier file of as many records are the same person's.
    within : int
        Differences of counts up to this are looked at.
    people : str, optional
        Whom the release is about, as `ReleaseLedger.add` was told of others; releases of other people are compared by
        their counts only. Unless given all are taken to be about the same people.
    new : sequence of str
        Keys and sensitive variables that no earlier release had in any coding: others that are in none of them cannot
        be judged.
    scenario : Scenario, optional
        Gives keys and sensitive variables that are not given here, weight and rule for missing keys; of one intruder.
        Its identifiers do not go out.
    first : bool
        Whether nothing of the survey went out before. Where it is not said, a ledger without a release that went out
        judges nothing.
    step : callable, optional
        Is told in words what is being done.

    Returns
    -------
    Differencing
        ``differencing``, ``certain_together``, ``given_back`` and more; ``entries``, ``records``.

    Raises
    ------
    ScenarioError
        No keys.
    ColumnError
        A column is absent; none of the columns is in an earlier release, or all are coded otherwise there.
    DataError
        Neither earlier releases nor a ledger; no records; an id that several records share; an argument out of range.

    Notes
    -----
    For a person with known keys each release leaves a set of candidate values of the sensitive variable, those of its
    records with these keys; several releases leave the intersection. A missing key agrees with any value, and a missing
    sensitive value may be any, so that nothing is called certain that rests on a hidden value. If one release contains
    the other, the counts of keys, with and without the sensitive variable, are subtracted. A value hidden in one
    release is looked up in the other: by id or row, otherwise for records that are unique in both files on all other
    shared columns.

    Records are joined by an id, by the order of the rows, or by a column that goes out in both releases and tells at
    least 90 % of the records apart. The joined people tell which codes of two columns stand for the same values, so
    that a variable is compared in every coding; without them only columns of one name and coding are compared, and what
    is certain together is not looked for. A sensitive variable in ranges with other limits than in an earlier release
    is compared by what two of them have in common, where labels, or the way in which the codes of all joined people
    overlap, tell that it is; where values that grew would look alike, `not_compared` names it. Of such a key the counts
    of both tell the sensitive values in each overlap, if both have the same people with the same values. Where no
    single column joins an earlier release, it is looked for several that do so together: people alone in both files
    with their values are linked, if pairs within one file say that most of these are the same people, and other columns
    agree. Of an earlier file all columns are tried, and numbers that moved a little by who lies nearest; of a ledger
    keys and sensitive variables; `singly` says where others might join. Where columns that go out join releases,
    ``joint`` has the groups, risks and sensitive values on the keys of all releases that a record is joined with; who
    is not linked by several columns may then be in the other release with any values.

    All columns of plans are brought for it, texts as codes, where both files fit in memory; ``notes["linked"]`` says
    how many records do. A plan whose records are too many even by the columns named here is compared with the files of
    `earlier` by cells in parts: nothing is joined, and `not_compared` names the columns that could join them; `records`
    is refused.

    References
    ----------
    Ganta, S. R., Kasiviswanathan, S. P. and Smith, A. (2008). Composition attacks and auxiliary information in data
    privacy. KDD.
    Denning, D. E. and Schloerer, J. (1980). A fast procedure for finding a tracker in a statistical database. ACM TODS
    5, 88-102.

    Examples
    --------
    >>> import polars as pl
    >>> job = ["cook", "nurse", "cook", "judge"]
    >>> by_age = pl.DataFrame({"age": ["20-39", "20-39", "40+", "40+"], "job": job})
    >>> by_place = pl.DataFrame({"place": ["n", "s", "s", "n"], "job": job})
    >>> found = differencing(
    ...     by_place, earlier=by_age, keys=["place"], earlier_keys=["age"], sensitive=["job"], aligned=True
    ... )
    >>> found.certain_together, found.differencing
    (2, 0.5)
    """
    tell = step or (lambda _: None)
    arguments.count(within, "within", "is the largest difference of counts that is looked at")
    arguments.flag(aligned, "aligned")
    arguments.flag(first, "first")
    arguments.column_or_none(id, "id")
    arguments.names(keys, "keys")
    said_new = arguments.names(new, "new", single=True) or ()
    if people is not None:
        arguments.text(people, "people")
    (own, *others), targets = release_ledger.key_sets(keys, sensitive, scenario)
    if others:
        raise DataError(
            "keys are those of one intruder; choose one of the scenario with .intruder(name)", argument="keys"
        )
    kept = () if scenario is None else scenario.identifiers
    roles = resolve_roles(scenario=scenario, keys=own, sensitive=targets)
    weight, own_id = _present(data, roles.weight), _present(data, id)
    asked = (*dict.fromkeys([*own, *targets]),)
    wanted = [*asked, *filter(None, [own_id, weight])]
    whole, stays = release_ledger.whole_here(data, "the release", kept=kept, wanted=wanted)
    telling = release_ledger.telling_columns(whole, kept)
    release = None
    with suppress(TooMuchError) if ledger is None and earlier is not None else nullcontext():
        release = release_ledger.open_release(
            whole, asked, id=own_id, name="the release", role="keys and sensitive", weight=weight, kept=kept,
            telling=telling, scenario=scenario,
        )  # fmt: skip
    if release is None:
        files = _named(earlier)
        _chosen(earlier_keys, len(files))
        homes = filter(None, [_present(data, roles.household)])
        joins = [*filter(None, [own_id]), *telling, *(("the order of the rows",) if aligned else ())]
        joins += [f"{home} of whole households" for home in homes]
        return _in_parts(data, files, own, targets, within, tuple(dict.fromkeys(joins)), said_new, first, stays, tell)
    before = _earlier(earlier, ledger, own, earlier_keys, targets, id=id, people=people, scenario=scenario, tell=tell)
    own_sets = {
        target: compare_releases.own_candidates(release, own, target)
        for target in targets
        if target not in own and release_ledger.can_intersect(release.n, len(release.levels[target].texts))
    }
    plain = tuple(plain_columns(open_frame(whole), [*kept, *filter(None, [id])]))
    shared = compare_releases.Comparison(
        release, own, own_sets, targets, id, aligned, within, said_new, {target: [] for target in targets},
        {target: np.zeros(release.n, np.bool_) for target in own_sets},
        {name: np.zeros(release.n, np.bool_) for name in ("certain_together", "given_back", "unprotected")}, [],
        tuple(name for name in plain if name not in telling), plain,
    )  # fmt: skip
    entries = []
    for previous in before:
        tell(f"comparing with {previous.name}")
        entries.append(replace(compare_releases.compare_with_earlier(shared, previous), pending=previous.pending))
    flags, (certain, notes) = shared.flags, _intersected(shared)
    joint = None
    if shared.joined:
        tell("joining the releases that a column links")
        joint = joint_keys(release, shared.joined, replace(roles, weight=weight))
    untried = _untried(whole, entries, stays, shared, (*kept, *telling, *filter(None, [id])))
    notes |= {"linked": untried} if untried else {}
    either = flags["certain_together"] | flags["given_back"] | flags["unprotected"]
    disclosed = sum(entry.told_by_difference for entry in entries)
    everybody = min(int(either.sum()) + disclosed, release.n)
    linked, uniques = (0, 0) if joint is None else (int(joint.linked.sum()), int((joint.frequency < 2).sum()))
    return Differencing(
        release.n, everybody / release.n, everybody, int(flags["certain_together"].sum()), disclosed,
        int(flags["given_back"].sum()), int(flags["unprotected"].sum()), linked, uniques, within, certain,
        tuple(entries), own, targets, release.frame.select(*own), flags, notes, joint,
        _not_compared(list(release.levels), said_new, {*targets} - {*own_sets, *own}, entries),
        unlinking(release, shared.joined), first, bool(untried),
    )  # fmt: skip


def _intersected(shared: compare_releases.Comparison) -> tuple[dict[str, int], dict[str, str]]:
    """Flag the records whose sensitive values are certain over all releases; how many by variable, and a note."""
    certain, notes = {}, {}
    for target, own_set in shared.own.items():
        hit, contradicted = certain_together(own_set, shared.sets[target])
        hit |= shared.certain[target]
        shared.flags["certain_together"] |= hit
        certain[target] = int(hit.sum())
        if contradicted.any():
            notes["certain_together"] = (
                "for some records no value is possible in all releases: values were changed, or rows do not belong "
                "together; what is certain may be wrong then"
            )
    crossed = [name for name in shared.new.levels if name in shared.crossed]
    return certain, notes | ({"crossed": SAYS["crossed"].format(", ".join(crossed))} if crossed else {})


SHOWN = f"of {{}} a value goes out that an earlier release hides: {methods.ADVICE['shown_now']}"


def _untried(
    data: Any, entries: Sequence[compare_releases.EarlierRelease], stays: str,
    shared: compare_releases.Comparison | None = None, without: Sequence[str] = (),
) -> str:  # fmt: skip
    """What was not tried though several columns, of people or households, might join an earlier release; or nothing.

    Or the rest of one, of which those tried join fewer than most. Columns might by equal values, if together they tell
    people apart, and two of numbers by near ones. `stays`: why the release is not in memory.
    """
    n = 0 if shared is None else shared.new.n
    rests = [not entry.linked_by or compare_releases.linked_in_part(entry.right, entry.linked, n) for entry in entries]
    untried = [entry for rest, entry in zip(rests, entries, strict=True) if rest and entry.same_people]
    untried = [entry for entry in untried if not entry.searched]
    if not untried or not (
        shared is None
        or shared.new.shows_homes
        or len(linking_columns.many_valued_numbers([shared.new.frame], shared.numbers)) > 1
        or together_telling(data, release_ledger.MOST_ALIKE, without=without)
    ):
        return ""
    reasons = [stays, *(entry.unsearched or (SAYS["by_file"] if entry.source == "sketch" else "") for entry in untried)]
    return SAYS["singly"].format("; ".join(dict.fromkeys(filter(None, reasons))) or SAYS["of_codes"])


def _not_compared(
    columns: Sequence[str], said_new: Sequence[str], many: Collection[str],
    entries: Sequence[compare_releases.EarlierRelease],
) -> tuple[str, ...]:  # fmt: skip
    """Why some key or sensitive variable was not compared, one sentence each, by name; `many`: with too many values."""
    same = [entry for entry in entries if entry.same_people and compare_releases.NO_LEVELS not in entry.notes]
    strangers = [  # joined with other people; that a column is new opens nothing where an earlier release has it
        entry for entry in same
        if entry.linked and not entry.linked_by and len(entry.alike) > 1 and not {*entry.alike} & {*entry.compared}
    ]  # fmt: skip
    reasons = [SAYS["misjoined"].format(entry.name, ", ".join(entry.alike)) for entry in strangers]
    apart = {name for entry in strangers for name in entry.alike}
    for name in [name for name in columns if name not in apart] if same else ():
        if any(name in entry.otherwise and name not in entry.compared for entry in same):
            reasons.append(SAYS["otherwise"].format(name))
        elif name not in said_new and not any(name in entry.compared for entry in same):
            reasons.append(SAYS["not_earlier"].format(name))
        elif name in many:
            reasons.append(SAYS["too_many"].format(name))
    return tuple(reasons)


def _in_parts(
    data: Any, earlier: Mapping[str, Any], own: tuple[str, ...], targets: tuple[str, ...], within: int,
    joins: tuple[str, ...], said_new: Sequence[str], first: bool, stays: str, tell: Callable[[str], None],
) -> Differencing:  # fmt: skip
    """What cells say of a plan whose records are too many to be brought; what could join its rows is not looked at."""
    entries, disclosed = [], 0
    for name, frame in earlier.items():
        tell(f"comparing with {name}")
        _check_columns(name, _columns(frame), (*own, *targets))
        entry, several = in_parts.compare_in_parts(frame, data, name, own, targets, within=within, joins=joins)
        entries.append(entry)
        disclosed += entry.given_back + entry.unprotected - several + entry.told_by_difference
    n = count_records(data)
    people = min(disclosed, n)
    told, back, bare = (
        min(sum(getattr(entry, name) for entry in entries), n)
        for name in ("told_by_difference", "given_back", "unprotected")
    )
    unjoined = SAYS["not_joined"].format(", ".join(joins)) if joins else ""
    notes = {"people": SAYS["added_up"]} if len(entries) > 1 else {}
    notes |= {"certain_together": unjoined} if joins else {}
    untried = _untried(data, entries, stays)
    notes |= {"linked": untried} if untried else {}
    reasons = _not_compared(list(dict.fromkeys([*own, *targets])), said_new, (), entries)
    return Differencing(
        n, people / n, people, 0, told, back, bare, 0, 0, within, {name: 0 for name in targets if name not in own},
        tuple(entries), own, targets, open_frame(data), {}, notes,
        not_compared=(*reasons, *filter(None, [unjoined])), first=first, singly=bool(untried),
    )  # fmt: skip


def _check_columns(name: str, present: Sequence[str], wanted: Sequence[str]) -> None:
    if not set(wanted) & set(present):
        raise ColumnError(f"{name} has none of the columns {', '.join(wanted)}: another survey?")


def _present(data: Any, name: str | None) -> str | None:
    """The name of a column if the release has it; an id may have been dropped before."""
    return name if name is not None and name in open_frame(data).collect_schema().names() else None


def _earlier(
    earlier: Any, ledger: ReleaseLedger | None, keys: tuple[str, ...], earlier_keys: Any, sensitive: Sequence[str],
    *, id: str | None, people: str | None, scenario: Scenario | None, tell: Callable[[str], None],
) -> Iterator[Earlier]:  # fmt: skip
    files = _named(earlier)
    if ledger is not None and not isinstance(ledger, ReleaseLedger):
        raise DataError("ledger= takes a ReleaseLedger; open one with ReleaseLedger.open", argument="ledger")
    if not files and ledger is None:
        raise DataError("there is no earlier release to compare with: give earlier=, or a ledger", argument="earlier")
    chosen = _chosen(earlier_keys, len(files))
    digester = Digester(secrets.token_bytes(32))  # for as long as this call lasts
    for (name, frame), given in zip(files.items(), chosen, strict=True):
        tell(f"reading {name}")
        present = _columns(frame)
        own = given or tuple(key for key in keys if key in present)
        columns = tuple(dict.fromkeys(wanted for wanted in (*own, *keys, *sensitive) if wanted in {*present, *own}))
        _check_columns(name, columns, (*keys, *sensitive))
        kept, own_id = () if scenario is None else scenario.identifiers, _present(frame, id)
        whole, stays = release_ledger.whole_here(frame, name, kept=kept, wanted=[*columns, *filter(None, [own_id])])
        file = release_ledger.open_release(
            whole, columns, id=own_id, name=name, role="earlier_keys", scenario=scenario, kept=kept
        )
        learnt = [column for column in sensitive if column in columns]
        sketch, order = release_ledger.sketch_release(file, [tuple(own)], learnt, digester)
        at_hand = None if is_lazy(whole) else whole
        yield Earlier(name, "", True, sketch, digester, order, file=at_hand, stays=stays, homes=file.homes)
    for entry in () if ledger is None else ledger.entries:
        tell(f"reading the sketch of {entry.name}")
        yield ledger._earlier(entry, people, scenario)  # type: ignore[union-attr]


def _columns(frame: Any) -> list[str]:
    """The columns of an earlier file."""
    try:
        return list(open_frame(frame).collect_schema().names())
    except DataError as error:
        raise DataError(f"earlier: {error}", argument="earlier") from None


def _chosen(earlier_keys: Any, n: int) -> tuple[tuple[str, ...], ...]:
    """The key variables of each earlier file; () where they are not given."""
    if earlier_keys is None:
        return ((),) * n
    own, _ = release_ledger.key_sets(earlier_keys, (), None, name="earlier_keys")
    if len(own) not in (1, n):
        raise DataError("earlier_keys is one list of keys for each of the earlier files, or one for all",
                        argument="earlier_keys")  # fmt: skip
    return own if len(own) == n else own * n


def _named(earlier: Any) -> dict[str, Any]:
    if earlier is None:
        return {}
    if isinstance(earlier, Mapping):
        return {str(name): frame for name, frame in earlier.items()}
    given = list(earlier) if isinstance(earlier, list | tuple) else [earlier]
    return {f"earlier release {number}": frame for number, frame in enumerate(given, 1)}
