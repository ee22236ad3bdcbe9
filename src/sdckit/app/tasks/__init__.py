"""What the worker process does, one file per page: plain arguments in, plain answers out."""
