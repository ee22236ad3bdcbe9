"""What the worker of a session does with data, one file per page: plain arguments in, plain dicts out."""
