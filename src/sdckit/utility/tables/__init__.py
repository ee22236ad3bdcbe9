"""Distributions, tables and associations on both files."""
