"""Distributions, contingency tables and associations of the original and its releases."""
