"""Mutation tests: small faults are put into the code, and the tests have to notice each. See ``README.md`` here."""
