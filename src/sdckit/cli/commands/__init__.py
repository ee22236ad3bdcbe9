"""One file per command, named as it is typed; the program finds them here."""
