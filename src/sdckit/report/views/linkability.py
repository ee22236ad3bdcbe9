"""View of the linkability attack: linking two sets of attributes of the same person."""

from sdckit.report.rates import rate_view
from sdckit.report.view import Plain


def _options_words(options: Plain, intruder: str) -> str:
    return " | ".join(", ".join(half) for half in options["halves"].get(intruder, ()))


# What guessing links follows from the number of released rows.
VIEW = rate_view(lambda intruder: ("Linking two pieces of knowledge", intruder), "share", options_words=_options_words)
