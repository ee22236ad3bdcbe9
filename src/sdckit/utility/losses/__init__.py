"""How far values lie from the original ones."""
