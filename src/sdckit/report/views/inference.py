"""View of the inference attack: inferring a person's sensitive value."""

from sdckit.report.rates import rate_view


def _named(rest: str) -> tuple[str, str]:
    intruder, colon, variable = rest.partition(":")
    return (f"Inferring {variable}", intruder) if colon else (f"Inferring {rest}".strip(), "")


VIEW = rate_view(_named)
