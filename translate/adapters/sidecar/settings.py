"""What a sidecar is told: of itself, and of each route to an upstream."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from ...messages.profiles import ProfileOption
from ..asgi import PING
from ..options import StreamOptions, Timeouts
from .credentials import Credential
from .hosts import hosts_of
from .rules import base_of, prefix_of


@dataclass(frozen=True, slots=True)
class Settings:
    """What a sidecar is told. Sizes in bytes, times in seconds.

    Of each route:

    ``upstream``  ``http`` or ``https``, host, port and a path that all requests are below
    ``src, dst``  the format that the upstream streams, and the one that clients read
    ``max_body``  of a request; larger ones are refused with 413
    ``connect_timeout``  until the upstream has answered a connection (504)
    ``keep_upstream``  for how long a connection to the upstream is kept for the next request, where its last answer
                  ended clean; 0: not at all
    ``credentials``  fields that the upstream is sent, in place of the client's own
    ``roots``     a file of certificates that the upstream's must be signed by; ``None``: those of the system
    ``certificate``  files of a certificate and its key that the upstream is shown
    ``forwarded``  whether the upstream is told who asks, and how, in ``X-Forwarded-For``, ``-Proto`` and ``-Host``
    ``via``       our name in the field ``Via``; empty: there is none
    ``stream_types``  the media types of streams, whatever the status of success; without, those of ``src``, with 200
    ``server``    the format that the upstream is asked in: clients speak formats of their own, and their requests are
                  translated too. ``None``: requests pass as they are
    ``clients``   those formats, by the names of their codecs
    ``profile``   what the upstream takes: see :func:`translate.convert_request`
    ``model_map``  which model is asked for the one that a client names
    ``refuse``    classes of losses that a request is refused for (400)
    ``upstream_key``  the key that the upstream is sent, in place of the client's
    ``client_key``  the key that clients must have (401)
    ``ping, timeouts, options``  see :class:`translate.adapters.StreamResponse`

    Of the sidecar:

    ``max_concurrent``  requests at once; more are refused with 503
    ``max_head``  of a request; larger ones are refused with 431
    ``max_memory``  that all requests together hold: their bodies, units that are not whole, open parts, and output that
                  is not taken (503)
    ``body_timeout``  until a request has arrived whole (408)
    ``hosts``     names and addresses that requests may be for, beside those of this machine; a page of another site
                  can then post only what a browser asks about before (403). ``None``: any, by anyone
    ``keep_client``  for how long a connection of a client is kept for the next request
    ``playground``  whether ``/playground`` is the page of :mod:`translate.inspect.playground`
    ``figures_apart``  whether ``/metrics`` is served elsewhere
    """

    upstream: str
    src: str
    dst: str
    max_concurrent: int = 1000
    max_body: int = 32 * 1024 * 1024
    max_head: int = 32 * 1024
    max_memory: int = 128 * 1024 * 1024
    body_timeout: float | None = 60.0
    connect_timeout: float | None = 10.0
    hosts: Collection[str] | None = None
    keep_client: float = 75.0
    keep_upstream: float = 1.0
    playground: bool = False
    figures_apart: bool = False
    credentials: tuple[Credential, ...] = ()
    roots: Path | None = None
    certificate: tuple[Path, Path] | None = None
    forwarded: bool = False
    via: str = "translate-streams"
    stream_types: Collection[str] = ()
    server: str | None = None
    clients: Collection[str] = ()
    profile: ProfileOption | None = None
    model_map: Mapping[str, str] = field(default_factory=dict)
    refuse: Collection[str] = ("content",)
    upstream_key: str | None = field(default=None, repr=False)
    client_key: str | None = field(default=None, repr=False)
    ping: float | None = PING
    timeouts: Timeouts = field(default_factory=lambda: Timeouts(first=600, idle=300, write=60, between=600))
    options: StreamOptions = field(default_factory=StreamOptions)

    def __post_init__(self) -> None:
        try:
            httpx2.URL(base_of(self.upstream))
        except httpx2.InvalidURL as error:
            raise ValueError(f"the upstream is no URL: {error}") from None
        hosts_of(self.hosts or ())
        if not all(char.isalnum() or char in "-._" for char in self.via) or not self.via.isascii():
            raise ValueError("a name in Via is of letters, digits, hyphens, points and underscores")


@dataclass(frozen=True, slots=True)
class Route:
    """Requests that go to one upstream: for ``host`` (``None``: any), below the path ``prefix``, which is taken off.

    Of several that fit, one that names a host comes first, then the one with the longest prefix. Where clients speak
    formats of their own, several may have one path: then ``models``, patterns of the names that clients ask for, say
    which it is, and one without takes the rest.
    """

    settings: Settings
    prefix: str = "/"
    host: str | None = None
    models: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        prefix_of(self.prefix)
        if self.host is not None:
            hosts_of((self.host,))
