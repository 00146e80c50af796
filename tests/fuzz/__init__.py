"""Fuzzing: streams made of bytes, and laws that hold for every one of them.

``python -m tests.fuzz TARGET`` looks for streams that break one; ``tests/test_fuzz.py`` is a short look at all.
"""
