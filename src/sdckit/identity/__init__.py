"""Who can be recognised: one file per measure."""
