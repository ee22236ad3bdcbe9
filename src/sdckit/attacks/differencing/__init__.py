"""Differencing: disclosure by several releases together that none of them causes alone."""
