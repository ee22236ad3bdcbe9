"""What can be learnt about somebody: one file per measure."""
