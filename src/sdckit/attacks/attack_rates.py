"""Result of every simulated attack: success rate, compared with guessing and with a control file, and the verdict."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.pair_result import PairResult, mean_figures
from sdckit.errors import DataError
from sdckit.numerics.intervals import Wilson, excess, wilson
from sdckit.result import FileFigure, LetGo

# Singling out in files of different sizes: expected isolations in a sample of the same size.


ENOUGH = 20  # expected matches in a sample from which on a predicate practically isolates nobody
MOST = 4_000


def counted(n: int, size: int) -> int:
    """Largest number of matches among `n` people that `isolated` must distinguish for samples of `size`.

    Examples
    --------
    >>> counted(100, 100), counted(1000, 100)
    (1, 200)
    """
    return 1 if size >= n else min(math.ceil(ENOUGH * n / size), MOST)


def isolated(matches: NDArray[np.int64], n: int, size: int) -> NDArray[np.float64]:
    """Probability that exactly one of the matching people is in a random sample of `size` from `n` (hypergeometric).

    `matches` is the number of people a predicate is true of; above `counted` the probability is taken as 0. It is 1
    or 0 where all are drawn.

    Examples
    --------
    >>> isolated(np.array([0, 1, 2]), 4, 4).tolist(), isolated(np.array([0, 1, 2]), 4, 2).round(3).tolist()
    ([0.0, 1.0, 0.0], [0.0, 0.5, 0.667])
    """
    most = min(int(matches.max(initial=0)), counted(n, size))
    chance = np.zeros(int(matches.max(initial=0)) + 1)
    others = 1.0  # none of the others is drawn
    for t in range(1, most + 1):
        chance[t] = t * size / n * others
        others *= max(n - size - t + 1, 0) / max(n - t, 1)
    return chance[matches]


@dataclass(frozen=True)
class Scaled:
    """Control rate of a smaller control file, scaled to the size of the original.

    Its success rate is multiplied by `factor`; `residual` is (a - c) / (1 - c), with lower and upper end, of the
    success rate a and the multiplied control rate c.
    """

    factor: float
    residual: tuple[float, float, float]


def scaled(successes: float, same_size: float, control: float, n: float, level: float) -> Scaled:
    """Compare successes on a file with those on a smaller one.

    The successes on the control file are multiplied by the number of successes on the original over the number
    expected in a random subsample of the original of the control file's size. If the release does not depend on
    the original, this is unbiased as far as the two files are alike; for a copy no information is lost, as it would
    be by subsampling the original itself.

    `same_size` is what is expected on as many people of the original as the control file has; `n` counts
    attempts, the equivalent number of independent ones if successes are reduced likewise. The interval is that of
    control / same_size by the score test, beside Wilson's of the success rate. It covers 0 where the score test
    does not tell the two apart.

    Examples
    --------
    >>> found = scaled(40, 10, 1, 100, 0.95)
    >>> found.factor, round(found.residual[0], 3)
    (4.0, 0.375)
    """
    if successes <= 0 or same_size <= 0:
        return Scaled(1.0, excess(successes, n, control, n, level))
    share, (odds, least, most) = successes / n, excess(n - control, n, n - same_size, n, level)
    ends = wilson(successes, n, level)
    low = min(_residual(rate, 1 - least) for rate in (ends.low, ends.high))
    high = max(_residual(rate, 1 - most) for rate in (ends.low, ends.high))
    return Scaled(successes / same_size, (_residual(share, 1 - odds), low, high))


def _residual(rate: float, ratio: float) -> float:
    """(a - c) / (1 - c) for c = ratio * a."""
    chance = ratio * rate if rate else 0.0
    if chance < 1:
        return (rate - chance) / (1 - chance)
    return 0.0 if rate == chance else -math.inf


FIGURES = (
    "n_attacks", "successes", "success_rate", "success_low", "success_high", "baseline_rate",
    "n_control", "control_rate", "control_low", "control_high",
    "risk", "risk_low", "risk_high", "residual", "residual_low", "residual_high",
)  # fmt: skip
BRIEF = ("n_attacks", "success_rate", "baseline_rate", "control_rate", "risk", "risk_low", "risk_high")
WIDE = 0.1  # half-width of an interval above which it is called wide
MODES = ("univariate", "multivariate")
EVERY = "all"  # ends the place of an attack made with every column of the release
# Control file: none; disjoint from the original; a small overlap; or an overlap that invalidates the comparison.
ControlState = Literal["none", "apart", "shared", "overlapping"]
OVERLAP = "people of the original are in the control file, which hides the risk"
NO_CONTROL = "no control file: what holds for anybody is in the success rate"


@dataclass(frozen=True)
class Tally:
    """Number of attacks and of successes.

    `successes` need not be whole where it is an expected number; `effect` is the variance of the successes
    divided by that of independent attacks, 1 where they are independent.
    """

    n: int
    successes: float
    effect: float = 1.0

    @property
    def rate(self) -> float:
        """Share of successes; NaN without attacks."""
        return self.successes / self.n if self.n else math.nan

    @property
    def independent(self) -> tuple[float, float]:
        """Effective numbers of successes and attacks: both divided by the design effect."""
        return self.successes / self.effect, self.n / self.effect

    def interval(self, level: float) -> Wilson:
        """Wilson score interval of the rate."""
        return wilson(*self.independent, level)


@dataclass(frozen=True)
class Group:
    """A subgroup attacked: its labels, and its figures in one release."""

    release: int
    labels: tuple[str, ...]
    figures: Mapping[str, float]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AttackResult(PairResult):
    """Base of the results of simulated attacks.

    Attributes
    ----------
    n_attacks, successes, success_rate, success_low, success_high : float
        Attacks made, successes, their share and its Wilson interval.
    baseline_rate : float
        Share of successes of somebody who guesses.
    n_control, control_rate, control_low, control_high : float
        The same attack on people who were never in the file; NaN without a control file.
    risk, risk_low, risk_high : float
        Residual risk (success rate - control rate) / (1 - control rate), 0 to 1, with its score interval. Without
        a control file the attack's own rate and interval.
    residual, residual_low, residual_high : float
        The same before it is cut off at 0; NaN without a control file, minus infinity where no attack on the
        control fails.
    verdict : str
        What the figures mean, and when they cannot be trusted.
    level : float
        Confidence of the intervals.
    control_state : {"none", "apart", "shared", "overlapping"}
        Whether people of the original are in the control file: no control file, nobody, fewer than one in twenty
        of its records, or more, which hides the risk.
    n_overlap : int
        Records of the control file equal to one of the original, where there are more than by coincidence.
    """

    figures: ClassVar[tuple[str, ...]] = FIGURES
    dropped: ClassVar[tuple[str, ...]] = ("pair", "hits", "groups")
    success_name: ClassVar[str] = "success"
    n_attacks: float
    successes: float
    success_rate: float
    success_low: float
    success_high: float
    baseline_rate: float
    n_control: float
    control_rate: float
    control_low: float
    control_high: float
    risk: float
    risk_low: float
    risk_high: float
    residual: float
    residual_low: float
    residual_high: float
    verdict: str
    level: float
    hits: tuple[tuple[NDArray[np.int64], NDArray[Any]], ...]
    by: tuple[str, ...] = ()
    groups: tuple[Group, ...] = ()
    prefix: str = ""
    control_state: ControlState = "none"
    n_overlap: int = 0

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name):.6g}" for name in BRIEF)
        return f"{type(self).__name__}({shown}): {self.verdict}"

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The denominators of the rates."""
        return (
            FileFigure("success_rate", of="attacks", base="n_attacks"),
            FileFigure("baseline_rate", of="attacks", base="n_attacks", higher="reference"),
            FileFigure("control_rate", of="attacks on people never in the file", base="n_control", higher="reference"),
            FileFigure("risk", of="attacks that fail on people never in the file", base=""),
        )

    @property
    def n(self) -> int:
        """Records of the original."""
        return self.pair.n

    def record_columns(self) -> dict[str, NDArray[Any]]:
        """The columns of `records`."""
        attacked, success = np.zeros(self.n, np.bool_), np.full(self.n, np.nan)
        attacked[self.hits[0][0]] = True  # the same records in every release
        success[self.hits[0][0]] = np.mean([succeeded for _, succeeded in self.hits], axis=0)
        return {"attacked": attacked, self.success_name: success}

    @property
    def records(self) -> Any:
        """``attacked``, and ``success`` (or what it is called: share over the releases) per original record."""
        return self.pair.records(self.record_columns(), prefix=self.prefix)

    @property
    def group_figures(self) -> tuple[str, ...]:
        """Columns of `by_group` behind the labels."""
        return FIGURES

    @property
    def by_group(self) -> Any:
        """A row per release and subgroup, those with the highest residual risk first (without one: success rate)."""
        groups = self.groups
        if isinstance(groups, LetGo):
            return groups.figures  # raises, as for any other data
        if not self.by:
            raise DataError("no subgroups were asked for; give by=[...]")
        ordered = sorted(groups, key=lambda group: (group.release, worst_first(group.figures)))
        labels = {name: [group.labels[i] for group in ordered] for i, name in enumerate(self.by)}
        columns = {"release": [group.release for group in ordered]}
        figures = {name: [float(group.figures[name]) for group in ordered] for name in self.group_figures}
        return self.pair.table({**columns, **labels, **figures})

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact and ready for JSON, with the verdict; not those of subgroups, which name values."""
        statement = {"verdict": self.verdict, "level": self.level}
        return {**super().to_dict(), **statement, "control_state": self.control_state, "n_overlap": self.n_overlap}


def control_state_of(result: Any) -> ControlState:
    """Whether people of the original are in the control file; an attack from outside the package need not say.

    Examples
    --------
    >>> control_state_of(None)
    'none'
    """
    return getattr(result, "control_state", "none")


def rates(
    attack: Tally, baseline: float, control: Tally | None, level: float, notes: dict[str, str],
    residual: tuple[float, float, float] | None = None,
) -> dict[str, float]:  # fmt: skip
    """Figures of one attack on one release.

    `attack` is on the people of the original, `control` on people who were never in the file, `baseline` the
    share of successes of somebody who guesses. Reasons for undefined figures go to `notes`; `residual` (with its
    lower and upper bound) is given where it does not follow from the two tallies.

    Examples
    --------
    >>> found = rates(Tally(100, 60), 0.01, Tally(100, 20), 0.95, {})
    >>> found["success_rate"], found["control_rate"], round(found["risk"], 3)
    (0.6, 0.2, 0.5)
    """
    out = dict.fromkeys(FIGURES, math.nan)
    out.update(n_attacks=float(attack.n), successes=float(attack.successes), baseline_rate=baseline)
    out["n_control"] = float(control.n) if control is not None else math.nan
    if attack.n == 0:
        notes.setdefault("success_rate", "no attack could be made")
        return out
    interval = attack.interval(level)
    out.update(success_rate=attack.rate, success_low=interval.low, success_high=interval.high)
    if control is None:
        out.update(risk=attack.rate, risk_low=interval.low, risk_high=interval.high)
        notes.setdefault("control_rate", NO_CONTROL)
        notes.setdefault("risk", "the attack's own rate: " + NO_CONTROL)
        notes.setdefault("residual", NO_CONTROL)
        return out
    if control.n == 0:
        notes.setdefault("control_rate", "nobody of the control file could be attacked")
        notes.setdefault("risk", "nobody of the control file could be attacked")
        return out
    other = control.interval(level)
    out.update(control_rate=control.rate, control_low=other.low, control_high=other.high)
    three = residual or excess(*attack.independent, *control.independent, level)
    for name, value in zip(("", "_low", "_high"), three, strict=True):
        out["residual" + name] = value
        out["risk" + name] = min(max(value, 0.0), 1.0)
    return out


def means(per_release: Sequence[Mapping[str, float]], notes: dict[str, str]) -> dict[str, float]:
    """Means over the releases, including those of the interval bounds."""
    if len(per_release) > 1:
        notes.setdefault("intervals", "their ends are means over the releases")
    return mean_figures(per_release, notes)


def verdict(figures: Mapping[str, float], control_state: ControlState = "apart") -> str:
    """Say what the figures mean, and when they cannot be trusted.

    Examples
    --------
    >>> verdict(rates(Tally(100, 1), 0.02, None, 0.95, {})).split(":")[0]
    'Not to be trusted'
    """
    if math.isnan(figures["success_rate"]):
        return "No attack could be made, so this says nothing about the release."
    success, baseline = figures["success_rate"], figures["baseline_rate"]
    if not success > baseline:
        return (
            f"Not to be trusted: the attack succeeds in {success:.1%} of the attempts, guessing in {baseline:.1%}. "
            "An attack no better than guessing says nothing about the release; a better one may succeed."
        )
    start = f"The attack succeeds in {success:.1%} of the attempts, guessing in {baseline:.1%}"
    others = f"the same attack on people never in the file in {figures['control_rate']:.1%}"
    if math.isnan(figures["control_rate"]):
        return (
            f"{start}. Without a control file it is open how much of it the release discloses about the people "
            "in it, and how much holds for anybody."
        )
    if control_state == "overlapping":
        return f"{start}, {others}. Not to be trusted: {OVERLAP}."
    return f"{start}, {others}. {_compared(figures)}"


def _compared(figures: Mapping[str, float]) -> str:
    between = f"between {figures['risk_low']:.1%} and {figures['risk_high']:.1%}"
    caution = ""
    if (figures["control_high"] - figures["control_low"]) / 2 > WIDE:
        smaller = figures["n_control"] < figures["n_attacks"]
        few = "The control file is too small" if smaller else "The attacks are too few"
        caution = f" {few} for a narrower answer."
    if figures["residual_low"] > 0:
        return (
            f"The release discloses more about the people in it than about others: {figures['risk']:.1%} of what "
            f"fails on others succeeds on them ({between}).{caution}"
        )
    return (
        "No sign that being in the file makes a difference, which does not prove that there is none: a residual risk "
        f"up to {figures['risk_high']:.1%} is compatible with these attacks.{caution}"
    )


def concerns(place: str, intruder: str, intruders: Iterable[str] = ()) -> bool:
    """Whether an attack, by its name in an assessment, belongs to an intruder or to none in particular.

    An attack named after another of the `intruders` does not; without a list of intruders every attack concerns all.

    Examples
    --------
    >>> places = ("membership", "linkability:a", "inference:a:ill", "linkability:ab")
    >>> [concerns(place, "a", ["a", "ab"]) for place in places], concerns("linkability:ab", "a")
    ([True, True, True, False], True)
    """
    rest = place.partition(":")[2].removesuffix(EVERY).removesuffix(":")
    if rest in MODES:  # no particular intruder; attacks of an intruder of this name count for everybody
        return True
    named = [name for name in {*intruders, intruder} if rest == name or rest.startswith(f"{name}:")]
    return not named or intruder in named


def worst_first(figures: Mapping[str, float]) -> tuple[float, float]:
    """Sorting key of subgroups: residual risk, descending; success rate where the residual risk is undefined."""
    criteria = [figures["residual"], figures["success_rate"]]
    first, second = (math.inf if math.isnan(value) else -value for value in criteria)
    return first, second
