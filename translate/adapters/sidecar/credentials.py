"""Credentials that the upstream is sent: from the environment or a file, in no log, no error and no repr."""

from __future__ import annotations

import os
import re
from pathlib import Path

_FORM = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(|.* )(env|file):(.+)")
_VALUE = re.compile(rb"[\t\x20-\x7e\x80-\xff]*")
_REFUSED = frozenset((b"host", b"content-length", b"transfer-encoding", b"connection", b"accept-encoding"))


class Credential:
    """A field whose value is a secret: of a variable, read once, or of a file, read again whenever it has changed."""

    def __init__(self, name: str, before: str, kind: str, place: str) -> None:
        self.name = name.lower().encode("ascii")
        self._before = before.encode("latin-1")
        self._file = Path(place) if kind == "file" else None
        self._where = f"{kind}:{place}"
        self._stamp: tuple[int, int] | None = None
        self._value = b""
        if self.name in _REFUSED:
            raise ValueError(f"{name!r} is no field of a credential")
        if self._file is None:
            given = os.environ.get(place)
            if given is None:
                raise ValueError(f"the variable {place!r} of the environment is not set")
            self._value = self._checked(os.fsencode(given))
        else:
            self.value()

    @classmethod
    def read(cls, text: str) -> Credential:
        """One as it is told: ``NAME=env:VARIABLE``, ``NAME=Bearer file:PATH``. Raises ``ValueError``."""
        found = _FORM.fullmatch(text)
        if found is None:
            raise ValueError("a credential is NAME=env:VARIABLE or NAME=file:PATH, with words before the source or not")
        return cls(*found.groups())

    def value(self) -> bytes:
        """What is sent now. A file that cannot be read leaves what was read of it last, where it ever was."""
        if self._file is not None:
            try:
                state = self._file.stat()
                stamp = state.st_mtime_ns, state.st_size
                if stamp != self._stamp:
                    self._value, self._stamp = self._checked(self._file.read_bytes()), stamp
            except OSError as error:
                if self._stamp is None:
                    raise ValueError(f"{self._where} cannot be read: {error.strerror}") from None
        return self._before + self._value

    def _checked(self, value: bytes) -> bytes:
        value = value.strip()
        if not value or not _VALUE.fullmatch(value):
            raise ValueError(f"{self._where} holds nothing that can stand in a field")
        return value

    def __repr__(self) -> str:
        return f"Credential({self.name.decode()!r}, {self._where!r})"
