"""The contingency table of the distinct key combinations, on which every categorical measure rests."""
