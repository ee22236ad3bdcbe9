"""View of membership inference: by the distance, and by the calibrated ratio at a few false-positive rates."""

import math
from typing import Any

from sdckit.display import capital
from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.conclusions import GUESSING, MORE, NO_SIGN, UNDEFINED, leaf_with_ends, residual_leaf
from sdckit.report.gate.figures import Foreign, InternalOnly, Ledger, Tree
from sdckit.report.gate.protect import percentage, rate_leaf, seen
from sdckit.report.rates import Column, enter_tally, in_words, interval_words, percent, rate_view, share_words
from sdckit.report.view import Plain

MULTIPLE, JUDGED = "tpr_multiple", "judged"
RATIO = "the calibrated ratio"
SHARES = ("tpr", "distance_tpr")
SIGNS = {"value": "", "below": "<", "above": "over "}


def _ratio(result: Any, start: str, ledger: Ledger) -> dict[str, Tree]:
    """Enter the members whom the calibrated ratio tells at each false-positive rate, and those of the distance."""
    if math.isnan(result.ratio_auc):
        reason = result.notes.get("ratio_auc", "")
        return {"ratio": {"rates": (), "reason": Foreign(reason)}} if reason else {}
    rates = {rate.fpr: rate for rate in (*result.detections, *filter(None, [result.judged]))}
    start = f"{start}ratio"
    sizes = {"n_members": len(result.scored.rows), "n_others": int((~result.scored.half).sum())}
    leaves = {
        name: ledger.count(f"{start}.{name}", n, f"{start}.{name}", watched="nowhere") for name, n in sizes.items()
    }
    entered = tuple(
        {
            "fpr": fpr,
            **_tally(ledger, f"{start}.{fpr:g}.", "tpr", rate),
            **_tally(ledger, f"{start}.{fpr:g}.", "distance_tpr", rate),
            **enter_tally(ledger, f"{start}.{fpr:g}.", "", rate.called, rate.n_members, whole=True),
            **enter_tally(ledger, f"{start}.{fpr:g}.", "control_", rate.false_alarms, rate.n_others, whole=True),
            "exact": InternalOnly({name: float(getattr(rate, name)) for name in ("excess", "low", "high", *SHARES)}),
        }
        for fpr, rate in sorted(rates.items())
    )
    exact = InternalOnly({"auc": result.ratio_auc, "strongest": result.strongest})
    reason = result.notes.get(MULTIPLE, "")  # of settings alone: it holds no number of people
    own = None if result.judged is None else result.judged.fpr
    return {"ratio": {**leaves, "rates": entered, JUDGED: own, "reason": reason, "exact": exact}}


def _tally(ledger: Ledger, start: str, name: str, rate: Any) -> dict[str, Tree]:
    """Enter a share of the members: beside those called, few who are not told must not stand out either."""
    return enter_tally(ledger, start, f"{name}_", getattr(rate, name) * rate.n_members, rate.n_members)


def _concluded(tree: dict[str, Any]) -> dict[str, Any]:
    """Add the excess at each rate, and the multiple that a limit is about, from printed figures."""
    ratio = tree.get("ratio")
    if not ratio or not ratio["rates"]:
        return tree
    n, n_others = (float(ratio[name]["value"] or 0.0) for name in ("n_members", "n_others"))
    rates = [
        {**rate, **{name: _share(rate, name, n) for name in SHARES}, "excess": _excess(rate, n, n_others)}
        for rate in ratio["rates"]
    ]
    own = next((rate for rate in rates if rate["fpr"] == ratio[JUDGED]), None)
    means = tree["means"]
    if any(rate["excess"].get("low", 0.0) > 0 for rate in rates) and (means == GUESSING or means.startswith(NO_SIGN)):
        means = f"by distance {means}; by {RATIO} {MORE}"
    added = {} if own is None else {MULTIPLE: _multiple(own)}
    return {**tree, "means": means, "ratio": {**ratio, "rates": rates}, **added}


def _share(rate: Plain, name: str, n: float) -> Plain:
    if exact := rate.get("exact"):
        return {"text": f"{percentage(exact[name])} %", "value": exact[name]}
    told = seen(rate, f"{name}_", n)
    leaf = UNDEFINED if told is None else rate_leaf(told, n)
    return {**leaf, "text": str(leaf["text"]).replace(">", "over ")}


def _excess(rate: Plain, n: float, n_others: float) -> Plain:
    if exact := rate.get("exact"):
        return leaf_with_ends(exact["excess"], exact["low"], exact["high"], exact=True)
    called, alarms = seen(rate, "", n), seen(rate, "control_", n_others)
    return UNDEFINED if called is None or alarms is None else residual_leaf(called, n, alarms, n_others)


def _multiple(rate: Plain) -> Plain:
    """The members told, as a multiple of the false-positive rate, with the interval of the excess beside it."""
    leaf, fpr = rate["tpr"], rate["fpr"]
    bounds = {name: leaf[name] / fpr for name in SIGNS if leaf.get(name) is not None}
    if not bounds:
        return UNDEFINED
    ((bound, multiple),) = bounds.items()
    words = f"{SIGNS[bound]}{multiple:.3g} × {100 * fpr:g} %"
    # more than so many is held against a limit as so many
    bounds = {"value": multiple} if bound == "above" else bounds
    return {"text": f"{words}, excess {rate['excess']['text']}", "value": None, **bounds}


def _details(tree: Plain, name: str) -> list[Block]:
    """What the AUC says in a confidential document, and the table of the calibrated ratio."""
    ratio, chance = tree.get("ratio") or {}, tree.get("exact", {}).get("auc")
    blocks: list[Block] = []
    if chance is not None:
        words = f"{name}: a member is nearer to the release than another person with chance {chance:.4g} (AUC)"
        blocks.append(Paragraph(words, "note"))
    if ratio.get("exact"):
        area = ratio["exact"]["auc"]
        words = f"{name}: a member is likelier under the release than another person with chance {area:.4g} (AUC)"
        blocks.append(Paragraph(words, "note"))
    if ratio.get("rates"):
        rows = tuple(
            (f"{100 * rate['fpr']:g} %", percent(rate["tpr"]), percent(rate["distance_tpr"]), rate["excess"]["text"])
            for rate in ratio["rates"]
        )
        heads = ("Others taken for members", "Members told", "By distance", "Excess over others")
        blocks.append(TableBlock(f"{capital(name)}: {RATIO}", heads, rows, (1, 2, 3)))
    if ratio.get("reason"):
        blocks.append(Paragraph(f"{capital(name)}, {RATIO}: {ratio['reason']}.", "note"))
    return blocks


def _group_columns(tree: Plain) -> list[Column]:
    """Members of a subgroup above the file's cut at the lowest rate, and their excess."""
    rates = (tree.get("ratio") or {}).get("rates")
    if not rates:
        return []
    tpr, start = f"tpr_{rates[0]['fpr']:g}", f"excess_{rates[0]['fpr']:g}"
    return [
        (f"Told at {100 * rates[0]['fpr']:g} %", lambda row: share_words(row.get(tpr))),
        ("Excess", lambda row: _ends(row.get(f"{start}_low"), row.get(f"{start}_high"))),
    ]


def _ends(*ends: float | None) -> str:
    """The ends of an excess, which is no less than none."""
    low, high = (None if end is None else max(end, 0.0) for end in ends)
    return interval_words(low, high)


def _answer(plain: Plain, place: str, _: Plain) -> str:
    tree = plain[place]
    if MULTIPLE not in tree:
        return ""
    rate = next(rate for rate in tree["ratio"]["rates"] if rate["fpr"] == tree["ratio"][JUDGED])
    of = f"{100 * rate['fpr']:g}"
    return in_words(
        f"Whoever wrongly takes {of} in 100 others for members tells {percent(rate['tpr'])} of the members (by the "
        f"distance alone {percent(rate['distance_tpr'])}; by guessing {of} %)."
    )


# Guessing calls half of all those called, in the file and out.
VIEW = rate_view(
    lambda _: ("Telling who is in the file", ""), "none", details=_details, more=_ratio, conclude_more=_concluded,
    group_column=_group_columns, answer=_answer,
)  # fmt: skip
