"""Requests, whole answers and stored messages: their algebra, and the way from one format to another."""
