"""Values made coarser."""
