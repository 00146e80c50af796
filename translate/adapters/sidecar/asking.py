"""A route of the sidecar whose clients speak formats of their own: how its upstream is asked."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

import anyio
import httpx2

from ...errors import StreamTimeout
from ...messages.api import encode_error
from ...messages.exchange import Exchange
from ...messages.failures import refusal_of
from ..asgi import Answer, Scope
from ..fields import Fields, joined
from ..observe import Observer
from ..running import Running
from .doors import Door, door_of
from .forward import Forwarder, unavailable
from .rules import Refused
from .settings import Route


class Asking(Forwarder):
    """Asks one upstream in its format. ``beside``: the routes that it shares a path with, by the models they serve."""

    def __init__(
        self, route: Route, running: Running, observers: Sequence[Observer], beside: list[Asking]
    ) -> None:
        self.models = route.models
        self.beside = beside
        beside.append(self)
        self.clients = list(route.settings.clients)
        self.server = route.settings.server or ""
        super().__init__(route, running, observers)

    def serving(self, model: str | None) -> Asking:
        """The route, of those beside this one, that serves a model."""
        return next((each for each in self.beside if not each.models or _fits(model or "", each.models)), self)

    def door(self, scope: Scope, target: str, fields: Fields) -> Door:
        """What a request is for."""
        return door_of(scope["method"], target, named(fields), self.clients)

    async def refuse(self, answer: Answer, scope: Scope, error: Exception, *more: tuple[bytes, bytes]) -> None:
        """Answer with an error, in the words of the client that the path is of."""
        target = scope["path"][len(self.prefix) :] or "/"
        client = self.door(scope, target, list(scope["headers"])).client
        status, fields, body = encode_error(refusal_of(error), client)
        await tell(answer, status, fields, body, [*more, *getattr(error, "fields", ())])

    @property
    def hidden(self) -> list[str]:
        """What no message may show."""
        settings = self.settings
        return [self.base, urlsplit(self.base).netloc, *filter(None, (settings.upstream_key, settings.client_key))]

    @property
    def base(self) -> str:
        """The upstream."""
        return self._base

    def exchange(self, client: str) -> Exchange:
        """A call."""
        settings = self.settings
        return Exchange(
            client,
            self.server,
            profile=settings.profile,
            model_map=settings.model_map,
            refuse=settings.refuse,
            strict=settings.options.get("strict", True),
            limits=settings.options.get("limits"),
            hidden=self.hidden,
        )

    async def send(self, method: str, target: str, fields: Fields, body: bytes | None) -> httpx2.Response:
        """Ask the upstream; its answer is open. Raises :class:`StreamTimeout`, :class:`Refused`."""
        settings, wait = self.settings, self.settings.connect_timeout
        path = urlsplit(self.base).path
        first = "/" + target.lstrip("/").partition("/")[0]
        if path.endswith(first):
            # the addresses of some servers are given with their version
            path = path[: -len(first)]
        request = httpx2.Request(
            method,
            self.base,
            headers=fields,
            content=body,
            extensions={
                "timeout": {"connect": wait, "pool": wait, "read": None, "write": None},
                "target": (path + target).encode("ascii"),
            },
        )
        first_wait = settings.timeouts.first
        try:
            with anyio.fail_after(first_wait):
                return await self.transport.handle_async_request(request)
        except TimeoutError:
            raise StreamTimeout("first", first_wait or 0) from None
        except httpx2.ConnectTimeout:
            raise StreamTimeout("connect", settings.connect_timeout or 0) from None
        except httpx2.ConnectError as error:
            raise unavailable(error) or Refused(502, "the upstream cannot be reached") from error
        except httpx2.HTTPError as error:
            raise Refused(502, "the upstream broke off") from error

    async def whole(self, response: httpx2.Response) -> bytes:
        """The body of an answer. Raises :class:`Refused` for one that is too large, :class:`StreamTimeout`."""
        settings, size = self.settings, 0
        pieces: list[bytes] = []
        chunks = aiter(response.aiter_bytes())
        try:
            while True:
                with anyio.fail_after(settings.timeouts.idle):
                    piece = await anext(chunks, None)
                if piece is None:
                    return b"".join(pieces)
                pieces.append(piece)
                size += len(piece)
                if size > settings.max_body:
                    raise Refused(502, "the answer of the upstream is too large")
        except TimeoutError:
            raise StreamTimeout("idle", settings.timeouts.idle or 0) from None
        except httpx2.HTTPError as error:
            raise Refused(502, "the upstream broke off") from error
        finally:
            with anyio.move_on_after(5, shield=True):
                await response.aclose()


async def tell(
    answer: Answer, status: int, headers: dict[str, str], body: bytes, more: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    """Send a whole answer."""
    said = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()]
    answer.status = status
    answer.fields = joined([*more, (b"cache-control", b"no-store")], said)
    await answer.end(body)


def named(fields: Fields) -> dict[str, str]:
    """The fields of a head by their names; of several with one name, the first."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in reversed(fields)}


def _fits(model: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(model, pattern) for pattern in patterns)
