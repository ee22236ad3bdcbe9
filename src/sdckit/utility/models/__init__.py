"""Estimates and regressions, on the original and on its releases."""
