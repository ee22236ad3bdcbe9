"""Propensity measures: how well released records can be told from original ones."""
