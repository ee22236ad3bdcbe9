"""How much risk is saved by leaving keys out or by coarsening them."""
