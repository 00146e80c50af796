"""A service of its own between clients and an upstream. Needs the extra ``serve``."""

from .app import Settings, Sidecar
from .server import serve

__all__ = ["Settings", "Sidecar", "serve"]
