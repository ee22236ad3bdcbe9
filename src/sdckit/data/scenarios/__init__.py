"""Disclosure scenarios: intruders, roles of columns, limits; and guesses of roles."""
