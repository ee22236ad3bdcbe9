"""What simulated attacks mean, concluded from printed figures alone, so that it discloses no more than they do."""

from collections.abc import Callable, Sequence
from typing import Any

from sdckit.attacks.attack_rates import OVERLAP, WIDE
from sdckit.data.limits import LIMITS
from sdckit.numerics.intervals import excess, wilson
from sdckit.report.gate.protect import Seen, percentage, rate_leaf, seen
from sdckit.report.view import Plain

RESIDUAL = next(name for name, kind in LIMITS.items() if kind.measure == "attacks")  # the limit has its figure's name
NOTHING: Plain = {"text": "–", "value": None}
TOO_FEW: Plain = {"text": "too few", "value": None}
UNDEFINED: Plain = {"text": "undefined", "value": None}
GUESSING = "no better than guessing, which says nothing about the release"
MORE = "the release discloses more about the people in it than about others"
NO_SIGN = "no sign that being in the file makes a difference, which does not prove that there is none"
OPEN = "how much of it holds for anybody is open without a control file"
DOUBT = "as good as guessing, as far as rounded figures tell"
FEW = "too few successes to tell them from guessing"

Judged = tuple[int, str, dict[str, Any]]  # rank, the higher the worse; meaning; the release with its residual risk


def concluded(judge: Callable[[Plain], Judged], tree: Plain) -> dict[str, Any]:
    """Add ``means`` and the residual risk of the worst release to an attack's tree; `judge` judges one release.

    If the control file overlaps the original, nothing is concluded from an attack that is better than guessing.
    """
    judged = [judge(release) for release in tree["releases"]]
    _, means, worst = max(judged, key=lambda verdict: (verdict[0], _size(verdict[2][RESIDUAL])))
    if tree.get("control_state") == "overlapping" and worst[RESIDUAL] not in (NOTHING, UNDEFINED):
        means = f"not to be trusted: {OVERLAP}"
    return {**tree, "releases": [release for _, _, release in judged], "means": means, RESIDUAL: worst[RESIDUAL]}


def _size(leaf: Plain) -> float:
    return float(leaf.get("high") or leaf.get("below") or leaf["value"] or 0.0)


def judge_rates(release: Plain, *, calls: bool = False) -> Judged:
    """Judge an attack on one release against guessing and against the control file.

    `calls` says that guessing succeeds on as many people in the file as out of it.
    """
    rates: dict[str, Any] = dict.fromkeys(("success_rate", "baseline_rate", "control_rate"), UNDEFINED)
    shown = {**rates, **release, RESIDUAL: UNDEFINED}
    ends = shown.pop("ends", None)
    if "exact" in release:
        return _judge_exactly(shown)
    n, n_control = (number_of(release.get(name)) for name in ("n_attacks", "n_control"))
    attack, guess, control = (seen(release, *of) for of in (("", n), ("baseline_", n), ("control_", n_control)))
    if attack is None:
        if "successes" in release or "failures" in release:
            return 2, "the number of successes is withheld", shown
        if release["n_attacks"]["text"] == "0":
            return 0, "no attack could be made", shown
        return 0, "too few attempts to say anything", shown | dict.fromkeys(rates, TOO_FEW)
    if guess is not None:
        shown["baseline_rate"] = rate_leaf(guess, n)
    elif calls and control is not None:
        # As many are drawn from either file, and guessing calls as many of each: better is who calls more members.
        called = (attack.middle + control.middle) / 2
        shown["baseline_rate"], guess = rate_leaf(Seen(called, called, called), n), control
    else:
        chance = n * (shown["baseline_rate"]["value"] or 0.0)
        guess = Seen(chance, chance, chance)
    shown["success_rate"] = rate_leaf(attack, n)
    if control is not None:
        shown["control_rate"] = rate_leaf(control, n_control)
    elif n_control:
        shown["control_rate"] = TOO_FEW
    if attack.high <= guess.low:
        return 1, GUESSING, shown | {RESIDUAL: NOTHING}
    verdict = _judge_against_control(
        attack, n, control, n_control, better=attack.low >= guess.high and not attack.few, ends=ends
    )
    return verdict[0], verdict[1], shown | verdict[2]


def number_of(leaf: Plain | None) -> float:
    """Value of a printed number; 0 where there is none."""
    return float(leaf["value"] or 0.0) if leaf is not None else 0.0


def _judge_against_control(
    attack: Seen, n: float, control: Seen | None, n_control: float, *, better: bool, ends: Sequence[float] | None
) -> Judged:
    """Judge an attack that may be better than guessing against the control file."""
    if control is None:
        why = "the control file is too small to compare with" if n_control else OPEN
        return 3, f"{'better than guessing' if better else FEW if attack.few else DOUBT}; {why}", {}
    leaf = residual_leaf(attack, n, control, n_control, ends)
    residual = {RESIDUAL: leaf}
    if attack.few:
        return 2, FEW, residual
    wide = wilson(control.middle, n_control).half > WIDE
    few = "the control file is too small" if n_control < n else "the attacks are too few"
    caution = f"; {few} for a narrower answer" if wide else ""
    start = "" if better else f"{DOUBT}; "
    more = leaf.get("low", 0.0) > 0
    return (4 if more else 2), start + (MORE if more else NO_SIGN) + caution, residual


def residual_leaf(
    attack: Seen, n: float, control: Seen, n_control: float, ends: Sequence[float] | None = None
) -> dict[str, Any]:
    """Residual risk from the printed counts; its upper bound where successes are hidden.

    `ends` are those of queries that depend on each other: they are another figure, and shown where no count is small.
    """
    if attack.few:
        if ends is not None:
            return {"text": "not shown", "value": None}
        most = min(excess(attack.high, n, control.low, n_control)[2], 1.0)
        return {"text": f"<{percentage(most)} %", "value": None, "below": round(most, 6)}
    estimate = excess(attack.middle, n, control.middle, n_control)
    value, low, high = (min(max(share, 0.0), 1.0) for share in estimate)
    if ends is not None:
        if attack.many or control.few or control.many:
            return {"text": f"{percentage(value)} % (not shown)", "value": round(value, 6)}
        low, high = min(ends[0], value), max(ends[1], value)
    return leaf_with_ends(value, low, high)


def leaf_with_ends(value: float, low: float, high: float, *, exact: bool = False) -> dict[str, Any]:
    """Leaf of a share with its interval in brackets, in per cent."""
    texts = [f"{100 * share:.1f}" if exact else percentage(share) for share in (value, low, high)]
    ends = {"value": value, "low": low, "high": high}
    return {"text": f"{texts[0]} % ({texts[1]}–{texts[2]})"} | {k: round(v, 6) for k, v in ends.items()}


def _judge_exactly(shown: dict[str, Any]) -> Judged:
    """Judge an attack by its exact figures and intervals, for a confidential document."""
    exact = shown["exact"]
    for name in ("success", "control"):
        if exact[f"{name}_rate"] is not None:
            ends = (exact[f"{name}{end}"] for end in ("_rate", "_low", "_high"))
            shown[f"{name}_rate"] = leaf_with_ends(*ends, exact=True)
    if exact["success_rate"] is None:
        return 0, "no attack could be made", shown
    guessed = exact["baseline_rate"]
    shown["baseline_rate"] = {"text": f"{100 * guessed:.3g} %", "value": guessed}
    if exact["success_rate"] <= guessed:
        return 1, GUESSING, shown | {RESIDUAL: NOTHING}
    if exact["control_rate"] is None:
        return 3, f"better than guessing; {OPEN}", shown
    leaf = leaf_with_ends(exact["risk"], exact["risk_low"], exact["risk_high"], exact=True)
    worse = leaf["low"] > 0
    return 4 if worse else 2, MORE if worse else NO_SIGN, shown | {RESIDUAL: leaf}
