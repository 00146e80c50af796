"""Logged streams: files, tables and lakes of them."""
