"""Tests of logs: containers, restarts, bad records, recognition, statistics."""
