"""Synthetic records from protected margins: noisy, rounded or published tables of few variables."""
