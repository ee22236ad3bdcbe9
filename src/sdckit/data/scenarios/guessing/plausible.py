"""Whether the values of a column can be what its name or label says."""

from __future__ import annotations

from sdckit.data.scenarios.guessing.facts import Facts

_OLDEST = 125
_BANDS = 30
_YEARS = (1850, 2100)
# Topic: fewest and most categories it has.
_LEVELS = {
    "sex or gender": (2, 6), "marital status": (2, 15), "religion": (2, 200),
    "education": (2, 100), "the household's make-up": (2, 60),
    "the body or a disability one can see": (2, 30),
}  # fmt: skip
_MISSING = (96, 999)  # codes for missing that numbers of people may hold


def fits_topic(facts: Facts, topic: str) -> bool | None:
    """Tell whether the values fit a topic; None where they cannot tell.

    >>> ages = Facts("x", 9, 9, 60, number=True, whole=True, text=False, date=False, minimum=0.0, maximum=97.0)
    >>> fits_topic(ages, "age"), fits_topic(ages, "sex or gender"), fits_topic(ages, "geography")
    (True, False, None)
    """
    if topic == "age":
        return _age(facts)
    if topic == "a birth":
        return _birth(facts)
    if topic == "a date of birth":
        return True if facts.date else None
    if topic in _LEVELS:
        low, high = _LEVELS[topic]
        return low <= facts.levels <= high and (not facts.fraction or topic == "the household's make-up")
    return None


def _age(facts: Facts) -> bool:
    if not facts.number:
        return facts.levels <= _BANDS * 5
    in_years = facts.minimum >= -10 and (facts.maximum <= _OLDEST or facts.maximum == _MISSING[1])
    return in_years or facts.levels <= _BANDS


def _birth(facts: Facts) -> bool | None:
    if not facts.number:
        return None
    months = facts.levels <= 12
    years = facts.maximum <= _YEARS[1] and facts.mean >= _YEARS[0]
    return True if months or years else None
