"""Why each step of a proposed recipe is there, for the comments of the recipe: in ranges, it may go out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sdckit.display import counted, printable
from sdckit.report.chapters.sentences import listed
from sdckit.workflow.proposing.ladders import FEW, Rung
from sdckit.workflow.proposing.proposal import INSTEAD, about_loss, caution, in_words
from sdckit.workflow.recipes.recipe_steps import LACKING_VALUES
from sdckit.workflow.recipes.starter_text import Told

if TYPE_CHECKING:
    from sdckit.workflow.proposing.judging import Judged
    from sdckit.workflow.proposing.lattice import Node
    from sdckit.workflow.proposing.search import Found
    from sdckit.workflow.proposing.trials import Trials


FOR_THE_ROOM = "It names values that few records have: keep this recipe in the room."
STEP_REASONS = {
    "weight": "Many weights occur with one value of a key only, and would give back what is taken out there.",
    "allowed": "Allowed by the caller: thresholds that recodings and suppression do not meet ask for it.",
    "risk": "Records whose risk is still above the threshold lose their keys.",
}


def key_words(trials: Trials, node: Node) -> dict[str, str]:
    """What becomes of each key."""
    return {one.key: one.rungs[rung].words for one, rung in zip(trials.lattice.ladders, node, strict=True)}


def step_reasons(trials: Trials, found: Found, judged: Judged) -> Iterator[Told]:
    """The steps on keys and values, each with its comment."""
    places = {one.key: j for j, one in enumerate(trials.lattice.ladders)}
    for kind, step in judged.made.steps:
        if kind == "recoding":
            yield step, list(_of_recoding(trials, found, judged.made.node, places[str(step["column"])]))
        elif kind == "left out":
            yield step, list(_of_left_out(trials, found, judged, places, step["columns"]))
        elif kind in ("k", "l"):
            yield step, list(_of_suppression(step))
        else:
            yield step, [STEP_REASONS[kind]]


def _of_recoding(trials: Trials, found: Found, node: Node, j: int) -> Iterator[str]:
    ladder, lattice = trials.lattice.ladders[j], trials.lattice
    rung = ladder.rungs[node[j]]
    kept = about_loss(rung.kept, lattice.n)
    tells = f", which keeps {kept} of what it tells" if kept else ""
    yield f"{printable(ladder.key)} {rung.words}{tells}. {_why(trials, found, node, j)}"
    if _names_few(trials, rung, j):
        yield FOR_THE_ROOM


def _of_left_out(
    trials: Trials, found: Found, judged: Judged, places: Mapping[str, int], columns: Sequence[str]
) -> Iterator[str]:
    for name in columns:
        if name in places:
            yield f"{printable(name)} is left out. {_why(trials, found, judged.made.node, places[name])}"
        else:
            yield f"{printable(name)} is left out: it gives back values that are taken out of a key."


def _why(trials: Trials, found: Found, node: Node, j: int) -> str:
    """What stands against releasing a key one rung finer, everything else the same."""
    finer = (*node[:j], node[j] - 1, *node[j + 1 :])
    words = trials.lattice.ladders[j].rungs[finer[j]].words
    if not trials.enough(finer):
        return f"With it {words}, more records are beyond a threshold than suppression may be left with."
    least = found.losses.get(finer, trials.least(finer))
    if least >= judged_loss(found, node):
        return f"With it {words}, what has to be taken out costs more than that keeps."
    return f"With it {words}, a threshold did not hold, or it was not tried."


def judged_loss(found: Found, node: Node) -> float:
    """The loss of a node that was tried."""
    return found.losses.get(node, 1.0)


def _names_few(trials: Trials, rung: Rung, j: int) -> bool:
    """Whether the step names values of a key that few records have; only where the recipe stays in the room."""
    if not trials.internal or rung.step is None or "groups" not in rung.step:
        return False
    ladder, side = trials.lattice.ladders[j], next(one for one in trials.lattice.sides if j in one.at)
    records = np.bincount(side.codes[side.at.index(j)], side.size, ladder.missing + 1)
    return bool(records[ladder.codes].min() < FEW)


def _of_suppression(step: Mapping[str, Any]) -> Iterator[str]:
    whom = f" for {printable(str(step['intruder']))}" if "intruder" in step else ""
    if "keys" in step:
        whom = f" for whoever knows {listed([printable(name) for name in step['keys']])}"
    if step.get("risk") == LACKING_VALUES:
        columns = [printable(name) for name in step["columns"]]
        yield f"Records{whom} in groups with too few sensitive values lose {listed(columns)}."
        return
    yield f"The rest{whom}: as few values as possible are taken out until every record has k like it."
    if "together" in step:
        yield "Columns that tell a key lose their value where the key does."
    if step.get("hide_implied"):
        yield "Nothing taken out may follow from the rest."


def outcome(
    trials: Trials, found: Found, judged: Judged, others: Sequence[tuple[str, bool, float]]
) -> list[str]:
    """The closing lines: what holds, how good it is, what else there is."""
    n, nodes = trials.lattice.n, trials.lattice.size
    words = in_words(key_words(trials, judged.made.node))
    lines = [f"In all it {words}." if words.startswith(("keeps", "gives")) else f"In all: {words}."]
    if loss := about_loss(judged.made.loss, n):
        lines.append(f"Of what the keys tell, {loss} is lost.")
    hidden = {name: about_loss(share, n) for name, share in judged.made.hidden.items()}
    if told := [f"{printable(name)} {share}" for name, share in hidden.items() if share]:
        lines.append(f"Values taken out: {'; '.join(told)}.")
    if told_of_most := caution(judged.resting / n, n):
        lines.append(f"{told_of_most}.")
    elif judged.resting and (resting := about_loss(judged.resting / n, n)):
        lines.append(
            f"Of the records, {resting} reach k only through missing values of others. Where that is not enough, "
            f"{INSTEAD}."
        )
    if judged.passed:
        lines.append("Tried on the file: every threshold holds after these steps.")
    else:
        lines.append(
            f"Tried on the file: these thresholds do not hold, or could not be judged: {listed(judged.failing)}."
        )
    lines.append(
        f"Of {counted(nodes, 'combination')} of recodings, {found.seen:,} were counted and "
        f"{len(found.losses):,} tried; the others follow from them{'' if found.whole else ', or were not reached'}."
    )
    for other, passed, lost in others:
        about = about_loss(lost, n)
        loses = f" (loses {about})" if about else ""
        lines.append(f"Another: {other}{loses}{'' if passed else '; a threshold does not hold'}.")
    return lines
