"""Logged streams: from one file to a lake, with proof that nothing was lost. See ``docs/logs.md``."""

from .job import Summary, convert_logs
from .layout import Layout, Settings
from .plan import Job

__all__ = ["Job", "Layout", "Settings", "Summary", "convert_logs"]
