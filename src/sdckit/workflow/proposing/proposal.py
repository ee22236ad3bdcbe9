"""Result of `propose`: the recipe, its loss and risk, how many may be matched back, and alternative recipes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sdckit.catalogue.row import public_function
from sdckit.data import limits, losses, replace
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import EXACT, Displayed, counted, exact_shown, plain_html, printable
from sdckit.errors import DataError, SdcError
from sdckit.report.chapters.sentences import listed
from sdckit.workflow.opened_release import with_bands
from sdckit.workflow.proposing.ladders import AS_IT_IS, LEFT_OUT
from sdckit.workflow.recipes.recipe import Recipe
from sdckit.workflow.recipes.starter_recipe import about_share

SLACK = 1e-9  # a limit reached by rounding is reached
SCHEMA = "sdckit/proposal"
REASON = re.compile(r"((?:#.*\n)+)\[\[steps\]\]")  # the comment above a step
FRONT = "Risk and loss of the recipe, and of others that were found"
MOST = 0.5  # of the records
INSTEAD = "limit how many records may be matched back, or bound what is left to suppression (share=0.05)"
NOT_KEPT = "no recipe was found by which fewer are. Name fewer keys, or give them coarser values"


# How many records of a release may be expected to be matched back: as a scenario declares, or as its k promises.
# A limit of k promises that nobody is found with a chance above one in k. Where k is reached only through missing
# values of others, it does not keep that: whoever takes the one record that fits in full is right more often.


@dataclass(frozen=True)
class MostMatched:
    """The share of the records that may be expected to be matched back, for each intruder.

    `promise`: the k that promises it, where the scenario declares no such share; else 0.
    """

    share: float
    promise: int = 0

    def holds(self, matched: float) -> bool:
        """Whether no larger share is expected to be matched back, as far as that was measured."""
        return not matched > self.share + SLACK

    def asked(self, scenario: Scenario) -> Scenario:
        """The scenario with the share as a limit."""
        if not self.promise:
            return scenario
        return scenario.changed(thresholds={**scenario.thresholds.entries, limits.PROMISED.name: self.share})


def most_matched(scenario: Scenario) -> MostMatched | None:
    """The share that a search for a recipe keeps; None where every share will do.

    >>> most_matched(Scenario(keys=["age"], thresholds={"k": 4}))
    MostMatched(share=0.25, promise=4)
    >>> most_matched(Scenario(keys=["age"], thresholds={"k": 4, "match_risk": 0.1}))
    MostMatched(share=0.1, promise=0)
    >>> most_matched(Scenario(keys=["age"], thresholds={"k": 4, "match_risk": 1.0})) is None
    True
    """
    declared = scenario.limits_of(compared=True).declared
    if limits.PROMISED.name in declared:
        share = float(declared[limits.PROMISED.name])
        return MostMatched(share) if share < 1 else None
    if limits.PROMISED.promised not in declared or limits.PROMISED.name in scenario.thresholds.not_asked:
        return None
    k = int(declared[limits.PROMISED.promised])
    return MostMatched(1 / k, k)


def matched_back(recoded: Any, release: Any, scenario: Scenario, most: MostMatched) -> float:
    """The share of the records expected to be matched back, of the intruder for whom it is largest.

    `recoded`: the records of the release before values of them were taken out. What k promises holds where an
    intruder finds no key missing: 0. NaN where it cannot be measured.
    """
    after, largest = replace.open_eager(release, {}), 0.0
    schema = after.schema
    scenario = with_bands(scenario, [key for key in scenario.all_keys if not schema[key].is_numeric()])
    for name in scenario.intruders:
        intruder = scenario.intruder(name)
        if most.promise and not any(after[key].null_count() for key in intruder.keys):
            continue
        try:
            result = public_function(limits.PROMISED.measure)(recoded, release, scenario=intruder, missing="category")
        except SdcError:  # the release itself is judged later, and that says why
            return math.nan
        figures = (getattr(result, limits.PROMISED.figure), getattr(result, limits.PROMISED.otherwise))
        largest = max([largest, *(figure for figure in figures if not math.isnan(figure))])
    return largest


def in_words(keys: Mapping[str, str]) -> str:
    """One line that says what is done to the keys.

    >>> in_words({"age": "as it is", "region": "at level 2 of its hierarchy", "job": "left out"})
    'keeps age as it is; region at level 2 of its hierarchy; gives up job'
    """
    kept = [printable(key) for key, words in keys.items() if words == AS_IT_IS]
    gone = [printable(key) for key, words in keys.items() if words == LEFT_OUT]
    parts = [f"keeps {listed(kept)} as {'they are' if len(kept) > 1 else 'it is'}"] if kept else []
    parts += [f"{printable(key)} {words}" for key, words in keys.items() if words not in (AS_IT_IS, LEFT_OUT)]
    return "; ".join([*parts, *([f"gives up {listed(gone)}"] if gone else [])])


def about_loss(share: float, n: int) -> str:
    """A share as a range that protected documents may print; "" for a small file.

    >>> about_loss(0.333, 1000), about_loss(0.333, 20)
    ('30 to 35 %', '')
    """
    return about_share(round(min(1.0, max(0.0, share)) * n), n)


def promise_kept(k: int, matched: float) -> str:
    """What the search kept of its own accord, as the limit of `k` promises it; "" where it promises or kept nothing.

    >>> promise_kept(3, 0.2)
    'At most one in 3 records is expected to be matched back, as k = 3 promises'
    >>> promise_kept(3, 0.4), promise_kept(0, 0.2)
    ('', '')
    """
    if not k or not MostMatched(1 / k).holds(matched):
        return ""
    return f"At most one in {k} records is expected to be matched back, as k = {k} promises"


def caution(resting: float, n: int, k: int = 0, matched: float = math.nan) -> str:
    """Warning where most records reach k only through missing values of others; "" otherwise.

    Where `k` promises that no more than one in k records is expected to be `matched` back, that is what counts.

    >>> caution(0.88, 1000)[:65]
    'Most records (85 to 90 %) reach k only through missing values of '
    >>> caution(0.2, 1000), caution(0.88, 1000, 3, 0.3)
    ('', '')
    >>> caution(0.88, 1000, 3, 0.4)[:78]
    'More than one in 3 records is expected to be matched back, although k = 3 hold'
    """
    if promise_kept(k, matched):
        return ""
    if k:
        return f"More than one in {k} records is expected to be matched back, although k = {k} holds: {NOT_KEPT}"
    about = about_loss(resting, n)
    if resting < MOST or not about:
        return ""
    return (
        f"Most records ({about}) reach k only through missing values of others: whoever takes the one record that fits "
        f"in full will mostly be right. Where that is not enough, {INSTEAD}"
    )


@dataclass(frozen=True)
class Alternative:
    """An alternative to the proposed recipe.

    Attributes
    ----------
    recipe : Recipe
    words : str
        What it keeps and gives up.
    keys : dict of str to str
        What becomes of each key.
    loss, risk : float
        The loss; the expected share of re-identifications in its release, of the intruder for whom it is largest.
    resting : float
        Share of the records that reach k only through missing values of others.
    passed : bool
        Whether every threshold holds.
    exceeded : tuple of str
        Those that do not, or could not be judged.
    expected : float
        The expected re-identifications, of the intruder for whom they are most.
    small : int
        Records in groups of fewer than five that stand behind it where it is estimated.
    """

    recipe: Recipe
    words: str
    keys: dict[str, str]
    loss: float
    risk: float
    resting: float
    passed: bool
    exceeded: tuple[str, ...] = ()
    expected: float = 0.0
    small: int = 0


@dataclass(frozen=True)
class Candidate:
    """A recipe that is being judged: it passes only once nothing waits any more.

    Attributes
    ----------
    keys : dict of str to str
        What becomes of each key.
    loss : float
        Of the information of the keys.
    held, waiting : tuple of str
        Limits that hold, of which cells tell; and those that are not judged yet.
    """

    keys: dict[str, str]
    loss: float
    held: tuple[str, ...]
    waiting: tuple[str, ...]


@dataclass(frozen=True)
class Proposal(Displayed):
    """A recipe found by search.

    Attributes
    ----------
    recipe : Recipe
    text : str
        The same as TOML, with a comment above each step that says why it is there.
    passed : bool
        Whether the release it makes passes `check`.
    loss : float
        Share of what the keys tell that the release no longer tells, 0 to 1.
    bound : float
        No combination of the recodings looked at, with suppression of the rest, loses less.
    optimal : bool
        Whether the search settled every combination, and the recipe is the best of them.
    risk : float
        The expected share of re-identifications in the release, of the intruder for whom it is largest.
    keys : dict of str to str
        What becomes of each key, in words.
    hidden : dict of str to float
        Share of the values of each column that are taken out.
    resting : float
        Share of the records that reach k only through other records' missing values, of the intruder with most.
    exceeded, unjudged : tuple of str
        Thresholds that do not hold after the last step, and those that could not be judged.
    impossible : tuple of str
        What could not be met, and by how much: exact figures.
    alternatives : tuple of Alternative
        Recipes that keep a key finer, or that take out fewer values or more.
    by : str
        What the recipe loses least of: a name of `propose(loss=)`, or "own" for a measure of the caller.
    measured : float
        The loss that the releases were ranked by, as `loss` where that is of the keys.
    expected : float
        The expected re-identifications in the release, of the intruder for whom they are most.
    small : int
        Records in groups of fewer than five that stand behind it where it is estimated.
    promise : int
        The k by which at most one in k records may be expected to be matched back, which the search kept of its own
        accord; 0 where the scenario limits that itself or has no k, and where no key is missing in the release.
    matched : float
        Share of the records expected to be matched back, of the intruder for whom it is largest; NaN where it was not
        looked at. Above one over `promise`, no recipe was found that keeps it.
    n, nodes, seen, tried : int
        Records; combinations of recodings, those that were counted, and those that were tried on the file.
    """

    recipe: Recipe
    text: str = field(repr=False)
    passed: bool
    loss: float
    bound: float
    optimal: bool
    risk: float
    keys: dict[str, str]
    hidden: dict[str, float]
    resting: float
    exceeded: tuple[str, ...]
    unjudged: tuple[str, ...]
    impossible: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    n: int
    nodes: int
    seen: int
    tried: int
    by: str = losses.INFORMATION
    measured: float = math.nan
    expected: float = 0.0
    small: int = 0
    promise: int = 0
    matched: float = math.nan

    @property
    def gap(self) -> float:
        """How much less of what the keys tell a combination not settled might lose: the loss less its bound."""
        return max(0.0, self.loss - self.bound)

    @property
    def words(self) -> str:
        """What the recipe keeps and gives up."""
        return in_words(self.keys)

    @property
    def kept(self) -> str:
        """What the search kept of its own accord, in a sentence; empty where nothing had to be."""
        return promise_kept(self.promise, self.matched)

    @property
    def caution(self) -> str:
        """What to know where too many records may be found though k holds, and what to do; else empty."""
        return caution(self.resting, self.n, self.promise, self.matched)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why each step of the recipe is there, as its comments say."""
        comments = (comment.replace("# ", "").split() for comment in REASON.findall(self.text))
        return tuple(" ".join(words) for words in comments)

    def searched(self, *, internal: bool = False) -> dict[str, Any]:
        """What a document tells of the search: the reasons, and the recipes that were found, shares as ranges."""
        whole = self.to_dict(internal=internal)
        recipes = [whole, *whole["alternatives"]]
        return {
            "reasons": self.reasons, "kept": self.kept, "caution": self.caution, "combinations": f"{self.nodes:,}",
            "by": "" if self.by == losses.INFORMATION else losses.LOSSES.get(self.by, losses.OF_CALLER),
            "recipes": tuple(
                {name: _shown(entry[name]) for name in ("words", "loss", "resting")} | {"passed": bool(entry["passed"])}
                for entry in recipes
            ),
            "front": self.front(internal=internal),
        }  # fmt: skip

    def front(self, *, internal: bool = False) -> tuple[dict[str, Any], ...]:
        """The recipe and those beside it by loss and risk, for documents: the loss as a range unless `internal`."""
        recipes: list[Proposal | Alternative] = [self, *self.alternatives]
        return tuple(
            {
                "range": _range(recipe.loss, self.n, internal=internal),
                "expected": recipe.expected,
                "small": recipe.small,
            }
            for recipe in recipes
        )

    def plot(self, *, internal: bool = False) -> Any:
        """An Altair chart of the recipe and those beside it by loss and risk; figures protected unless `internal`."""
        from sdckit.report.chapters.map import plain_front
        from sdckit.report.charts import chart_for

        internal = internal or exact_shown.get()
        plain = plain_front(self.front(internal=internal), self.n, internal=internal)
        chart = chart_for("front", plain, FRONT)
        return chart.properties(title=f"{EXACT} {FRONT}") if exact_shown.get() else chart

    def to_dict(self, *, internal: bool = False) -> dict[str, Any]:
        """Everything but the data, ready for JSON; shares as ranges, exact where `internal`."""

        def shown(share: float) -> float | str | None:
            return share if internal else about_loss(share, self.n) or None

        risks = self._risks(internal=internal)
        return {
            "schema": SCHEMA, "passed": self.passed, "loss": shown(self.loss), "bound": shown(self.bound),
            "by": self.by, "measured": self.measured if internal else None, "optimal": self.optimal,
            "words": self.words, "keys": dict(self.keys),
            "hidden": {name: shown(share) for name, share in self.hidden.items()},
            "resting": shown(self.resting), "matched": self.matched if internal and self.matched >= 0 else None,
            "kept": self.kept, "caution": self.caution, "exceeded": list(self.exceeded),
            "unjudged": list(self.unjudged), "reasons": list(self.reasons),
            "impossible": list(self.impossible) if internal else list(self.exceeded),
            "risk": risks[0],
            "recipe": self.recipe.to_toml(), "nodes": self.nodes, "seen": self.seen, "tried": self.tried,
            "alternatives": [
                {"words": other.words, "keys": dict(other.keys), "loss": shown(other.loss), "risk": risk,
                 "resting": shown(other.resting), "passed": other.passed, "exceeded": list(other.exceeded),
                 "recipe": other.recipe.to_toml()}
                for other, risk in zip(self.alternatives, risks[1:], strict=True)
            ],
        }  # fmt: skip

    def _risks(self, *, internal: bool) -> list[float | str | None]:
        """The expected re-identifications as a document prints them, exact where `internal`; None of a small file."""
        from sdckit.report.chapters.map import plain_front

        front = self.front(internal=internal)
        if internal:
            return [point["expected"] for point in front]
        try:
            plain = plain_front(front, self.n)
        except DataError:  # too few records for a document
            return [None] * len(front)
        return [row["risk"]["text"] for row in plain["rows"]]

    def _repr_html_(self) -> str:
        return plain_html(self.text)

    def __repr__(self) -> str:
        verdict = "passes" if self.passed else f"does not pass ({', '.join([*self.exceeded, *self.unjudged])})"
        best = "the best" if self.optimal else f"at most {self.gap:.1%} above the best"
        loses = f"{self.loss:.1%}"
        if self.by != losses.INFORMATION:
            best = f"by {self.by} ({self.measured:.4g}) {'the best' if self.optimal else 'the best that was tried'}"
            loses = f"{self.loss:.1%} of what the keys tell"
        return (
            f"Proposal({counted(len(self.recipe.steps), 'step')}, {verdict}, loses {loses}, {best} of "
            f"{self.nodes:,} combinations: {'. '.join(filter(None, (self.words, self.kept, self.caution)))})"
        )


def _range(loss: float, n: int, *, internal: bool) -> tuple[float, float] | None:
    """Ends of the range that documents print for a loss; None for a small file."""
    if internal:
        return loss, loss
    numbers = [float(number) / 100 for number in re.findall(r"\d+", about_loss(loss, n))]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (0.0, numbers[0]) if numbers else None


def _shown(share: float | str | None) -> str:
    """A share, a range of shares, or words, as a document prints them."""
    return f"{share:.1%}" if isinstance(share, float) else share or ""
