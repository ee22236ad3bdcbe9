"""The limits (thresholds) of a release, one row each: what each reads, how it is worded, and what to do about it.

Scenario, release types, command line, verdicts, documents, proposals and app ask these rows: a new limit is a row
here, its name in the signature of `Thresholds`, its test and its page. Rows are plain data; `judged` names how the
workflow judges them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field


class ShareAtPoints(float):
    """A limit on a share, which is a number, for whoever knows so many points of a person.

    Examples
    --------
    >>> limit = ShareAtPoints(0.05, points=3)
    >>> limit == 0.05, limit.points, limit.entry
    (True, 3, {'points': 3, 'alone': 0.05})
    """

    points: int

    def __new__(cls, alone: float, points: int = 2) -> ShareAtPoints:
        """Make one of a share and a number of points."""
        made = super().__new__(cls, alone)
        made.points = points
        return made

    def __getnewargs__(self) -> tuple[float, int]:  # type: ignore[override]
        return float(self), self.points

    def __eq__(self, other: object) -> bool:
        return float(self) == other and self.points == getattr(other, "points", self.points)

    __hash__ = float.__hash__

    @property
    def entry(self) -> dict[str, float]:
        """As a scenario writes it."""
        return {"points": self.points, "alone": float(self)}


@dataclass(frozen=True, kw_only=True)
class LimitKind:
    """A row: everything known about a limit.

    Attributes
    ----------
    name : str
        Its name in ``[thresholds]`` of a scenario.
    values : str
        "level" (a whole number, 2 or more), "share" (above 0, at most 1), "share from 0", "multiple" (of what guessing
        reaches, 1 to 100), or "share at points", a `ShareAtPoints`.
    scope : str
        What the verdict is about: a "file", a sensitive "variable" of it, a file with its "ledger" of earlier
        releases, what is "released" (of a file by itself the file, else a release compared with its original), or a
        "release" compared with its original, in this order, for each intruder; the "columns" that go out, once,
        without one.
    per_variable : bool
        Judged once for each sensitive variable.
    alone : bool
        Of a limit on a release: judged of a file without its original, too, where values are missing or in ranges.
    of : str
        The declared limit that is applied a second time, to the release with reconstructed values filled in (by its own
        measure, where it `needs` a role), or with the keys of linked releases.
    measure, figure : str
        The measure, and the attribute of its result: a share, or a method that counts the records above the limit.
    judged : str
        Kind of verdict (`sdckit.workflow.verdicts`): "violations", "count", "share", "groups", "ledger",
        "points", "worst release", "worst column", "attacks", "undone", "linked" or "roles".
    without : str
        The reason given where the measure has no result and no reason of its own.
    looked_at, nothing : str
        Figure of the result that is 0 where there was nothing to look at, and the reason given then.
    needs : str
        The role that the limit is about: "sensitive", "household" or "magnitudes"; or "followed": a type of release
        asks for it where the scenario says whose row each is.
    declarable : bool
        Whether a scenario can set the limit; a verdict on something else has none.
    numbers : bool
        Whether it looks at the numbers that go out, so that `numeric` says enough of a column.
    holds, exceeded : str
        Templates of the exact verdict: `limit`, `value`, `percent`, `records`, `variable`, `reason`, `ends` (of an
        interval).
    printed : tuple of str, or str
        Templates of the verdict in documents, kept and exceeded: `limit`, `value`, `some`, `variable`, `reason`,
        `columns` (with how many attacks were made). A single text
        is continued by "not above" or "above" the limit. `points` is the number of known points.
    question : str
        Which question it answers: "singled", "linked", "learnt", "tried", "covered" or "used".
    asked : str
        What it is about, for readers who know no statistics.
    plain : tuple of str, or str
        The verdict for the same readers; as `printed`, with `others`, `values`, `chance` and `percent`. A single text
        says what the value is a share of.
    words, title : str
        Its name in sentences and in headings; `points` are the known ones.
    of_rows : bool
        Whether it looks at single rows: where a person has several, it says nothing of whoever follows them.
    advice : str
        What to do if it is exceeded.
    coarser : bool
        Whether recoding the keys helps.
    aimed : bool
        Whether the search for a recipe aims at it.
    part : tuple of str
        Names of the figure in documents, as entered by its view for an intruder, and of the total it is a part of, of
        the file or of an intruder, too. `points` are the known ones, of which fewer may be worse.
    mean : bool
        Whether that figure is a sum of probabilities.
    least : float or None
        For a share in documents: one suppressed as below a bound is at least this fraction of that bound.
    otherwise : str
        The figure under another reading of the data, which a result may have; the higher of the two is judged.
    types : mapping
        Published types of release that set it, with its value.
    form : str
        Label of its field in the app; empty where the app does not show it.
    metavar, option : str
        Placeholder of its value, and its help text on the command line.
    """

    name: str
    values: str
    measure: str
    figure: str
    judged: str
    holds: str
    exceeded: str
    printed: tuple[str, str] | str
    question: str
    asked: str
    plain: tuple[str, str] | str
    scope: str = "file"
    per_variable: bool = False
    alone: bool = False
    of: str = ""
    without: str = "its measure did not run"
    looked_at: str = ""
    nothing: str = ""
    needs: str = ""
    declarable: bool = True
    numbers: bool = False
    words: str = ""
    title: str = ""
    of_rows: bool = False
    advice: str = ""
    coarser: bool = False
    aimed: bool = False
    part: tuple[str, str] | None = None
    mean: bool = False
    least: float | None = None
    otherwise: str = ""
    types: Mapping[str, int | float] = field(default_factory=dict)
    form: str = ""
    metavar: str = "R"
    option: str = ""


UNLINK = (
    "Change the column that links the releases in the one that has not gone out: new identifiers (new_ids), rounded "
    "numbers (round_to), noise (add_noise); or leave it out."
)
SCOPES = ("file", "variable", "ledger", "released", "release")
KINDS = (
    LimitKind(
        name="k", values="level", measure="k_anonymity", figure="violations", judged="violations", title="k-anonymity",
        holds="every record is in a group of at least {limit:,g} with the same keys (k = {limit:,g})",
        exceeded="{records} {are} in {group} of fewer than {limit:,g} with the same keys (k = {limit:,g})",
        printed=(
            "Every record is in a group of at least {limit:,g} with the same keys (k = {limit:,g})",
            "{some} are in groups of fewer than {limit:,g} with the same keys (k = {limit:,g})",
        ),
        question="singled", asked="How many records share what is known",
        plain=(
            "every record shares what is known with at least {others}",
            "{some} share what is known with fewer than {others}; none may",
        ),
        coarser=True, of_rows=True, aimed=True, types={"public-use": 5, "teaching": 5, "scientific-use": 3},
        form="k-anonymity, k", metavar="K", option="k-anonymity to hold.",
    ),
    LimitKind(
        name="risk", values="share", measure="individual_risk", figure="count_above", judged="count",
        words="individual risk",
        holds="no record has a risk of re-identification above {limit:g}",
        exceeded="{records} {have} a risk of re-identification above {limit:g}",
        printed=(
            "No record has a risk of re-identification above {limit:g}",
            "{some} have a risk of re-identification above {limit:g}",
        ),
        question="linked", asked="The chance of being recognised",
        plain=(
            "no record would be recognised with a chance above {chance}",
            "{some} would be recognised with a chance above {chance}; none may",
        ),
        coarser=True, of_rows=True, aimed=True, types={"public-use": 0.05, "teaching": 0.05, "scientific-use": 0.2},
        form="largest individual risk", option="Largest individual risk.",
    ),
    LimitKind(
        name="l", values="level", measure="l_diversity", figure="below", judged="groups", scope="variable",
        per_variable=True, needs="sensitive", title="l-diversity",
        holds="every group with the same keys holds at least {limit:,g} different values of {variable}",
        exceeded="{records} {are} in {group} with fewer than {limit:,g} different values of {variable}",
        printed=(
            "Every group with the same keys holds at least {limit:,g} different values of {variable}",
            "{some} are in groups with fewer than {limit:,g} different values of {variable}",
        ),
        question="learnt", asked="How many values a group holds",
        plain=(
            "every group with the same known details holds at least {values}",
            "{some} are in groups with fewer than {values}, which tells it to whoever finds the group; none may",
        ),
        aimed=True, types={"public-use": 2, "teaching": 2},
        form="ℓ-diversity, ℓ", metavar="L", option="ℓ-diversity to hold.",
    ),
    LimitKind(
        name="global_risk", values="share", measure="individual_risk", figure="global_risk", judged="share",
        holds="the expected share of records re-identified is {percent}, not above {limit:g}",
        exceeded="the expected share of records re-identified is {percent}, above {limit:g}",
        printed="The expected share of records re-identified (global risk) is {value}",
        question="linked", asked="The average chance of being recognised",
        plain=(
            "On average the chance of being recognised is {value}, within the limit of {limit:g}",
            "On average the chance of being recognised is {value}, above the limit of {limit:g}",
        ),
        coarser=True, of_rows=True, aimed=True, part=("expected", "n"), mean=True,
        form="largest mean risk", option="Largest mean risk.",
    ),
    LimitKind(
        name="household_risk", values="share", measure="individual_risk", figure="count_households_above",
        judged="count", needs="household",
        holds="no record has a household risk above {limit:g}",
        exceeded="{records} {have} a household risk above {limit:g}",
        printed=(
            "No record has a household risk above {limit:g}", "{some} have a household risk above {limit:g}",
        ),
        question="linked", asked="The chance of being recognised through the household",
        plain=(
            "no record would be recognised through the household with a chance above {chance}",
            "{some} would be recognised through the household with a chance above {chance}; none may",
        ),
        coarser=True, part=("expected_household", "n"), mean=True,
        types={"public-use": 0.05, "teaching": 0.05, "scientific-use": 0.2},
        form="largest household risk", option="Largest household risk.",
    ),
    LimitKind(
        name="household_uniques", values="share from 0", measure="household_structure",
        figure="share_unique_compositions", judged="share", needs="household",
        without="the scenario names no household column",
        words="households alone with their composition",
        holds="{percent} of the households are alone with their composition, not above {limit:g}",
        exceeded="{percent} of the households are alone with their composition, above {limit:g}",
        printed="Share of the households that are alone with their composition: {value}",
        question="singled", asked="How many households are like no other",
        plain="Households of which no other has as many members of the same kind",
        advice="Leave out the number of the household and what tells who lives together, release fewer members of "
        "large households (limit_households), or make coarser what tells the members apart.",
        part=("households.unique_compositions", "households"),
        form="largest share of households alone with their composition",
        option="Largest share of households alone with their composition.",
    ),
    LimitKind(
        name="known_points", values="share at points", measure="known_points", figure="alone", judged="points",
        scope="released", needs="followed", without="the scenario names no person column",
        words="people alone by {points} known rows", nothing="nobody has a row that somebody could know of",
        holds="who knows {limit.points} of a person’s rows finds {percent} of the people alone, not above {limit:g}",
        exceeded="who knows {limit.points} of a person’s rows finds {percent} of the people alone, above {limit:g}",
        printed="Share of the people found alone by who knows {points} of their rows: {value}",
        question="singled", asked="Who is followed through several rows of the same person",
        plain="People found alone by who knows {points} of their rows",
        advice="Give new identifiers after some waves (new_ids with block), make keys coarser in all waves, leave "
        "waves out, or take the keys out of the rows of those found most often (suppress_above).",
        part=("known_points.1.{points}.alone", "known_points.1.{points}.persons"), mean=True, least=0.0,
        types={"public-use": ShareAtPoints(0.05), "teaching": ShareAtPoints(0.05)},
        form="largest share of people alone by two known rows",
        option="Largest share of people alone for who knows two of their rows.",
    ),
    LimitKind(
        name="match_risk", values="share", measure="matching_risk", figure="mean_match_risk", judged="worst release",
        scope="release", otherwise="mean_match_risk_otherwise",
        holds="{percent} of the records are expected to be matched back, not above {limit:g}",
        exceeded="{percent} of the records are expected to be matched back, above {limit:g}",
        printed="Share of the records expected to be matched back: {value}",
        question="linked", asked="How many records can be matched back",
        plain="Records expected to be matched back to the person",
        coarser=True, least=0.0, form="largest share matched back", option="Largest share of rows matched back.",
    ),
    LimitKind(
        name="replicated_uniques", values="share", measure="identity_disclosure", figure="replicated_uniques",
        judged="worst release", scope="release",
        holds="{percent} of the records are unique in both files, not above {limit:g}",
        exceeded="{percent} of the records are unique in both files, above {limit:g}",
        printed="Share of the records unique in both files: {value}",
        question="linked", asked="How many stay alone in the release",
        plain="Records alone with what is known, before and after",
        coarser=True, least=0.1, types={"synthetic": 0.05}, option="Largest share unique in both files.",
    ),
    LimitKind(
        name="copied_records", values="share from 0", measure="copied_records", figure="copied_records",
        judged="worst release", scope="release", words="copies of single records",
        holds="at least {percent} of the records are copies of single original records beyond chance, not above "
        "{limit:g}",
        exceeded="at least {percent} of the records are copies of single original records beyond chance, above "
        "{limit:g}: this is no synthetic file, and is to be judged as a public-use file",
        printed=(
            ("Records that are copies of single original records beyond chance, at least: {value}, not above "
             "{limit:g}"),
            ("Records that are copies of single original records beyond chance, at least: {value}, above {limit:g}: "
             "this is no synthetic file, and is to be judged as a public-use file"),
        ),
        question="singled", asked="Whether real records were copied into it",
        plain=(
            "Real records copied into it, beyond what chance makes: at least {value}, within the limit of {percent} %",
            ("Real records copied into it, beyond what chance makes: at least {value}, above the limit of {percent} %: "
             "this is no synthetic file, and is to be judged as a public-use file"),
        ),
        advice="Judge the file as a public-use file, or make it anew with less memory of single records: larger "
        "leaves (min_leaf), fewer predictors, values put together.",
        least=0.0, types={"synthetic": 0.0}, option="Largest share of copies of single records beyond chance.",
    ),
    LimitKind(
        name="correctly_disclosed", values="share", measure="attribute_disclosure", figure="correctly_disclosed",
        judged="worst release", scope="release", per_variable=True, needs="sensitive", words="correct disclosure",
        holds="{variable} is disclosed correctly for {percent} of the records, not above {limit:g}",
        exceeded="{variable} is disclosed correctly for {percent} of the records, above {limit:g}",
        printed="Share of the records for which the release discloses {variable} correctly: {value}",
        question="learnt", asked="How much could be told rightly",
        plain="Records of which the release tells {variable} rightly",
        least=0.1, types={"synthetic": 0.2}, option="Largest share disclosed correctly.",
    ),
    LimitKind(
        name="residual_risk", values="share", measure="attacks", figure="risk", judged="attacks", scope="release",
        words="residual risk of attacks",
        holds="the largest residual risk of the simulated attacks{columns} is {value:.3g}, not above {limit:g}",
        exceeded="the largest residual risk of the simulated attacks{columns} is {value:.3g}, above {limit:g}",
        printed=(
            "No simulated attack{columns} has a residual risk above {limit:g}",
            "At least one simulated attack{columns} has a residual risk above {limit:g}",
        ),
        question="tried", asked="How far trial attacks succeed",
        plain=(
            "No trial attack succeeds on people in the file more often than on others, by more than {percent} in 100",
            "A trial attack succeeds on people in the file more often than on others, by more than {percent} in 100",
        ),
        advice="Change more of what the trial attacks used, or make the release anew with less memory of the file.",
        types={"synthetic": 0.2}, option="Largest residual risk of an attack.",
    ),
    LimitKind(
        name="membership_tpr", values="multiple", measure="membership", figure="tpr_multiple", judged="attacks",
        scope="release", words="members recognised", without="it was not tried to tell who is in the file",
        holds="at a false-positive rate of 1 % {value:.3g} times as many members are recognised{columns}{ends}, not "
        "above {limit:g} times",
        exceeded="at a false-positive rate of 1 % {value:.3g} times as many members are recognised{columns}{ends}, "
        "above {limit:g} times",
        printed=(
            "Members recognised at a false-positive rate of 1 %{columns}: {value}, not above {limit:g} × 1 %",
            "Members recognised at a false-positive rate of 1 %{columns}: {value}, above {limit:g} × 1 %",
        ),
        question="tried", asked="How many members are recognised",
        plain=(
            "Whoever wrongly takes 1 in 100 others for members recognises at most {limit:g} in 100 members",
            "Whoever wrongly takes 1 in 100 others for members recognises more than {limit:g} in 100 members",
        ),
        advice="Make the release anew with less memory of the file, or leave out what makes members odd.",
        metavar="TIMES", option="Most members recognised at a false-positive rate of 1 %, as a multiple of it.",
    ),
    LimitKind(
        name="recoverable", values="share from 0", measure="recoverable_values", figure="recoverable",
        judged="worst column", scope="release", alone=True, words="reconstructed values",
        holds="at most {percent} of the changed values of a column can be reconstructed, not above {limit:g}",
        exceeded="{percent} of the changed values of {variable} can be reconstructed{because}, above {limit:g}",
        printed=(
            "Largest share of the changed values of a column that can be reconstructed from the release{columns}: "
            "{value}"
        ),
        question="learnt", asked="How many changed values can be worked out",
        plain="Changed values of a column that can be worked out{columns}, at most",
        advice="Take out, or change in the same way, the columns from which changed values can be worked out.",
        least=0.1, types={"public-use": 0.0, "teaching": 0.0},
        form="largest share of changed values reconstructed", option="Largest share of a column reconstructed.",
    ),
    LimitKind(
        name="differencing", values="share from 0", measure="differencing", figure="differencing", judged="ledger",
        scope="ledger", without="the scenario names no ledger of earlier releases",
        words="disclosed with earlier releases",
        holds="of {percent} of the records something is disclosed together with {beside}, not above {limit:g}",
        exceeded="of {percent} of the records something is disclosed together with {beside}, above {limit:g}",
        printed="Share of the records of which something is disclosed together with {beside}: {value}",
        question="learnt", asked="How much is disclosed together with earlier releases",
        plain="Records of which something is disclosed together with earlier releases",
        part=("differencing.people", "n"),
        option="Largest share disclosed with releases of the scenario's ledger.",
    ),
    LimitKind(
        name="joint_recoverable", values="share from 0", measure="joint_audit", figure="joint_recoverable",
        judged="worst release", scope="release", words="values reconstructed with tables", looked_at="hidden",
        nothing="no value of the tables’ columns was taken out that could be given back",
        holds="at most {percent} of the hidden values of a column can be reconstructed from release and tables, not "
        "above {limit:g}",
        exceeded="{percent} of the hidden values of a column can be reconstructed from release and tables, above "
        "{limit:g}",
        printed="Largest share of the hidden values of a column that can be reconstructed from release and "
        "tables: {value}",
        question="learnt", asked="How many hidden values can be worked out with published tables",
        plain="Hidden values of a column that can be worked out with published tables, at most",
        advice="Round the published tables, leave some out, or hide values of records alike (joint_audit).",
        least=0.1, option="The same together with the tables that the scenario declares.",
    ),
    LimitKind(
        name="exact_numbers", values="share from 0", measure="exact_numbers", figure="share", judged="worst column",
        scope="released", needs="magnitudes", numbers=True, words="numbers that go out as they are",
        holds="at most {percent} of the records dominate their group with a number that goes out within 10 % of the "
        "truth, not above {limit:g}",
        exceeded="{percent} of the records dominate their group with a value of {variable} that goes out within 10 % "
        "of the truth, above {limit:g}",
        printed="Largest share of the records that dominate their group with a number of a column that goes out within "
        "10 % of the truth: {value}",
        question="learnt", asked="How many large numbers go out as they are",
        plain="Records whose number dominates its group and goes out within 10 % of the truth, in the worst column",
        advice="Put large numbers in classes (recode), cap them (top_bottom_code), average them (microaggregate), add "
        "noise (add_noise) or round (round_to).",
        part=("exact_numbers", "n"), least=0.1, types={"public-use": 0.0, "teaching": 0.0},
        form="largest share of large numbers released as they are",
        option="Largest share that dominates a group with a number released within 10 % of the truth.",
    ),
    LimitKind(
        name="broken_rules", values="share from 0", measure="edit_rules", figure="broken_rules",
        judged="worst release", scope="release", without="the scenario declares no edit rule ([[rules]])",
        words="broken edit rules",
        holds="at most {percent} of the records newly break an edit rule, not above {limit:g}",
        exceeded="{percent} of the records newly break an edit rule, above {limit:g}",
        printed="Largest share of the records that newly break an edit rule: {value}",
        question="used", asked="Whether records contradict themselves",
        plain="Records that contradict themselves since they were changed, by the rule broken most",
        advice="Change the columns of a rule together (swap_records, synthesize with rules), or set right what a step "
        "has broken.",
        part=("edit_rules", "n"), least=0.1, option="Largest share of the records that newly break an edit rule.",
    ),
    LimitKind(
        name="k_undone", of="k", values="level", measure="recoverable_values", figure="k_undone", judged="undone",
        scope="release", words="k after reconstruction",
        holds="with reconstructed values, every record is in a group of at least {limit:,g} (k = {limit:,g})",
        exceeded="with reconstructed values{because}, {records} {are} in {group} of fewer than {limit:,g} with "
        "the same keys (k = {limit:,g})",
        printed=(
            ("With reconstructed values, no record is in groups of fewer than {limit:,g} with the same keys "
             "(k = {limit:,g})"),
            ("With reconstructed values, {value} of the records are in groups of fewer than {limit:,g} with the "
             "same keys (k = {limit:,g})"),
        ),
        question="singled", asked="How many records share what is known, with what can be worked out from the release",
        plain=(
            "With what can be worked out from the release, no record shares what is known with fewer than {others}",
            ("With what can be worked out from the release, {value} of the records share what is known with fewer than "
             "{others}"),
        ),
        coarser=True, of_rows=True,
    ),
    LimitKind(
        name="risk_undone", of="risk", values="share", measure="recoverable_values", figure="risk_undone",
        judged="undone", scope="release", words="risk after reconstruction",
        holds="with reconstructed values, no record has a risk of re-identification above {limit:g}",
        exceeded="with reconstructed values{because}, {records} {have} a risk of re-identification above "
        "{limit:g}",
        printed=(
            "With reconstructed values, no record is beyond a risk of re-identification of {limit:g}",
            ("With reconstructed values, {value} of the records are beyond a risk of re-identification of "
             "{limit:g}"),
        ),
        question="linked", asked="The chance of being recognised, with what can be worked out from the release",
        plain=(
            "With what can be worked out from the release, no record would be recognised with a chance above {chance}",
            ("With what can be worked out from the release, {value} of the records would be recognised with a chance "
             "above {chance}"),
        ),
        coarser=True, of_rows=True,
    ),
    LimitKind(
        name="household_risk_undone", of="household_risk", values="share", measure="recoverable_values",
        figure="household_risk_undone", judged="undone", scope="release", words="household risk after reconstruction",
        holds="with reconstructed values, no record has a household risk above {limit:g}",
        exceeded="with reconstructed values{because}, {records} {have} a household risk above {limit:g}",
        printed=(
            "With reconstructed values, no record is beyond a household risk of {limit:g}",
            "With reconstructed values, {value} of the records are beyond a household risk of {limit:g}",
        ),
        question="linked",
        asked="The chance of being recognised through the household, with what can be worked out from the release",
        plain=(
            ("With what can be worked out from the release, no record would be recognised through the household with a "
             "chance above {chance}"),
            ("With what can be worked out from the release, {value} of the records would be recognised through the "
             "household with a chance above {chance}"),
        ),
        coarser=True,
    ),
    LimitKind(
        name="household_uniques_undone", of="household_uniques", values="share from 0", measure="recoverable_values",
        figure="household_uniques_undone", judged="undone", scope="release",
        words="households alone with their composition after reconstruction",
        holds="with reconstructed values, {percent} of the households are alone with their composition, not above "
        "{limit:g}",
        exceeded="with reconstructed values{because}, {percent} of the households are alone with their composition, "
        "above {limit:g}",
        printed="With reconstructed values, share of the households that are alone with their composition: {value}",
        question="singled",
        asked="How many households are like no other, with what can be worked out from the release",
        plain="With what can be worked out from the release, households of which no other has as many members of the "
        "same kind",
        least=0.1,
    ),
    LimitKind(
        name="exact_numbers_undone", of="exact_numbers", values="share from 0", measure="recoverable_values",
        figure="exact_numbers_undone", judged="undone", scope="release", words="large numbers after reconstruction",
        holds="with reconstructed values, at most {percent} of the records dominate their group with a number of a "
        "column that is known within 10 % of the truth, not above {limit:g}",
        exceeded="with reconstructed values{because}, {percent} of the records dominate their group with a number of "
        "a column that is known within 10 % of the truth, above {limit:g}",
        printed="With reconstructed values, largest share of the records that dominate their group with a number of a "
        "column that is known within 10 % of the truth: {value}",
        question="learnt", asked="How many large numbers can be worked out from the release",
        plain="With what can be worked out from the release, records whose number dominates its group and is known "
        "within 10 % of the truth",
        least=0.1,
    ),
    LimitKind(
        name="k_linked", of="k", values="level", measure="differencing", figure="joint_below", judged="linked",
        scope="ledger", words="k with linked releases",
        holds="with the keys of {reason}, every record is in a group of at least {limit:,g} (k = {limit:,g})",
        exceeded="with the keys of {reason}, {records} {are} in {group} of fewer than {limit:,g} (k = {limit:,g})",
        printed=(
            "Every record is in a group of at least {limit:,g} with the keys of all linked releases (k = {limit:,g})",
            "{some} are in groups of fewer than {limit:,g} with the keys of all linked releases (k = {limit:,g})",
        ),
        question="singled", asked="How many records share what is known from all linked releases",
        plain=(
            "every record shares what is known from all linked releases with at least {others}",
            "{some} share what is known from all linked releases with fewer than {others}; none may",
        ),
        advice=UNLINK, of_rows=True,
    ),
    LimitKind(
        name="risk_linked", of="risk", values="share", measure="differencing", figure="joint_above", judged="linked",
        scope="ledger", words="risk with linked releases",
        holds="with the keys of {reason}, no record has a risk of re-identification above {limit:g}",
        exceeded="with the keys of {reason}, {records} {have} a risk of re-identification above {limit:g}",
        printed=(
            "No record has a risk of re-identification above {limit:g} with the keys of all linked releases",
            "{some} have a risk of re-identification above {limit:g} with the keys of all linked releases",
        ),
        question="linked", asked="The chance of being recognised from all linked releases",
        plain=(
            "no record would be recognised from all linked releases with a chance above {chance}",
            "{some} would be recognised from all linked releases with a chance above {chance}; none may",
        ),
        advice=UNLINK, of_rows=True,
    ),
    LimitKind(
        name="l_linked", of="l", values="level", measure="differencing", figure="joint_short", judged="linked",
        scope="ledger", per_variable=True, words="ℓ with linked releases",
        holds="with the keys of {reason}, every group holds at least {limit:,g} different values of {variable}",
        exceeded="with the keys of {reason}, {records} {are} in {group} with fewer than {limit:,g} different values of "
        "{variable}",
        printed=(
            ("Every group with the same keys in all linked releases holds at least {limit:,g} different values of "
             "{variable}"),
            "{some} are in groups with fewer than {limit:,g} different values of {variable} in all linked releases",
        ),
        question="learnt", asked="How many values a group of all linked releases holds",
        plain=(
            "every group with the same known details in all linked releases holds at least {values}",
            "{some} are in groups of all linked releases with fewer than {values}; none may",
        ),
        advice=UNLINK,
    ),
    LimitKind(
        name="roles", declarable=False, values="share", measure="", figure="", judged="roles", scope="columns",
        words="roles of the columns", title="Roles of the columns", holds="{reason}", exceeded="{reason}",
        printed=("{reason}", "{reason}"), question="covered", asked="What every column is",
        plain=("{reason}", "{reason}"), advice="Leave direct identifiers out of the file that goes out.",
    ),
)  # fmt: skip
LIMITS = {kind.name: kind for kind in KINDS}
FOLLOWING = next(kind for kind in KINDS if kind.judged == "points")  # of people followed through their rows


def declarable() -> dict[str, LimitKind]:
    """The limits that a scenario can declare, in order of output.

    Examples
    --------
    >>> list(declarable())[:3]
    ['k', 'risk', 'l']
    """
    return {name: kind for name, kind in LIMITS.items() if kind.declarable and not kind.of}


def limits_asked(declared: Collection[str]) -> list[LimitKind]:
    """The limits that a scenario asks for which declares these, with those that follow from another.

    >>> [kind.name for kind in limits_asked(["k"])]
    ['k', 'k_undone', 'k_linked']
    """
    return [kind for kind in LIMITS.values() if (kind.of or kind.name) in declared]


def limit_words(name: str) -> str:
    """A limit as its field in the app; one that no field asks for in its own words, or as its name in words.

    >>> limit_words("k"), limit_words("k_undone"), limit_words("replicated_uniques")
    ('k-anonymity, k', 'k after reconstruction', 'replicated uniques')
    """
    kind = LIMITS.get(name)
    return (kind and (kind.form or kind.words)) or name.replace("_", " ")


def limits_of_type(release: str) -> dict[str, int | float]:
    """The limits that a published type of release sets.

    Examples
    --------
    >>> limits_of_type("scientific-use")
    {'k': 3, 'risk': 0.2, 'household_risk': 0.2}
    """
    return {name: kind.types[release] for name, kind in declarable().items() if release in kind.types}
