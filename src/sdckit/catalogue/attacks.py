"""The measures of the room `attacks`: simulated intruders."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

from sdckit.catalogue.identity import NOT_ALIGNED, TESTED_K
from sdckit.catalogue.row import Context, Knowledge, Measure, Part

COLUMNS_AT_ONCE = 3
ONE_KEY = "there is only one key"
NO_DUCKDB = "it needs DuckDB: pip install 'sdckit[linkage]'"
ATTACK = partial(Measure, room="attacks", files="attack")


def _knows(context: Context) -> Knowledge:
    assert context.knowledge is not None
    return context.knowledge


def _drawn(context: Context) -> dict[str, Any]:
    """What every attack that draws its attempts takes."""
    knows = _knows(context)
    return {"n_attacks": knows.n_attacks, "seed": context.seed, "by": knows.by or None}


def _singled_out(context: Context) -> Iterator[Part]:
    names, drawn = _knows(context).variables, _drawn(context)
    yield "univariate", lambda: SINGLING.measure(context.pair, variables=names, **drawn)
    if (k := min(COLUMNS_AT_ONCE, len(names))) > 1:
        yield (
            "multivariate",
            lambda: SINGLING.measure(context.pair, variables=names, mode="multivariate", n_columns=k, **drawn),
        )


SINGLING = ATTACK(
    name="singling_out",
    question="Can the release be used to write down something that is true of exactly one person?",
    words="attacking the release: singling out", parts=_singled_out, of_intruder=False, residual_risk=True,
)  # fmt: skip


def _every(context: Context) -> dict[str, Any]:
    knows = _knows(context)
    return {"variables": knows.variables, **knows.numbers(*knows.variables), **_drawn(context)}


def _near(context: Context) -> dict[str, Any]:
    return {name: value for name, value in _every(context).items() if name != "n_attacks"}


def _two_pieces(context: Context) -> str:
    knows = _knows(context)
    if knows.halves is not None:
        return ""
    return ONE_KEY if len(knows.known) == 1 else "it joins two pieces of knowledge, and only one is given"


def _joined(context: Context) -> dict[str, Any]:
    first, second = _knows(context).halves or ((), ())
    return {"known": (first, second), **_knows(context).numbers(*first, *second), **_drawn(context)}


def _linkable(context: Context) -> str:
    if not context.aligned:
        return NOT_ALIGNED
    if len(_knows(context).known) < 2:
        return ONE_KEY
    if find_spec("duckdb") is None:
        return NO_DUCKDB
    from sdckit.attacks.linkage.probabilistic_linkage import ALL_PAIRS

    if not _knows(context).blocking and (context.n or 0) ** 2 > ALL_PAIRS:
        return f"{context.n:,} records make too many pairs to compare them all here; call {LINKAGE.name} with blocking"
    return ""


def _linked(context: Context) -> dict[str, Any]:
    knows = _knows(context)
    blocking = [list(rule) for rule in knows.blocking] or None
    return {
        "variables": knows.known, **knows.numbers(*knows.known), "blocking": blocking, "seed": context.seed,
    }  # fmt: skip


def _something_known(context: Context) -> str:
    others = [name for name in _knows(context).known if name != context.target]
    return "" if others else f"nothing is known from which {context.target} could be inferred"


def _guessed(context: Context) -> dict[str, Any]:
    target = context.target or ""
    known = tuple(name for name in _knows(context).known if name != target)
    return {"known": known, "target": target, **_knows(context).numbers(*known, target), **_drawn(context)}


LINKABILITY = ATTACK(
    name="linkability", question="Can two pieces of knowledge of one person be joined through the release?",
    needs=("known",), words="attacking the release: linkability, {intruder}", condition=_two_pieces,
    arguments=_joined, residual_risk=True,
)  # fmt: skip
LINKAGE = ATTACK(
    name="probabilistic_linkage",
    question="Could somebody link released records to people in spite of slips and changes?",
    needs=("variables",), missing="wildcard",
    words="attacking the release: linking records despite slips, {intruder}", condition=_linkable,
    arguments=_linked,
)  # fmt: skip


def _gave_back(context: Context) -> dict[str, Any]:
    pair, limits = context.pair, context.scenario.limits
    assert pair is not None
    sizes = sorted({*TESTED_K, *([] if limits.k is None else [limits.k])})
    return {
        "scenario": context.scenario, "k": sizes, "risk": limits.risk, "seed": context.seed, "id": pair.id,
        "aligned": context.aligned and not (pair.brought and pair.id is None), "step": context.tell,
    }  # fmt: skip


RECOVERABLE = Measure(
    name="recoverable_values",
    question="Which values that were protected in it can be reconstructed from the release itself?",
    room="attacks", files="release", needs=("keys",), missing="wildcard",
    words="looking for what can be reconstructed by {intruder}", arguments=_gave_back,
)  # fmt: skip


def _beside_earlier(context: Context) -> Iterator[Part]:
    from sdckit.attacks.differencing.release_ledger import ReleaseLedger

    place = context.scenario.ledger
    assert place is not None
    if "ledger" not in context.shared:
        folder = context.scenario.folder
        context.shared["ledger"] = ReleaseLedger.open(
            folder / place.folder, key=folder / place.key, survey=place.survey
        )
    yield "", lambda: DIFFERENCING.measure(
        context.data, ledger=context.shared["ledger"], scenario=context.scenario, id=place.id, people=place.people,
        within=place.within, step=context.tell,
    )  # fmt: skip


DIFFERENCING = Measure(
    name="differencing",
    question="What does the release disclose together with the releases before it?",
    room="attacks", files="one", needs=("keys",), words="holding the release against those before it, {intruder}",
    parts=_beside_earlier, when=lambda context: context.scenario.ledger is not None,
)  # fmt: skip


def _published(context: Context) -> str:
    return "" if context.scenario.tables else "the scenario declares no published tables"


def _of_tables(context: Context) -> bool:
    """Whether anything is said of tables: a scenario with a limit on them and none is told so."""
    scenario = context.scenario
    return bool(scenario.tables) or scenario.limits_of(compared=True).joint_recoverable is not None


def _audited(context: Context) -> dict[str, Any]:
    given = _gave_back(context)
    limited = context.scenario.limits_of(compared=True).joint_recoverable is not None
    return {name: given[name] for name in ("scenario", "k", "id", "aligned", "step")} | {"remedies": limited}


JOINT = Measure(
    name="joint_audit",
    question="What can be reconstructed from the release and the tables published beside it?",
    room="attacks", files="release", needs=("keys",), missing="wildcard",
    words="holding published tables against the release for {intruder}", condition=_published,
    when=_of_tables, arguments=_audited,
)  # fmt: skip
ATTACKS: tuple[Measure, ...] = (
    RECOVERABLE,
    JOINT,
    DIFFERENCING,
    SINGLING,
    ATTACK(
        name="membership", question="Can it be told who was in the file?",
        needs=("control",), words="attacking the release: membership", arguments=_every, of_intruder=False,
        residual_risk=True,
    ),
    ATTACK(
        name="distance_to_closest_record",
        question="Are released records nearer to the people in the file than to others?",
        words="attacking the release: distances", arguments=_near, of_intruder=False, command="distances",
    ),
    LINKABILITY,
    LINKAGE,
    ATTACK(
        name="inference",
        question="Can an unknown value of a person be guessed from the most similar released row?",
        needs=("known", "target"), words="attacking the release: inference, {intruder}, {target}",
        condition=_something_known, arguments=_guessed, each=True, residual_risk=True,
    ),
    Measure(
        name="canaries", question="Does a synthesizer remember records that were planted in its training file?",
        room="attacks", files="estimates", of_plan="refused",
    ),
)  # fmt: skip
