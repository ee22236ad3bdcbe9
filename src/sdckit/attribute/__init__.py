"""Attribute disclosure, what can be learnt about a person: one file per measure."""
