"""A service of its own between clients and an upstream. Needs the extra ``serve``."""

from .app import Sidecar
from .credentials import Credential
from .server import Listening, serve
from .settings import Route, Settings

__all__ = ["Credential", "Listening", "Route", "Settings", "Sidecar", "serve"]
