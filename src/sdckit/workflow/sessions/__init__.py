"""What somebody at work asks of a file, one file per page of the app: plain arguments in, plain dicts out."""
