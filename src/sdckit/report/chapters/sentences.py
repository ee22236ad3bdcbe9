"""Sentences on verdicts and answers, built from printed texts only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sdckit.data.limits import LIMITS, ShareAtPoints, limit_percent
from sdckit.data.scenarios import thresholds
from sdckit.data.scenarios.column_roles import TELLS_MORE
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import capital, counted
from sdckit.report.gate.figures import Tree
from sdckit.report.rates import in_words, percent
from sdckit.report.view import Plain, views_of

WHO = "Who can be recognised, and what would be learnt"
NOT_YET = "what the file gives back has not been looked for yet"
RESTING = (
    "Most records hold k only because others lost values, which may have been any: they keep theirs, and are found as "
    "before by who takes the record that agrees. Make keys coarser or leave one out, as sdckit propose does, which "
    'searches for it: missing = "category" in the scenario counts no such match.'
)


def listed(words: Sequence[str], last: str = "and") -> str:
    """Join words as in a sentence.

    Examples
    --------
    >>> listed(["sex", "age", "region"])
    'sex, age and region'
    """
    return "".join(words) if len(words) < 2 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def intruder_heading(name: str, *, several: bool, alone: str = WHO) -> str:
    """Heading of what is about an intruder: by name where there are several."""
    return f"Intruder “{name}”" if several else alone


def of_intruder(name: str, sentence: str, *, several: bool) -> str:
    """A sentence about an intruder, after the name where there are several.

    >>> of_intruder("neighbour", "3 of 9.", several=True), of_intruder("neighbour", "3 of 9.", several=False)
    ('Intruder “neighbour”: 3 of 9.', '3 of 9.')
    """
    return f"{intruder_heading(name, several=several)}: {sentence}" if several else sentence


def labelled(plain: Plain, names: Sequence[str]) -> list[str]:
    """Columns, each with its label where the document has one.

    Examples
    --------
    >>> labelled({"labels": {"educ": "years of schooling"}}, ["sex", "educ"])
    ['sex', 'educ (years of schooling)']
    """
    labels = plain.get("labels", {})
    return [f"{name} ({labels[name]})" if name in labels else name for name in names]


EARLIER = "earlier releases"


def spaced(words: str) -> str:
    """Words that may be none, as they stand in a sentence."""
    return words and f" {words}"


def status(holds: bool | None) -> str:
    """One word for a verdict, the same in every document and table."""
    return {True: "holds", False: "exceeded", None: "not judged"}[holds]


OF_IDENTIFIER = "a direct identifier is in the file"
OF_MORE_THAN_RECORDS = "the file holds more than its records"
OF_NO_ROLE = "columns go out of which nobody said what they are"


def declared_limits(verdicts: Sequence[Plain]) -> tuple[list[Plain], str]:
    """The verdicts on declared limits, as every text counts them; and what else speaks against a release, in words.

    Roles, and what a file holds beside its records, are judged without a limit.
    """
    limits = [verdict for verdict in verdicts if verdict["limit"] is not None]
    once = {LIMITS[verdict["name"]].judged: verdict["holds"]["value"] for verdict in verdicts if verdict not in limits}
    if False in once.values():
        return limits, OF_IDENTIFIER
    if once.get("roles", True) is None:
        told = any(
            (verdict["reason"] or "").startswith(TELLS_MORE) for verdict in verdicts if verdict["name"] == "roles"
        )
        return limits, TELLS_MORE if told else OF_NO_ROLE
    if None in once.values():
        return limits, OF_MORE_THAN_RECORDS
    return limits, ""


def headline(plain: Plain) -> str:
    """Say in a sentence whether the file is within every declared limit."""
    verdicts = plain["verdicts"]
    limits, against = declared_limits(verdicts)
    if not (limits or against):
        if plain.get("left_to_office"):
            return "Every declared limit needs the original or earlier releases: none is judged here."
        return "No limit was declared: the figures below describe the risk, they give no verdict."
    exceeded = sum(verdict["holds"]["value"] is False for verdict in limits)
    untested = sum(verdict["holds"]["value"] is None for verdict in limits)
    rests = _resting_sentence(verdicts)
    if against == OF_IDENTIFIER and not exceeded:
        return f"Not to be given out: {against}.{rests}"
    if exceeded:
        which = "The only limit" if len(limits) == 1 else f"{exceeded} of {len(limits)} limits"
        verb = "is" if exceeded == 1 else "are"
        return f"Not within the declared limits: {which} {verb} exceeded.{rests}"
    if untested:
        verb = "limit" if untested == 1 else "limits"
        still = sum(verdict["reason"] == NOT_YET for verdict in limits)
        state = ("is" if untested == 1 else "are") + " not judged yet" if still == untested else "could not be judged"
        return f"Undecided: {untested} declared {verb} {state}, and no other is exceeded.{rests}"
    if against:
        which = "every limit that is judged here" if plain.get("left_to_office") else "every declared limit"
        rest = f"{which} holds" if limits else "no limit was declared"
        return f"Undecided: {against}; {rest}.{rests}"
    if plain.get("left_to_office"):
        return f"Within every limit that is judged here; others need the original or earlier releases.{rests}"
    return f"Within every declared limit.{rests}"


SINGLE_ROWS = "this is said of single rows, and not of people who are followed through their rows"
N_ROWS_OPEN = (
    "How many rows each person has, and what all of them tell together, is not judged: who has more rows than all "
    "others, or values over time like nobody else, is found by that alone."
)


# What a verdict covers, by its field.
COVERS = {
    "single_rows": SINGLE_ROWS,
    "alone": "the original was not there: every missing value and every range counts as changed",
    "unmatched": "nothing says which records belong together: what looks changed counts as changed",
    "singly": "whether several columns together, or numbers that lie near, link an earlier release to this one was not "
    "looked at (--earlier FILE does, where it has the same codes)",
}


def rows_sentence(verdict: Plain) -> str:
    """Sentence on a verdict that looked at single rows of people who have several; else ""."""
    return f" {capital(SINGLE_ROWS)}." if verdict.get("single_rows") else ""


def verdict_sentence(verdict: Plain, n: Plain) -> str:
    """Say in plain words whether a limit holds, and where it comes from if a type of release is named."""
    further = (*(words for name, words in COVERS.items() if verdict.get(name)), verdict.get("origin", ""))
    return " ".join([_verdict_words(verdict, n), *(f"{capital(words)}." for words in further if words)])


def _verdict_words(verdict: Plain, n: Plain) -> str:
    limit, holds = verdict["limit"], verdict["holds"]["value"]
    if holds is None:
        reason = verdict["holds"].get("reason") or verdict["reason"] or "the measure did not run"
        state = "is not judged yet" if reason == NOT_YET else "could not be judged"
        return f"{limit_of(verdict)} {state}: {reason.rstrip('.')}."
    if keyless := verdict.get("keyless"):
        return f"{limit_of(verdict)} holds: {keyless}."
    printed = LIMITS[verdict["name"]].printed
    if isinstance(printed, str):  # what its value is a share of
        printed = (f"{printed}, not above {{limit_percent}}", f"{printed}, above {{limit_percent}}")
    sentence = (printed[0] if holds else printed[1]).format(
        limit=limit, limit_percent=limit_percent(limit or 0.0), some=some_records(verdict, n),
        variable=verdict["variable"] or "the sensitive variable",
        value=percent(verdict["value"]) if verdict["value"] else "withheld", reason=capital(verdict["reason"]),
        columns=spaced(verdict.get("columns", "")), beside=verdict.get("beside") or EARLIER,
        points=verdict.get("points"),
    )  # fmt: skip
    return in_words(f"{sentence}{_rule_words(verdict)}.")


NO_RELEASE = "no earlier release (by the scenario none went out)"


def beside_words(n: int, pending: int) -> str:
    """The earlier releases that a file was held against.

    Examples
    --------
    >>> beside_words(1, 0), beside_words(3, 1)
    ('1 earlier release', '3 earlier releases, 1 of them pending')
    """
    if not n:
        return NO_RELEASE
    return counted(n, "earlier release") + (f", {pending:,} of them pending" if pending else "")


def columns_words(n: int, n_every: int, n_going_out: int | None) -> str:
    """With how many columns attacks were made: those declared, and a second time `n_every` of those that go out.

    Examples
    --------
    >>> columns_words(4, 11, 11), columns_words(4, 0, 4), columns_words(4, 0, None)
    ('with 4 and with 11 of 11 columns that go out', 'with 4 of 4 columns that go out', 'with 4 columns')
    """
    if n_going_out is None:
        return f"with {counted(n, 'column')}"
    first = f"{n:,} and with {n_every:,}" if n_every else f"{n:,}"
    return f"with {first} of {counted(n_going_out, 'column')} that {'goes' if n_going_out == 1 else 'go'} out"


def both_rules(resting: str, category: str, limit: float, *, holds: bool) -> str:
    """How a verdict on k depends on missing values as wildcards, and the violations with missing as a category.

    >>> both_rules("0", "1", 3, holds=True)
    ' when a missing value may be any value; with a missing value as a category, 1 record is in a group of fewer than 3'
    """
    number = "a number, withheld," if resting == "withheld" else resting
    words = f"{number} only through" if holds else f"{number} more would be, but for"
    through = "" if resting == "0" else f" ({words} other records' missing values)"
    counted = "no record is in a group" if category == "0" else f"{_records(category)} in groups"
    if category == "1":
        counted = "1 record is in a group"
    return (
        f" when a missing value may be any value{through}; with a missing value as a category, {counted} of fewer "
        f"than {limit:,g}"
    )


def _records(count: str) -> str:
    """A printed number of records, with its verb."""
    if count == "withheld":
        return "a number of records (withheld) are"
    return "1 record is" if count == "1" else f"{count} records are"


def _rule_words(verdict: Plain) -> str:
    category, resting = verdict.get("n_category"), verdict.get("n_resting")
    if not (category and resting):
        return ""
    return both_rules(resting["text"], category["text"], verdict["limit"], holds=verdict["holds"]["value"])


def _resting_sentence(verdicts: Sequence[Plain]) -> str:
    """How many records reach k only through wildcards in other records, for the intruder with most of them."""
    resting = [verdict for verdict in verdicts if (verdict.get("n_resting") or {"text": "0"})["text"] != "0"]
    if not resting:
        return ""
    most = max(resting, key=lambda verdict: verdict["n_resting"]["value"] or verdict["n_resting"].get("below") or 0)
    return (
        f" {_records(most['n_resting']['text'])} in groups of {most['limit']:,g} or more only through other records' "
        "missing values."
    ).replace(" a number", " A number")


def limit_name(name: str, points: int | None = None) -> str:
    """Name of a limit in words; of one on known points with how many."""
    kind = LIMITS.get(name)
    words = kind.words if kind is not None and kind.words else name.replace("_", " ")
    return words.format(points="a few" if points is None else points)


def limit_of(verdict: Plain) -> str:
    """The limit that a verdict is on, of what variable, and its value."""
    of = f" of {verdict['variable']}" if verdict["variable"] else ""
    name = LIMITS[verdict["name"]].title or capital(limit_name(verdict["name"], verdict.get("points")))
    shown = "" if verdict["limit"] is None else f" (limit {LIMITS[verdict['name']].shown(verdict['limit'])})"
    return f"{name}{of}{shown}"


def some_records(verdict: Plain, n: Plain) -> str:
    """The records a limit is exceeded for, of all records, with their share."""
    count = verdict["n_records"]
    if count is None:
        return "Some records"
    rate = f" ({verdict['rate']['text']})" if verdict["rate"]["value"] is not None or "below" in verdict["rate"] else ""
    number = "A number of" if count["text"] == "withheld" else count["text"]
    return f"{number} of {n['text']} records{rate}" if number[0] != "A" else "A number of records (withheld)"


def answer(intruder: Plain, n: Plain) -> str:
    """A paragraph on what an intruder could do, one answer per measure."""
    return " ".join(filter(None, (view.answer(intruder, place, n) for place, view in views_of(intruder))))


# The type of release, and its limits with their origin.


def limits_tree(scenario: Scenario, *, compared: bool, judged: Collection[str] | None = None) -> dict[str, Tree]:
    """The type of release and the limits in force: set by the analyst or an office, not computed from the data.

    `judged` names the limits with a verdict, where there are verdicts: one on a release may be judged of the file by
    itself, or not asked of a release in which nothing was taken out.
    """
    limits = thresholds.limits_in_force(scenario, compared=compared)
    not_asked = thresholds.limits_not_asked(scenario, compared=compared)
    if judged is not None:
        if compared:
            unasked = [name for name in limits if LIMITS[name].alone and name not in judged]
            not_asked |= dict.fromkeys(unasked, thresholds.NOTHING_CHANGED)
        beside = thresholds.limits_in_force(scenario, compared=True)
        limits = {name: limit for name, limit in limits.items() if name not in not_asked}
        limits |= {name: limit for name, limit in beside.items() if name in judged}
    return {
        "release": scenario.release,
        "release_words": thresholds.release_words(scenario.release),
        "limits": {
            name: {"value": cap.value, "origin": cap.origin, "of_type": cap.of_type}
            | ({"points": cap.value.points} if isinstance(cap.value, ShareAtPoints) else {})
            for name, cap in limits.items()
        },
        "not_asked": {name: reason for name, reason in not_asked.items() if name not in limits},
    }


def limits_words(tree: Plain) -> list[str]:
    """Every limit in force, in words.

    Examples
    --------
    >>> limits_words({"limits": {"k": {"value": 5}, "risk": {"value": 0.05}, "match_risk": {"value": 0.05}}})
    ['k 5', 'individual risk 0.05', 'match risk 5 %']
    """
    limits = ((name, limit.get("points"), limit["value"]) for name, limit in tree["limits"].items())
    return [f"{limit_name(name, points)} {LIMITS[name].shown(value)}" for name, points, value in limits]


def release_sentence(tree: Plain) -> str:
    """State the type of release, its limits, those of the scenario, and limits not asked; "" without a type."""
    if tree["release"] is None:
        return ""
    by_origin: dict[str, list[str]] = {"release type": [], "office": [], "scenario": []}
    for (name, limit), words in zip(tree["limits"].items(), limits_words(tree), strict=True):
        by_origin[limit["origin"]].append(words + _type_limit_words(name, limit, tree["release"]))
    sentences = [f"Type of release: {tree['release_words']}."]
    heads = {"release type": "Its limits", "office": "The office’s limits", "scenario": "The scenario’s own limits"}
    sentences += [f"{heads[origin]}: {', '.join(phrases)}." for origin, phrases in by_origin.items() if phrases]
    if not by_origin["release type"] and not by_origin["office"]:
        sentences.append("No limit comes from the type.")
    return " ".join([*sentences, *_not_asked(tree["not_asked"])])


def _type_limit_words(name: str, limit: Plain, release: str) -> str:
    """The limit of the type of release, in brackets, where the scenario overrides it."""
    if limit["origin"] != "scenario" or limit["of_type"] is None:
        return ""
    return f" ({thresholds.a_release(release)}: {LIMITS[name].shown(limit['of_type'])})"


def _not_asked(reasons: Mapping[str, str]) -> list[str]:
    if not reasons:
        return []
    return [f"Not asked: {'; '.join(f'{limit_name(name)}, {why}' for name, why in reasons.items())}."]
