"""What ``curl -i`` and ``curl -v`` print: fields of the answer's head, then its body.

1. With ``-i`` a head begins with ``HTTP/`` and ends with a blank line. With ``-v`` its lines begin with ``<``, those of
   the request with ``>``; what curl tells, and its meter, is passed over.
2. Each answer begins anew: a stream that was cut off before it ends there.
"""

from __future__ import annotations

import re
from typing import Any

from .printed import Piece, kind

_STATUS = re.compile(rb"(?:< )?HTTP/[\d.]+ (\d{3})\b")
_REQUEST = re.compile(rb"> ([A-Z]+) (\S+) HTTP/")
_NOISE = re.compile(rb"[*>] |[>*]\r?$|[{}] \[\d+ bytes data\]|\s+% Total|\s+Dload|[\s\d.kMG%]*--:--:--|Note: ")


class _Curl:
    blanks = True

    def __init__(self) -> None:
        self._head = self._fresh = False
        self._record: dict[str, Any] = {}
        self._asked: dict[str, Any] = {}

    def __call__(self, line: bytes) -> Piece | None:
        status = _STATUS.match(line)
        if status is not None:
            self._head, self._fresh = not line.startswith(b"<"), True
            self._record = {**self._asked, "status": int(status[1]), "type": None}
            return None
        if self._head or line.startswith(b"< "):
            self._head = self._head and bool(line.strip())
            name, _, value = line.removeprefix(b"< ").partition(b":")
            if name.strip().lower() == b"content-type":
                self._record["type"] = value.partition(b";")[0].strip().decode("utf-8", "replace").lower()
            return None
        if line.rstrip() == b"<" or _NOISE.match(line):
            self._ask(line)
            return None
        begins, self._fresh = self._fresh, False
        return Piece("", line + b"\n", self._record, begins)

    def _ask(self, line: bytes) -> None:
        found = _REQUEST.match(line)
        if found is not None:
            self._asked = {"method": found[1].decode(), "url": found[2].decode("utf-8", "replace")}
        elif line.lower().startswith(b"> host:"):
            self._asked["url"] = line[7:].strip().decode("utf-8", "replace") + str(self._asked.get("url", ""))


def _begins(head: bytes) -> bool:
    found = head.lstrip().splitlines()[:200]
    if not found:
        return False
    return bool(_STATUS.match(found[0])) or (
        bool(_NOISE.match(found[0])) and any(line.startswith(b"< HTTP/") for line in found)
    )


CURL = kind("what curl prints", _begins, lambda strict: _Curl())
