"""How a query is run, for people to read."""
