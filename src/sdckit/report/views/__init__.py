"""One file per measure, named after it: the figures it enters, and how the printed ones are laid out."""
