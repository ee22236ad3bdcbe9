"""The verdicts in words that need no statistics: what each limit asks, and what was found, from printed texts only."""

from __future__ import annotations

from collections.abc import Sequence

from sdckit.report.chapters.sentences import UNDONE, listed, some_records, status
from sdckit.report.view import Plain

# The European working party's questions (Article 29 Working Party, Opinion 05/2014), and what is tried out.
QUESTIONS = {
    "singled": "Can somebody be singled out?",
    "linked": "Can records be linked to somebody?",
    "learnt": "Can something be learnt about somebody?",
    "tried": "Do trial attacks succeed?",
}
QUESTION_OF = {
    "k": "singled", "k_undone": "singled", "household_uniques": "singled",
    "risk": "linked", "household_risk": "linked", "global_risk": "linked",
    "risk_undone": "linked", "match_risk": "linked", "replicated_uniques": "linked", "l": "learnt",
    "correctly_disclosed": "learnt", "recoverable": "learnt", "joint_recoverable": "learnt", "differencing": "learnt",
    "residual_risk": "tried",
}  # fmt: skip
ASKED = {
    "k": "How many records share what is known", "risk": "The chance of being recognised",
    "household_risk": "The chance of being recognised through the household",
    "household_uniques": "How many households are like no other",
    "global_risk": "The average chance of being recognised", "l": "How many values a group holds",
    "match_risk": "How many records can be matched back", "replicated_uniques": "How many stay alone in the release",
    "correctly_disclosed": "How much could be told rightly", "residual_risk": "How far trial attacks succeed",
    "recoverable": "How many changed values can be worked out",
    "differencing": "How much is given away together with earlier releases",
    "joint_recoverable": "How many hidden values can be worked out with published tables",
    "k_undone": "How many records share what is known, with what the release gives back",
    "risk_undone": "The chance of being recognised, with what the release gives back",
}  # fmt: skip
SHARES = {
    "match_risk": "Records expected to be matched back to the person",
    "replicated_uniques": "Records alone with what is known, before and after",
    "household_uniques": "Households of which no other has as many members of the same kind",
    "correctly_disclosed": "Records of which the release tells {variable} rightly",
    "recoverable": "Changed values of a column that can be worked out from the release, at most",
    "differencing": "Records of which something is given away together with earlier releases",
    "joint_recoverable": "Hidden values of a column that can be worked out with published tables, at most",
}
NO_LIMIT = "no limit"
RANK = {False: 0, None: 1, True: 2}


def chance(limit: float) -> str:
    """A probability as one in so many, or in per cent.

    Examples
    --------
    >>> chance(0.05), chance(0.09), chance(1.0)
    ('1 in 20', '9 %', '100 %')
    """
    times = 1 / limit if limit else 0
    return (
        f"1 in {round(times):,}" if times >= 2 and abs(times - round(times)) < 1e-9 else f"{100 * limit:g} %"
    )


def answers(plain: Plain) -> list[tuple[str, str, str]]:
    """Each question with its state and what was found: what is exceeded first, equal sentences once.

    A question without a limit says so; whether trial attacks succeed is asked only where a limit was set on it.
    """
    found = []
    for name, question in QUESTIONS.items():
        verdicts = [one for one in plain["verdicts"] if QUESTION_OF.get(one["name"]) == name]
        if verdicts:
            holds = min((one["holds"]["value"] for one in verdicts), key=lambda one: RANK[one])
            found.append((status(holds), question, " ".join(_sentences(verdicts, plain))))
        elif name != "tried":
            found.append((NO_LIMIT, question, "Nothing was asked for here."))
    return found


def _sentences(verdicts: Sequence[Plain], plain: Plain) -> list[str]:
    """What was found, once for all who find the same."""
    several = len(plain["intruders"]) > 1
    who: dict[str, list[str]] = {}
    for one in sorted(verdicts, key=lambda one: RANK[one["holds"]["value"]]):
        who.setdefault(plain_verdict(one, plain["n"]), []).append(one["intruder"])
    return [
        f"{listed([f'“{name}”' for name in dict.fromkeys(names)])}: {words[0].lower() + words[1:]}"
        if several
        else words
        for words, names in who.items()
    ]


def plain_verdict(one: Plain, n: Plain) -> str:
    """Say whether a limit holds, to a reader who knows no statistics."""
    name, limit, holds = one["name"], one["limit"], one["holds"]["value"]
    if holds is None:
        reason = one["holds"].get("reason") or one["reason"] or "it was not measured"
        return f"{ASKED[name]} could not be judged: {reason.rstrip('.')}."
    some = some_records(one, n)
    others = "1 other" if limit == 2 else f"{limit - 1:,g} others"
    values = f"{limit:,g} values of {one['variable']}"
    told = {
        "k": (
            f"every record shares what is known with at least {others}",
            f"{some} share what is known with fewer than {others}",
        ),
        "l": (
            f"every group with the same known details holds at least {values}",
            f"{some} are in groups with fewer than {values}, which tells it to whoever finds the group",
        ),
        "risk": _chances("", some, limit),
        "household_risk": _chances(" through the household", some, limit),
    }  # fmt: skip
    if name in told:
        words = told[name][0] if holds else f"{told[name][1]}; none may"
        return f"{words[0].upper()}{words[1:]}."
    if name == "residual_risk":
        who = "No trial attack succeeds" if holds else "A trial attack succeeds"
        return f"{who} on people in the file more often than on others, by more than {100 * limit:g} in 100."
    value = one["value"]["text"] if one["value"] else "withheld"
    if name in UNDONE:
        who, share = ("no record", "shares") if holds else (f"{value} of the records", "share")
        what = (
            f"{share} what is known with fewer than {others}"
            if name == "k_undone"
            else f"would be recognised with a chance above {chance(limit)}"
        )
        return f"With what can be worked out from the release, {who} {what}."
    side = "within" if holds else "above"
    if name in SHARES:
        return f"{SHARES[name].format(variable=one['variable'])}: {value}, {side} the limit of {100 * limit:g} %."
    return f"On average the chance of being recognised is {value}, {side} the limit of {limit:g}."


def _chances(through: str, some: str, limit: float) -> tuple[str, str]:
    beyond = f"would be recognised{through} with a chance above {chance(limit)}"
    return f"no record {beyond}", f"{some} {beyond}"
