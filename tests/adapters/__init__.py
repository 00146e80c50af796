"""Tests of the adapters: the library inside services."""
