"""Reconstruction attack: protected values that can be derived from the release alone."""
