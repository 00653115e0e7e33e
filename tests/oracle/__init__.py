"""The definitions of the papers, brute force, to be read beside them. They share no code with the engine they judge."""
