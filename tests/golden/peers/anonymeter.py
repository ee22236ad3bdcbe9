"""What is tried of the rows of `coming-from/anonymeter.md`; figures of anonymeter 1.1.0 on the schools of 1998."""

from __future__ import annotations

from functools import cache

import sdckit as sdc
from golden.peers.files import golden
from golden.peers.rows import Row, Trials
from golden.test_attacks import ALL, CONTROL, KNOWN, ORIGINAL, RELEASED

TRY = Trials()
FILES = (ORIGINAL, RELEASED)
PEER = "attacks_star98"
N = 150
RISK = [0.5104895104895105, 0.42382104581456015, 0.5936081850649658]  # of 80 and 7 successes in 150 each


@cache
def linked() -> sdc.Linkability:
    return sdc.linkability(*FILES, known=KNOWN, **ALL)


@TRY('`SinglingOutEvaluator(ori, syn, control, n_attacks, n_cols).evaluate(mode="multivariate")`')
def _(row: Row) -> None:
    theirs = golden(PEER)["multivariate"]
    found = row.run(*FILES, control=CONTROL, n_attacks=100)
    rate, half = theirs["attack_rate"]
    row.equal(found.success_rate, rate, within=2 * half)  # drawn at random in both
    one = golden(PEER)["univariate"]
    found = row.run(*FILES, control=CONTROL, n_attacks=2000, mode="univariate", n_columns=1)
    row.equal(found.successes, one["successes"])


@TRY("`LinkabilityEvaluator(ori, syn, control, aux_cols, n_attacks, n_neighbors).evaluate()`")
def _(row: Row) -> None:
    for n_neighbors in (1, 3):
        theirs = golden(PEER)[f"linkability_{n_neighbors}"]
        found = row.run(*FILES, control=CONTROL, known=KNOWN, n_attacks=N, n_neighbors=n_neighbors)
        row.equal(found.successes, theirs["successes"])


@TRY("`InferenceEvaluator(ori, syn, control, aux_cols, secret, n_attacks).evaluate()`")
def _(row: Row) -> None:
    theirs = golden(PEER)["inference_pay"]
    found = row.run(*FILES, control=CONTROL, known=KNOWN[0], target="pay", n_attacks=N)
    row.differ(found.successes, theirs["successes"], expected=123)  # distances have the range of all files here


@TRY("`InferenceEvaluator(regression=True)`")
def _(row: Row) -> None:
    theirs = golden(PEER)["inference_PERSPENK"]
    given = {"known": KNOWN[0], "numeric": [*KNOWN[0], "PERSPENK"], "target": "PERSPENK"}
    row.differ(row.run(*FILES, **given, **ALL).successes, theirs["successes"], expected=105)


@TRY("`InferenceEvaluator` with a model of your own")
def _(row: Row) -> None:
    assert row.run(*FILES, keys=KNOWN[0], target="pay", model="tree", seed=1).pair.n == N


@TRY("risk by group of the secret")
def _(row: Row) -> None:
    assert len(row.run(*FILES, known=KNOWN[0], target="PERSPENK", by="pay", **ALL)) == 2


@TRY("`evaluate(n_jobs=-2)`")
def _(row: Row) -> None:
    assert linked().n_attacks == N


@TRY("`risk(confidence_level=0.95)`")
def _(row: Row) -> None:
    theirs = golden(PEER)["linkability_1"]["risk"]
    found = row.run(*FILES, known=KNOWN, **ALL)
    row.differ([found.risk, found.risk_low, found.risk_high], theirs, expected=RISK)


@TRY("`results(n_neighbors=1)` after `n_neighbors=10`")
def _(row: Row) -> None:
    row.equal(row.run(*FILES, known=KNOWN, **ALL).successes, golden(PEER)["linkability_1"]["successes"])


# --- outputs -------------------------------------------------------------------------------------------


@TRY("`results().n_success`, `n_attacks`")
def _(row: Row) -> None:
    row.equal(row.get(linked(), "successes"), golden(PEER)["linkability_1"]["successes"])
    one = row.get(sdc.singling_out(*FILES, control=CONTROL, n_attacks=2000, seed=1), "n_attacks")
    row.differ(one, 2000, expected=1216)


@TRY("`results().attack_rate`")
def _(row: Row) -> None:
    rate, low, high = row.get(linked(), "success_rate", "success_low", "success_high")
    row.differ(rate, golden(PEER)["linkability_1"]["attack_rate"][0], expected=80 / N)
    assert low < rate < high


@TRY("`results().baseline_rate`")
def _(row: Row) -> None:
    theirs = golden(PEER)["inference_pay"]["baseline_rate"][0]
    row.differ(row.get(inferred(), "baseline_rate"), theirs, expected=0.5)


@cache
def inferred() -> sdc.Inference:
    return sdc.inference(*FILES, known=KNOWN[0], target="pay", **ALL)


@TRY("`results().control_rate`")
def _(row: Row) -> None:
    rate, low, high = row.get(linked(), "control_rate", "control_low", "control_high")
    theirs = golden(PEER)["linkability_1"]
    row.differ(rate, theirs["control_rate"][0], expected=7 / N)
    assert low < theirs["control_rate"][0] < high


@TRY("`risk().value`, `risk().ci`")
def _(row: Row) -> None:
    names = ("risk", "risk_low", "risk_high", "residual", "residual_low", "residual_high")
    found = row.get(linked(), *names)
    theirs = golden(PEER)["linkability_1"]["risk"]
    row.differ(found[:3], theirs, expected=RISK)
    assert found[3:] == found[:3]  # nothing is cut


@TRY("`queries()`")
def _(row: Row) -> None:
    found = row.get(sdc.singling_out(*FILES, control=CONTROL, n_attacks=2000, seed=1), "queries")
    success, theirs = row.get(found, "isolates"), golden(PEER)["univariate"]
    assert found["query"].str.contains(" = | ≥ | ≤ ").all()
    row.equal(success.sum(), theirs["successes"])


@TRY("warnings")
def _(row: Row) -> None:
    assert "attack succeeds" in str(row.get(linked(), "verdict"))


# --- what is refused -----------------------------------------------------------------------------------


@TRY("`LinkabilityEvaluator` with a column in both lists of `aux_cols`")
def _(row: Row) -> None:
    row.refused(*FILES, known=(KNOWN[0], [*KNOWN[1], KNOWN[0][0]]))


@TRY("`InferenceEvaluator` with the secret among `aux_cols`")
def _(row: Row) -> None:
    row.refused(*FILES, known=[*KNOWN[0], "pay"], target="pay")


@TRY("`n_neighbors` above the number of released rows")
def _(row: Row) -> None:
    row.refused(*FILES, known=KNOWN)
