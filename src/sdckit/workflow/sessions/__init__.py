"""Tasks behind the pages of the app, one module per page: plain arguments in, plain dicts out."""
