"""Whom a service on a loopback address answers: no name that was made to point here, no page of another site.

Any page that a browser of this machine shows can reach such an address. Under a name of its own that resolves to it, it
could read what is answered; under the address itself it can send what browsers send unasked.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address

from ..fields import Fields
from .rules import Refused

_AUTHORITY = re.compile(r"(?:\[([0-9a-f:.]+)\]|([0-9a-z._-]+))(?::([0-9]{0,5}))?", re.IGNORECASE | re.ASCII)
_LONG = 255 + len(".:65535")
"""What a name, its last point and a port take."""
_SIMPLE = frozenset((b"", b"text/plain", b"application/x-www-form-urlencoded", b"multipart/form-data"))
"""The media types that a page may send to other sites unasked."""


def host_of(authority: str) -> str | None:
    """The host that an authority names, in the spelling that hosts are compared in; ``None`` where it names none."""
    return _host_of(authority) if len(authority) <= _LONG else None


@lru_cache(128)
def _host_of(authority: str) -> str | None:
    found = _AUTHORITY.fullmatch(authority)
    if found is None or int(found[3] or 0) > 65535:
        return None
    name = (found[1] or found[2]).lower().removesuffix(".")
    try:
        address: IPv4Address | IPv6Address = IPv6Address(name) if found[1] else ip_address(name)
    except ValueError:
        return None if found[1] else name or None
    return str(getattr(address, "ipv4_mapped", None) or address)


def hosts_of(names: Collection[str]) -> frozenset[str]:
    """The hosts that are given by these names. Raises ``ValueError`` for what is none, such as one with a port."""
    found = {name: host_of(f"[{name}]" if ":" in name else name) for name in names}
    for name, host in found.items():
        if host is None:
            raise ValueError(f"{name!r} is no name and no address of a host")
    return frozenset(host for host in found.values() if host is not None)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, and nobody can make it another."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_host(fields: Fields, hosts: Collection[str]) -> None:
    """Raise :class:`Refused` where a request is for a host that is neither this machine nor among ``hosts``.

    One that names none is of no browser.
    """
    for name, value in fields:
        if name == b"host" and not _known(value, hosts):
            raise Refused(403, "the request is for another host; --allow-host lets it be this one")


def check_site(method: str, fields: Fields, hosts: Collection[str]) -> None:
    """Raise :class:`Refused` for what a page of another site posts without having to ask whether it may."""
    given = dict(fields)
    if method != "POST" or given.get(b"content-type", b"").partition(b";")[0].strip().lower() not in _SIMPLE:
        return
    site, origin = given.get(b"sec-fetch-site"), given.get(b"origin")
    # browsers that say no site say the origin
    foreign = site is None and origin is not None and not _known(origin.partition(b"://")[2], hosts)
    if site == b"cross-site" or foreign:
        raise Refused(403, "the request is a page's of another site")


def _known(authority: bytes, hosts: Collection[str]) -> bool:
    host = host_of(authority.decode("latin-1"))
    return host is not None and (host in hosts or is_loopback(host))
