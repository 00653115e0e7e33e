"""How a query is run, for people to read: renders the descriptions that operators build."""
