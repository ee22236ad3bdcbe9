"""Results as documents: protected figures, self-contained HTML, JSON, static plots."""
