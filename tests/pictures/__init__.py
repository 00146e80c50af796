"""The pictures of the documentation, drawn from the tables and grammars of the code.

``python -m tests.pictures`` writes ``docs/pictures``; a test tells when that is due.
"""
