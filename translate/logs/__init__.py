"""Logged streams: from one file to a lake, with proof that nothing was lost. See ``docs/logs.md``."""

from .job import Job, Summary, convert_logs
from .layout import Layout, Settings

__all__ = ["Job", "Layout", "Settings", "Summary", "convert_logs"]
