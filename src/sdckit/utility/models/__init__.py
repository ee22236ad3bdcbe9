"""Estimates and regressions on both files."""
