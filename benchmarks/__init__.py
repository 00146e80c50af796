"""Measures the library beside what its work costs as JSON alone: ``python -m benchmarks``."""
