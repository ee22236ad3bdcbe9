"""How well released records are told from original ones."""
