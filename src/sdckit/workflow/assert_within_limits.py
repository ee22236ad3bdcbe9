"""The gate for tests and pipelines that stop at an exception: what it says is what a document may hold."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.data import arguments
from sdckit.data.files.readers import read_file
from sdckit.errors import DataError, SdcError
from sdckit.workflow.check import CheckResult, check

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.assess import GivenLog, GivenRecipe


def assert_within_limits(
    data: Any,
    released: Any = None,
    *,
    scenario: Scenario,
    control: Any = None,
    id: str | None = None,
    seed: int | None = None,
    recipe: GivenRecipe = None,
    log: GivenLog = None,
) -> None:
    """Raise an `AssertionError` unless every threshold of a scenario was checked and holds.

    Its message has protected figures only, and no frame of a traceback below this function holds records: neither
    ``pytest --showlocals`` nor the log of a pipeline prints what the gate saw. The locals of the test itself are its
    own: name a file instead of holding its frame. No warning is given; those of a document stand in the message, and
    `check` gives them all.

    Parameters
    ----------
    data
        A frame of any engine, or the path of a file; the original, where `released` is given.
    released
        What is to go out, made from `data`: one or a list of them.
    scenario
        With at least one threshold. Files are read without its identifiers and with its codes of missing.
    control, id, seed, recipe, log
        As `check`.

    Raises
    ------
    AssertionError
        A threshold is exceeded, or could not be checked.
    SdcError
        What `check` refuses, and what went wrong within it.

    Examples
    --------
    >>> import sdckit as sdc
    >>> scenario = sdc.Scenario(keys=["educ", "religious"], thresholds={"k": 3})
    >>> sdc.assert_within_limits(sdc.load_demo(), scenario=scenario)
    """
    # pytest leaves frames with this local out of tracebacks.
    __tracebackhide__ = True
    how = {"control": control, "id": id, "seed": seed, "recipe": recipe, "log": log}
    failure = _failure(data, released, scenario, how)
    # The frame stays in tracebacks of other tools: it must not hold the records.
    del data, released, control, how
    if failure is not None:
        raise failure


def _failure(data: Any, released: Any, scenario: Scenario, given: dict[str, Any]) -> Exception | None:
    """What is to be raised: an error without the frames that saw the records, or without what it came from."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they tell exact counts, and pytest prints them
            files = [_opened(one, scenario) for one in (data, released, given.pop("control"))]
            result = check(files[0], files[1], scenario=scenario, control=files[2], **given)
            return None if result.passed else AssertionError(_message(result))
    except SdcError as error:
        return type(error)(str(error), argument=error.argument)
    except Exception as error:  # noqa: BLE001 - messages of libraries, and their frames, may show values
        return SdcError(
            f"internal error: {type(error).__name__}; check() in a session of your own shows where"
        )


def _opened(given: Any, scenario: Scenario) -> Any:
    """The frames of what was given, files read as the command line reads them."""
    if isinstance(given, list | tuple):
        return [_opened(one, scenario) for one in given]
    if not isinstance(given, str | Path) or arguments.scenario_or_none(scenario) is None:
        return given
    return read_file(given, identifiers=scenario.identifiers, missing=scenario.missing_codes)


def _message(result: CheckResult) -> str:
    """The limits that do not hold, or were not judged, in printed words."""
    try:
        told = result.told()
    except DataError:
        return "not within the declared limits; the file has fewer than 50 records, so no more is told"
    found = [
        f"  {one.word}: {sentence}"
        for one, sentence in zip(told.verdicts, told.sentences, strict=True)
        if one.holds is not True
    ]
    found += [f"  warning: {text}" for text in told.warnings]
    return "\n".join(["not within the declared limits", *found])
