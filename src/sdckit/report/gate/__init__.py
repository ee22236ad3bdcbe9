"""Disclosure control of documents: every figure is audited and rounded here before it is printed."""
