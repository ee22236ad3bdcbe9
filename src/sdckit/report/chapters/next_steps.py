"""What to do next, the most useful first: from the verdicts and the printed advice on each key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdckit.display import counted
from sdckit.report.chapters.plain_words import QUESTION_OF
from sdckit.report.chapters.sentences import listed
from sdckit.report.view import Plain

CONTRIBUTIONS = "key_contributions"
RARE = {
    "k",
    "risk",
    "household_risk",
    "global_risk",
    "match_risk",
    "replicated_uniques",
    "k_undone",
    "risk_undone",
}
READY = (
    "Check once more that the file that leaves is the one assessed here.",
    "Give out that file and documents without exact figures only; the original, the log and all keys stay inside.",
    "Set a date for the next review: what others know, and what else is published, changes.",
)
TAKE_OUT = "Then take out single values of the records that still share what is known with too few."
HOUSEHOLDS = (
    "Leave out the number of the household and what tells who lives together, release fewer members of large "
    "households (limit_households), or make coarser what tells the members apart."
)
AGAIN = "Apply this to the file and assess it again beside the original."


def next_steps(plain: Plain) -> list[str]:
    """What to do, ranked; where every limit holds, what to mind when the file goes out."""
    verdicts = plain["verdicts"]
    if not verdicts:
        return [
            "Decide how much risk is acceptable: set limits, or name the type of release, and assess again."
        ]
    beyond = [one for one in verdicts if one["holds"]["value"] is False]
    if not beyond:
        opened = [one for one in verdicts if one["holds"]["value"] is None]
        return ["Have the open questions answered, then assess again."] if opened else list(READY)
    several = len(plain["intruders"]) > 1
    names = {one["name"] for one in beyond}
    steps: list[str] = []
    if names & RARE:
        for one in _files(plain):
            if any(v["intruder"] == one["name"] and v["name"] in RARE for v in beyond):
                steps += _coarser(one, several=several)
    steps += _learnt([one for one in beyond if QUESTION_OF.get(one["name"]) == "learnt"])
    if "household_uniques" in names:
        steps.append(HOUSEHOLDS)
    if "residual_risk" in names:
        steps.append(
            "Change more of what the trial attacks used, or make the release anew with less memory of the file."
        )
    if names & RARE:
        steps.append(TAKE_OUT)
    return [*dict.fromkeys(steps), AGAIN]


def _files(plain: Plain) -> Sequence[Plain]:
    """What was measured against each intruder: of a release the first of the files that go out."""
    found: Sequence[Plain] = (plain["released"][0] if "released" in plain else plain)["intruders"]
    return found


def _coarser(one: Plain, *, several: bool) -> Iterator[str]:
    """Which of the known details to make coarser first, and what leaving one out would do."""
    tree = one.get(CONTRIBUTIONS)
    if not tree or not tree["uniques"]["value"]:
        return
    alone = tree["uniques"]
    whom = f" with what “{one['name']}” knows" if several else ""
    for rows, start in ((tree["coarsenings"], "Make {} coarser"), (_singles(tree), "Or leave out {}")):
        told = [row for row in rows if row["uniques_without"]["value"] is not None]
        least = min((row["uniques_without"]["value"] for row in told), default=alone["value"])
        if least >= alone["value"]:
            continue
        best = listed([row["variables"][0] for row in told if row["uniques_without"]["value"] == least], "or")
        yield (
            f"{start.format(best)}: of the {alone['text']} records that are alone{whom}, "
            f"{_left(told, least)} would stay alone."
        )


def _singles(tree: Plain) -> list[Plain]:
    return [row for row in tree["table"] if len(row["variables"]) == 1]


def _left(rows: Sequence[Plain], least: float) -> str:
    text = next(row["uniques_without"]["text"] for row in rows if row["uniques_without"]["value"] == least)
    return "none" if text == "0" else str(text)


def _learnt(beyond: Sequence[Plain]) -> Iterator[str]:
    """What to do where a group gives a value away, or the release gives values back."""
    variables = listed(list(dict.fromkeys(one["variable"] for one in beyond if one["variable"])))
    if variables:
        yield f"Form larger groups, or make {variables} coarser or leave it out, where a group gives it away."
    if any(one["name"] == "recoverable" for one in beyond):
        yield "Take out, or change in the same way, the columns from which changed values can be worked out."
    if any(one["name"] == "joint_recoverable" for one in beyond):
        yield "Round the published tables, leave some out, or hide values of records alike (joint_audit)."


def remaining_questions(plain: Plain) -> list[str]:
    """What the verdict does not answer."""
    scenario, release = plain["scenario"], "released" in plain
    found = []
    opened = sum(one["holds"]["value"] is None for one in plain["verdicts"])
    if opened:
        found.append(f"{counted(opened, 'limit')} could not be judged: see the answer.")
    if scenario["unconfirmed"]:
        found.append(f"Guessed from the file and not confirmed: {listed(scenario['unconfirmed'])}.")
    if not scenario["weight"] and not scenario["sampling_fraction"]:
        found.append(
            "The file is taken for the whole population: who is alone in it is taken to be alone everywhere."
        )
    if release and plain["attacks"] is None:
        found.append("Nobody has tried to attack the release yet.")
    warnings = len(plain["warnings"])
    if warnings:
        found.append(
            f"The annex has {'a warning' if warnings == 1 else f'{warnings} warnings'} on how this was measured."
        )
    who = listed([f"“{one['name']}”" for one in plain["intruders"]])
    found.append(f"Somebody may know more than {who}: only what is named here was looked at.")
    return found
