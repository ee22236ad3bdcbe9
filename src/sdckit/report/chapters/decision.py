"""The decision page, for readers without statistics: question, findings, next steps, conditions, signature."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from sdckit.data.limits import CONDITIONS, LIMITS, limit_percent
from sdckit.data.scenarios import column_roles, thresholds
from sdckit.display import capital, counted
from sdckit.report.blocks import Blanks, Block, Facts, Items, Paragraph, Section, Verdicts
from sdckit.report.chapters import attacks_chapter, coverage_chapter, document, sentences as worded, utility_chapter
from sdckit.report.common_blocks import bars, drawn_size, of_whole
from sdckit.report.gate.rounding import format_number
from sdckit.report.rates import in_words, percent
from sdckit.report.view import Plain, views_of
from sdckit.report.views.joint_audit import tables_command, tables_open

# Verdicts in lay terms, built from printed texts only.


# The European working party's questions (Article 29 Working Party, Opinion 05/2014), and what is tried out.
QUESTIONS = {
    "singled": "Can somebody be singled out?",
    "linked": "Can records be linked to somebody?",
    "learnt": "Can something be learnt about somebody?",
    "tried": "Do trial attacks succeed?",
    "covered": "Was every column looked at?",
    "used": "Can it still be worked with?",
}
NO_LIMIT = "no limit"
BESIDE = {
    "alone": " The original was not there.",
    "unmatched": " Nothing says which records belong together.",
    "singly": " Several columns together, and numbers that lie near, were not tried as a link.",
}
NOTHING_BEFORE = " By the scenario no earlier release went out, so there was nothing to compare with."
RANK = {False: 0, None: 1, True: 2}


def chance(limit: float) -> str:
    """Format a probability as "1 in n" if n is a whole number of at least 2, else in per cent.

    Examples
    --------
    >>> chance(0.05), chance(0.09), chance(1.0)
    ('1 in 20', '9 %', '100 %')
    """
    times = 1 / limit if limit else 0
    return f"1 in {round(times):,}" if times >= 2 and abs(times - round(times)) < 1e-9 else limit_percent(limit)


def answers(plain: Plain) -> list[tuple[str, str, str]]:
    """Rows (state, question, findings) of the decision page; exceeded limits first, equal sentences merged.

    A question without a limit says so; those on columns and on use appear only if they were asked, and the one on
    trial attacks says of every release what came of them.
    """
    rows = []
    for name, question in QUESTIONS.items():
        verdicts = [verdict for verdict in plain["verdicts"] if LIMITS[verdict["name"]].question == name]
        tried = attacks_chapter.tried_words(plain["attacks"]) if name == "tried" and "released" in plain else ""
        if verdicts:
            holds = min((verdict["holds"]["value"] for verdict in verdicts), key=lambda state: RANK[state])
            rows.append((worded.status(holds), question, " ".join(filter(None, [*_sentences(verdicts, plain), tried]))))
        elif tried or name not in ("tried", "covered", "used", *plain.get("left_to_office", {}).values()):
            rows.append((NO_LIMIT, question, tried or "Nothing was asked for here."))
    return rows


def _sentences(verdicts: Sequence[Plain], plain: Plain) -> list[str]:
    """Sentences on the verdicts, exceeded limits first; one for each limit: the worst of it, the others beside it."""
    alike: dict[tuple[object, ...], list[Plain]] = {}
    for verdict in sorted(verdicts, key=lambda verdict: (RANK[verdict["holds"]["value"]], -_size(verdict))):
        state = verdict["holds"]["value"]
        by_text = state is None or verdict.get("keyless")
        same = (verdict["name"], state) if not by_text else (plain_verdict(verdict, plain["n"]),)
        alike.setdefault(same, []).append(verdict)
    return [_sentence(some, plain) for some in alike.values()]


def _sentence(verdicts: Sequence[Plain], plain: Plain) -> str:
    """What is said of the first verdict, whom it is said of, too, and figures of others of the same limit and state."""
    several, n = len(plain["intruders"]) > 1, plain["n"]
    words = plain_verdict(verdicts[0], n)
    same = [verdict for verdict in verdicts if plain_verdict(verdict, n) == words]
    others = [_likewise(verdict, several=several) for verdict in verdicts if verdict not in same]
    names = [f"“{name}”" for name in dict.fromkeys(verdict["intruder"] for verdict in same) if name]
    if several and 0 < len(names) < len(plain["intruders"]):
        words = f"{worded.listed(names)}: {words[0].lower()}{words[1:]}"
    return " ".join([words, *([f"Likewise {worded.listed(others)}."] if others else [])])


def _likewise(verdict: Plain, *, several: bool) -> str:
    """Of whom and what a verdict is, with its share, and of what that is one, where it has it."""
    who = f"“{verdict['intruder']}”" if several else ""
    what = " of ".join(filter(None, [verdict["variable"] if LIMITS[verdict["name"]].per_variable else "", who]))
    share = next((leaf for leaf in (verdict["rate"], verdict["value"]) if leaf and leaf["text"]), None)
    if not share:
        return what
    whole = "of the records" if share is verdict["rate"] else _whole_of(LIMITS[verdict["name"]].exceeded)
    figure = percent(share)
    return f"{what}: {figure} {whole}" if whole and figure != "withheld" else f"{what} ({figure})"


def _whole_of(exceeded: str) -> str:
    """Of what the figure of a limit is a share, as its verdict says; "" where it is none.

    >>> _whole_of("{percent} of the households are alone"), _whole_of("the expected share is {percent}")
    ('of the households', '')
    """
    whole = re.search(r"\{percent\} (of the (?:changed values|hidden values|\w+))", exceeded)
    return whole[1] if whole else ""


def _size(verdict: Plain) -> float:
    """How far a limit is exceeded, as far as it is printed."""
    return max((verdict[figure] or {}).get("value") or 0.0 for figure in ("n_records", "value"))


def plain_verdict(verdict: Plain, n: Plain) -> str:
    """Say in lay terms whether a limit holds."""
    kind, limit, holds = LIMITS[verdict["name"]], verdict["limit"] or 0, verdict["holds"]["value"]
    if holds is None:
        reason = verdict["holds"].get("reason") or verdict["reason"] or "it was not measured"
        return f"{kind.asked} could not be judged: {reason.rstrip('.')}."
    if keyless := verdict.get("keyless"):
        return f"{capital(keyless)}."
    plain = kind.plain
    if isinstance(plain, str):  # what its value is a share of
        plain = (
            f"{plain}: {{value}}, within the limit of {{limit_percent}}",
            f"{plain}: {{value}}, above the limit of {{limit_percent}}",
        )
    sentence = (plain[0] if holds else plain[1]).format(
        limit=limit, some=worded.some_records(verdict, n), variable=verdict["variable"],
        others="1 other" if limit == 2 else f"{limit - 1:,g} others",
        values=f"{limit:,g} values of {verdict['variable']}", chance=chance(limit),
        limit_percent=limit_percent(limit), percent=limit_percent(limit).removesuffix(" %"),
        value=percent(verdict["value"]) if verdict["value"] else "withheld", reason=verdict["reason"],
        points=verdict.get("points"), columns=worded.spaced(verdict.get("columns", "")),
    )  # fmt: skip
    beside = "".join(words for name, words in BESIDE.items() if verdict.get(name))
    beside += NOTHING_BEFORE if verdict.get("beside") == worded.NO_RELEASE else ""
    return in_words(f"{capital(sentence)}.{beside}{worded.rows_sentence(verdict)}")


# Next steps, the most useful first, from the verdicts and the printed contributions of the keys.


CONTRIBUTIONS = "key_contributions"
READY = (
    "Check once more that the file that leaves is the one assessed here.",
    "Give out that file, and with it documents of it alone; the original, the log and all keys stay inside.",
    "Set a date for the next review: what others know, and what else is published, changes.",
)
TAKE_OUT = "Take out single values of records that share what is known with too few."
COARSER = "Make what is known coarser, or leave some of it out."
REMEDIES = 3
MAKE_IT = "Make the file that is to go out, and assess it beside this one: limits compare the two."
BESIDE_IT = "If this file was made of another, assess it beside that one first: what it gives back counts, too."
CLEAR_UP = "Clear up what could not be judged: the answer says what each question lacks. Then assess again."
AGAIN = "Apply this to the file and assess it again beside the original."


def next_steps(plain: Plain) -> list[str]:
    """Recommended steps, ranked; if every limit holds, what to observe when the file is released."""
    verdicts = plain["verdicts"]
    if not verdicts:
        return ["Decide how much risk is acceptable: set limits, or name the type of release, and assess again."]
    beyond = [verdict for verdict in verdicts if verdict["holds"]["value"] is False]
    if not beyond:
        opened = [verdict for verdict in verdicts if verdict["holds"]["value"] is None]
        comparing = [verdict for verdict in opened if LIMITS[verdict["name"]].scope == "release"]
        before = [MAKE_IT] if comparing and "released" not in plain else []
        rest = [CLEAR_UP] if len(opened) > len(comparing) or not before else []
        made = [BESIDE_IT] if "released" not in plain and _with_what_is_given_back(verdicts) else []
        return [*before, *rest] if opened else [*made, *READY]
    return [*_ranked(plain, beyond), AGAIN]


def steps_by_limit(plain: Plain) -> tuple[list[tuple[str, tuple[str, ...]]], int]:
    """The steps against exceeded limits, in their order, with the limits that each is for; at most three of a limit.

    The number is that of the steps that are left out.
    """
    ranked = _ranked(plain, [verdict for verdict in plain["verdicts"] if verdict["holds"]["value"] is False])
    remedies: Counter[int] = Counter()
    steps = []
    for step, verdicts in ranked.items():
        few = [verdict for verdict in verdicts if remedies[id(verdict)] < REMEDIES]
        remedies.update(map(id, few))
        if few:
            steps.append((step, tuple(dict.fromkeys(verdict["name"] for verdict in few))))
    return steps, len(ranked) - len(steps)


def _ranked(plain: Plain, beyond: Sequence[Plain]) -> dict[str, list[Plain]]:
    """The steps against exceeded limits, the most useful first, each with the verdicts that it is for."""
    several = len(plain["intruders"]) > 1
    coarser = [verdict for verdict in beyond if LIMITS[verdict["name"]].coarser]
    worked_out = [verdict for verdict in beyond if LIMITS[verdict["name"]].measure == document.RECOVERY]
    coarsening = []
    for file in _files(plain):
        if own := [verdict for verdict in coarser if verdict["intruder"] == file["name"]]:
            coarsening += [(step, own) for step in _coarsening_steps(file, several=several)]
    # Which column gives values back comes first: what else is coarser helps little while that goes out.
    steps = [(step, worked_out) for step in _against_working_out(plain)] if worked_out else []
    steps += coarsening or [(COARSER, coarser)]  # people followed through their rows have no ranking of keys
    disclosed = [verdict for verdict in beyond if LIMITS[verdict["name"]].per_variable and verdict["variable"]]
    variables = worded.listed(list(dict.fromkeys(verdict["variable"] for verdict in disclosed)))
    steps.append((f"Form larger groups, or make coarser or leave out what a group discloses: {variables}.", disclosed))
    for kind in sorted(LIMITS.values(), key=lambda kind: kind.question != "learnt"):
        steps.append((kind.advice, [verdict for verdict in beyond if kind.advice and verdict["name"] == kind.name]))
    # Values taken out of single rows help nobody who is known by several, and nobody where they can be worked out.
    if not worked_out and not plain["scenario"]["person"]:
        steps.append((TAKE_OUT, [verdict for verdict in coarser if not LIMITS[verdict["name"]].advice]))
    ranked: dict[str, list[Plain]] = {}
    for step, verdicts in steps:
        if verdicts:
            ranked.setdefault(step, []).extend(verdicts)
    return ranked


def _against_working_out(plain: Plain) -> list[str]:
    """The leading remedies against the rules by which values are given back, as the annex lists them."""
    trees = filter(None, (intruder.get("measures", intruder).get(document.RECOVERY) for intruder in plain["intruders"]))
    return list(dict.fromkeys(f"{capital(words)}." for tree in trees for words in tree["advice"]))[:REMEDIES]


def _files(plain: Plain) -> Sequence[Plain]:
    """Measures of each intruder; for a release, those of its first file."""
    intruders: Sequence[Plain] = (plain["released"][0] if "released" in plain else plain)["intruders"]
    return intruders


def _coarsening_steps(intruder: Plain, *, several: bool) -> Iterator[str]:
    """Which key to recode or remove first, and how many sample uniques remain; a sentence each, in one step."""
    tree = intruder.get(CONTRIBUTIONS)
    if not tree or not tree["uniques"]["value"]:
        return
    alone = tree["uniques"]
    whom = f" with what “{intruder['name']}” knows" if several else ""
    steps: list[str] = []
    for rows in (tree["coarsenings"], singles := [row for row in tree["table"] if len(row["variables"]) == 1]):
        shown = [row for row in rows if row["uniques_without"]["value"] is not None]
        least = min((row["uniques_without"]["value"] for row in shown), default=alone["value"])
        if least >= alone["value"]:
            continue
        best = worded.listed([row["variables"][0] for row in shown if row["uniques_without"]["value"] == least], "or")
        left = next(row["uniques_without"]["text"] for row in shown if row["uniques_without"]["value"] == least)
        start = f"Leave out {best}" if rows is singles else f"Make {best} coarser"
        if steps:
            steps.append(f"Or leave out {best}: then {'none' if left == '0' else left} would.")
        elif left == "0":
            steps.append(f"{start}: then no record would be alone{whom}.")
        else:
            steps.append(f"{start}: of the {alone['text']} records that are alone{whom}, {left} would stay alone.")
    if steps:
        yield " ".join(steps)


def remaining_questions(plain: Plain) -> list[str]:
    """Questions that the verdicts leave open."""
    scenario = plain["scenario"]
    points = []
    if opened := sum(verdict["holds"]["value"] is None for verdict in plain["verdicts"]):
        points.append(f"{counted(opened, 'question')} could not be judged: see the answer.")
    if plain["column_roles"] and plain["column_roles"]["line"]:
        points.append(plain["column_roles"]["line"])
    if scenario["unconfirmed"]:
        points.append(f"Guessed from the file and not confirmed: {worded.listed(scenario['unconfirmed'])}.")
    if not scenario["weight"] and not scenario["sampling_fraction"]:
        points.append("The file is taken for the whole population: who is alone in it is taken to be alone everywhere.")
    if people := (plain["stands_for"] or {}).get("value"):
        points.append(of_population(people))
    points += [*households_alone(plain), *_found_without_a_limit(plain), *_models_left_out(plain)]
    points += [worded.N_ROWS_OPEN] * any(verdict.get("single_rows") for verdict in plain["verdicts"])
    if "left_to_office" not in plain:
        named = ("RELEASE", "FILE") if "released" in plain else ("FILE", "")
        judged = [verdict["name"] for verdict in plain["verdicts"]]
        audits = filter(None, (own.get("measures", {}).get("joint_audit") for own in plain["intruders"]))
        cells = any("cells" in release for tree in audits for release in tree["releases"])
        words = tables_open(scenario["tables"], judged, cells=cells)
        points += [f"{words} {tables_command(scenario['tables'], *named, 'SCENARIO.toml')}"] if words else []
    if warnings := len(plain["warnings"]):
        points.append(
            f"The annex has {'a warning' if warnings == 1 else f'{warnings} warnings'} on how this was measured."
        )
    if "released" in plain:  # its figures of the original tell what the release does not
        points.append(TOGETHER)
    points.append("Somebody may know more than is named here: only that was looked at.")
    return points


def of_population(people: float) -> str:
    """The population that the risk of a sample supposes, in words, by which a wrong scale of the weights is seen.

    >>> of_population(2_414_000.7)
    'The file is taken for a sample of a population of about 2,400,000: were that smaller, the risk would be higher.'
    """
    return (
        f"The file is taken for a sample of a population of about {format_number(people, 2)}: were that smaller, the "
        "risk would be higher."
    )


def households_alone(plain: Plain) -> list[str]:
    """How many households are alone with their composition, in the file that goes out."""
    trees = [(own["name"], own["household_structure"]) for own in _files(plain) if own.get("household_structure")]
    alone = [(name, of_whole(tree["unique_compositions"], tree["unique_composition_rate"])) for name, tree in trees]
    words = "Households alone with their size and what is known of their members: {}."
    return by_intruder([(name, words.format(text)) for name, text in alone])


def by_intruder(sentences: Sequence[tuple[str, str]]) -> list[str]:
    """What is said of intruders (name, sentence), with the name where it is not the same of all.

    >>> by_intruder([("neighbour", "3 of 9."), ("colleague", "3 of 9.")])
    ['3 of 9.']
    >>> by_intruder([("neighbour", "3 of 9."), ("colleague", "2 of 9.")])
    ['Intruder “neighbour”: 3 of 9.', 'Intruder “colleague”: 2 of 9.']
    """
    same = list(dict.fromkeys(sentence for _, sentence in sentences))
    return same if len(same) < 2 else [worded.of_intruder(*named, several=True) for named in sentences]


def _models_left_out(plain: Plain) -> list[str]:
    """The models that were asked for and not compared, each with its reason."""
    rows = (plain.get("utility") or {}).get("skipped", ())
    models = ((*row["measure"].partition(":")[::2], row["reason"]) for row in rows)
    return [
        f"Model not compared: {formula if len(formula) <= FORMULA else f'{formula[:FORMULA]}…'} ({reason})."
        for name, formula, reason in models
        if name == "compare_models" and formula
    ]


def _found_without_a_limit(plain: Plain) -> list[str]:
    """How many people are found by some of their rows, matched back or like few, where no limit is on it."""
    unlimited = FOUND - {LIMITS[verdict["name"]].measure for verdict in plain["verdicts"]}
    trees = [(intruder["name"], intruder.get("measures", intruder)) for intruder in plain["intruders"]]
    sentences: dict[str, list[tuple[str, str]]] = {}
    for name, tree in trees:
        for place, view in views_of(tree):
            if place in unlimited:
                sentences.setdefault(place, []).append((name, view.answer(tree, place, plain["n"])))
    return [sentence for of_place in sentences.values() for sentence in by_intruder(of_place)]


NEXT = "What to do next"
# What finds people and is told of without a limit, too: their rows followed, and rows matched back.
FOUND = {kind.measure for kind in LIMITS.values() if kind.open}
TOGETHER = "Do not give out both this document and the release: together they may tell values that were taken out."
FORMULA = 60  # letters of a formula in a sentence
DRAWN = (2, 3, 5)
K = next(kind.name for kind in LIMITS.values() if kind.judged == "violations")
BEFORE, RECODED, AFTER = "before", "coarser", "after"
MISSING = {"wildcard": "a missing value may be any value", "category": "a missing value is a value of its own"}
BLANK = "to be agreed: ______"
SIGNED = (
    ("Decision", ("release", "release after changes", "do not release")),
    ("Name, signature", ()), ("Date", ()), ("Valid until", ()), ("Next review", ()),
)  # fmt: skip


OF_THE_OFFICE = {"next", "conditions", "signed"}


def for_users(plain: Plain) -> Plain:
    """A document of a release by itself for those who use it: without the limits that need another file.

    `left_to_office` has the words of these limits, and the question that each belongs to. Limits on the file with what
    the release gives back are among them: they hold for the office, or nobody looked.
    """
    left = [
        verdict for verdict in plain["verdicts"]
        if verdict["holds"]["value"] is None and LIMITS[verdict["name"]].scope in {"release", "ledger"}
    ]  # fmt: skip
    left += _with_what_is_given_back(plain["verdicts"])
    verdicts = [verdict for verdict in plain["verdicts"] if verdict not in left]
    questions = {worded.limit_of(verdict): LIMITS[verdict["name"]].question for verdict in left}
    passed = min((verdict["holds"]["value"] for verdict in verdicts), key=lambda state: RANK[state], default=None)
    roles = plain["column_roles"]
    if roles:  # how to have it judged is for those who can
        roles = {**roles, "line": roles["line"].replace(column_roles.TO_HAVE_IT_JUDGED, "")}
    users = {**plain, "verdicts": verdicts, "passed": passed, "column_roles": roles, "left_to_office": questions}
    return {name: _as_seen_alone(part) for name, part in users.items()}


def _as_seen_alone(part: Any) -> Any:
    """A part of a document without the sentence that nothing was taken out: a key that was left out shows nowhere."""
    if isinstance(part, dict):
        return {name: _as_seen_alone(inner) for name, inner in part.items()}
    if isinstance(part, list | tuple):
        return type(part)(_as_seen_alone(inner) for inner in part)
    return thresholds.NO_RELEASE if part == thresholds.NOTHING_SEEN else part


def _with_what_is_given_back(verdicts: Sequence[Plain]) -> list[Plain]:
    """Verdicts on the limits that are held against a release beside its original once more, and were not."""
    judged = {verdict["name"] for verdict in verdicts}
    return [
        {**verdict, "name": name}
        for verdict, (name, kind) in product(verdicts, LIMITS.items())
        if kind.of == verdict["name"]
        and kind.scope == "release"
        and verdict["limit"] is not None
        and name not in judged
    ]


def decision_sections(plain: Plain) -> list[Section]:
    """Sections of the decision page, from printed figures; the terminal shows the next steps only.

    For users of a release what the office decides, and is to do, is left out.
    """
    sections = [
        Section("The answer", (Verdicts(tuple(answers(plain))),), paper=True, place="answer"),
        Section(NEXT, (Items(tuple(next_steps(plain)), ordered=True),), place="next"),
        Section("What remains open", (Items(tuple(remaining_questions(plain))),), paper=True, place="open"),
        Section("The picture", _picture(plain), paper=True, place="picture"),
        Section("What the file is still good for", _good_for(plain), paper=True, place="good"),
        Section("The question", (Facts(_question(plain)),), paper=True, place="question"),
        Section("Conditions of release", (Facts(_conditions(plain)),), paper=True, place="conditions"),
        Section("Decision", (Blanks(SIGNED),), paper=True, place="signed"),
    ]
    left_out = OF_THE_OFFICE if "left_to_office" in plain else ()
    return [section for section in sections if section.blocks and section.place not in left_out]


def _question(plain: Plain) -> tuple[tuple[str, str], ...]:
    """Rows on the file, its type of release, and the keys of each intruder."""
    released = plain.get("n_released")
    size = f"{plain['n']['text']} records"
    if released:
        size = f"{worded.listed([count['text'] for count in released])} records, made from {size}"
    known = (
        (
            f"“{intruder['name']}” knows" if len(plain["intruders"]) > 1 else "Somebody knows",
            worded.listed(worded.labelled(plain, intruder["keys"])),
        )
        for intruder in plain["intruders"]
    )
    kind = plain["scenario"]["release"]
    asked = "Can it be given out?" if kind is None else f"Can it be given out as {thresholds.a_release(kind)}?"
    seen = (("Looked at", coverage_chapter.coverage_sentence(plain["coverage"])),) if plain.get("coverage") else ()
    called = plain.get("name") or plain["scenario"]["title"]  # not after its document where it has no name
    file = ("The file", f"{called}, {size}" if called else size)
    if "left_to_office" not in plain:
        return (("Asked", asked), file, *known, *seen)
    left = (
        ("Not judged here", f"{limit}: it needs the original or earlier releases") for limit in plain["left_to_office"]
    )
    return (file, *known, *seen, *left)


def _picture(plain: Plain) -> tuple[Block, ...]:
    """Bar chart of records in small equivalence classes: by class size, by intruder, or before and after protection."""
    several, drawn_k = len(plain["intruders"]) > 1, drawn_of(plain)
    if "released" in plain:
        rows = [
            (f"{who}{when}", leaf)
            for number, intruder in enumerate(plain["intruders"][: with_figures(plain)])
            for when, leaf in _before_after(plain, number)
            for who in [f"{intruder['name']}, " if several else ""]
        ]
        caption = f"Records that share what is known with {_others(drawn_k)}, before and after{_rule_words(plain)}"
    elif several:
        drawn = (_records_below(intruder, drawn_k) for intruder in plain["intruders"])
        rows = [(intruder["name"], leaf) for intruder, leaf in zip(plain["intruders"], drawn, strict=True) if leaf]
        caption = f"Records that share what is known with {_others(drawn_k)}{_rule_words(plain)}"
    else:
        pairs = ((_others(k), _records_below(plain["intruders"][0], k)) for k in sorted({*DRAWN, drawn_k}))
        rows = [(words, leaf) for words, leaf in pairs if leaf]
        caption = f"Records that share what is known with few others{_rule_words(plain)}"
    return (bars(caption, "records", rows),) if rows else ()


def drawn_of(plain: Plain) -> int:
    """The size of groups that the pictures of a document are about."""
    return drawn_size(plain["scenario"]["limits"].get(K, {}).get("value"))


def with_figures(plain: Plain) -> int:
    """How many intruders have figures of single files: after them come those whose keys a release left out."""
    return len((plain["original"] if "released" in plain else plain)["intruders"])


def _others(k: int) -> str:
    """With whom records in groups of fewer than k share what is known."""
    return "nobody else" if k == 2 else f"fewer than {k - 1:,} others"


def _rule_words(plain: Plain) -> str:
    """The rules for missing key values that k-anonymity was measured under, in brackets; "" if none is missing."""
    files = [plain["original"], *plain["released"]] if "released" in plain else [plain]
    trees = filter(None, (intruder.get("k_anonymity") for file in files for intruder in file["intruders"]))
    rules = {tree["rule"] for tree in trees}
    words = [MISSING[rule] for rule in MISSING if rule in rules]
    return f" ({'; '.join(words)})" if words else ""


def _before_after(plain: Plain, number: int) -> list[tuple[str, Plain]]:
    """Bars of an intruder: the original as it was collected, as coarse as the release where that differs, after."""
    files = (plain["original"], plain["released"][0])
    base, released = (_records_below(file["intruders"][number], drawn_of(plain)) for file in files)
    collected = plain["collected"].get(plain["intruders"][number]["name"], {}).get("below")
    after = AFTER if len(plain["released"]) == 1 else "after (first release)"
    bars_of = [(BEFORE, collected), (RECODED, base)] if collected else [(BEFORE, base)]
    return [(when, leaf) for when, leaf in [*bars_of, (after, released)] if leaf]


def _records_below(intruder: Plain, k: int) -> Plain | None:
    """Printed number of records in equivalence classes smaller than k; None if k-anonymity was not measured."""
    return intruder["k_anonymity"]["violations"].get(str(k)) if intruder.get("k_anonymity") else None


def _good_for(plain: Plain) -> tuple[Block, ...]:
    """Sentences on information loss: values that changed, and analyses that still agree."""
    alone = any(verdict.get("alone") for verdict in plain["verdicts"])
    if "released" not in plain and not alone:
        return (Paragraph("Only one file was looked at: what was changed in it, if anything, is not measured."),)
    tree = plain.get("utility")
    if tree is None or not tree["table"]:
        return (Paragraph("What the changes do to analyses was not measured."),)
    figures = {row["name"]: row["value"] for row in tree["table"]}
    sentences = _moved_words(plain, figures), _kept_words(figures), utility_chapter.moved_warning(tree["moved"])
    return tuple(Paragraph(words) for words in filter(None, sentences))


def _moved_words(plain: Plain, figures: Plain) -> str:
    coarser = worded.listed(list(dict.fromkeys(row["column"] for row in plain["recoded"])))
    start = f"Coarser than before: {coarser}. " if coarser else ""
    mean, worst = (figures.get(f"{statistic}_total_variation") for statistic in ("mean", "largest"))
    if mean is None or worst is None:
        return start.strip()
    beside = "Beside that, on" if coarser else "On"
    variables = plain["utility"]["variables"]
    most = max((variable["value"] or 0.0 for variable in variables.values()), default=0.0)
    names = worded.listed([name for name, share in variables.items() if most and share["value"] == most])
    where = f", most of them of {names} ({percent(worst)})" if names else ""
    # a distance of distributions: values that were swapped or drawn anew may all differ where it is 0
    moved = "of the records would need another value for a variable to be distributed as in the original"
    return in_words(f"{start}{beside} average {percent(mean)} {moved}{where}.")


def _kept_words(figures: Plain) -> str:
    alike, auc, ratio = (figures.get(name) for name in ("contingency_similarity", "auc", "pmse_ratio"))
    clauses, beside = [], ""
    if alike is not None:
        agree = f"tables of two variables agree with the original to {percent(alike)} (where both are left)"
        far = "how far tables of two variables agree with the original is withheld"
        clauses.append(far if percent(alike) == "withheld" else agree)
    if ratio is not None and ratio["value"] is not None:
        # Where rows do not correspond, a model of many terms tells apart what correct synthesis made, too.
        beside = (
            "The distance by which a model tells released records from original ones (pMSE) is "
            f"{ratio['text']} times what correct synthesis leaves (best: 1)."
        )
    elif auc is not None:
        clauses.append(
            f"a changed record can be told from an original one in {percent(auc)} of the cases (by chance: 50 %)"
        )
    words = worded.listed(clauses)
    return " ".join(filter(None, (in_words(f"{capital(words)}.") if words else "", beside)))


def _conditions(plain: Plain) -> tuple[tuple[str, str], ...]:
    """Rows of the five safes: what the assessment says of each, and what is left to agree on."""
    verdicts, against = worded.declared_limits(plain["verdicts"])
    held = sum(verdict["holds"]["value"] is True for verdict in verdicts)
    limits = "the only limit holds" if held else "the only limit does not hold"
    if len(verdicts) != 1:
        limits = f"{held} of {len(verdicts)} limits hold" if verdicts else "no limit was set"
    if against:
        limits += f" and {against}"
    rest = CONDITIONS.get(plain["scenario"]["release"] or "", (BLANK,) * 4)
    names = ("Safe projects", "Safe people", "Safe settings", "Safe outputs")
    return (("Safe data", limits), *zip(names, rest, strict=True))
