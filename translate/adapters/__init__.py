"""The library inside services: between a client and an upstream. See ``docs/adapters.md``.

What is here needs nothing but the core. Adapters for other packages are modules of their own, and import them:
``.httpx``, ``.httpx2``, ``.starlette``, ``.prometheus``, ``.opentelemetry``, ``.spark``, ``.ray``, and the sidecar,
``.sidecar``.
"""

from .asgi import StreamResponse
from .exchange_middleware import ExchangeMiddleware
from .middleware import TranslateMiddleware
from .named import NamedEvent, named_events
from .observe import Observer, Outcome, Stats
from .options import Sink, StreamOptions, Timeouts
from .relay import relay
from .running import Running
from .upstream import Response, Source

__all__ = [
    "ExchangeMiddleware",
    "NamedEvent",
    "Observer",
    "Outcome",
    "Response",
    "Running",
    "Sink",
    "Source",
    "Stats",
    "StreamOptions",
    "StreamResponse",
    "Timeouts",
    "TranslateMiddleware",
    "named_events",
    "relay",
]
