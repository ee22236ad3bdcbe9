"""Codes for missing values, and rules for missing keys."""
