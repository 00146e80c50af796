"""Cases: what a vector says, read from its file."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

_CHECKOUT = Path(__file__).resolve().parents[2] / "tests" / "vectors"
_INSTALLED = Path(__file__).resolve().parent / "vectors"
_SCHEMA = "schema.json"


class VectorError(Exception):
    """Vectors cannot be found or read. The text is for the user."""


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Octets(_Data):
    """Bytes, where they are no text."""

    base64: str


class Unit(_Data):
    """One unit, laid out by the runner: a line of JSON, or a block of SSE with a ``data`` line alone."""

    unit: Any


class Block(_Data):
    """A block of SSE: its carry, its event name and its data, in this order, as far as it has them."""

    block: dict[str, Any]


class Repeated(_Data):
    """The same text many times."""

    repeat: str
    times: int


Piece: TypeAlias = str | Octets | Unit | Block | Repeated


class Expected(_Data):
    """The error that ends a case: its name, and where it is known its place."""

    code: str
    unit: int | None = None
    offset: int | None = None


class Case(_Data):
    """One conversion and what is to come of it. See ``tests/vectors/README.md``."""

    id: str = Field(pattern="^[yni]_[a-z0-9_]+$")
    about: str
    rule: str
    source: str = Field(alias="from")
    target: str = Field(alias="to")
    loss: Literal["carry", "drop", "raise"] = "carry"
    errors: Literal["raise", "encode"] = "raise"
    strict: bool = True
    clock: int = 1
    model: dict[str, str] = Field(default_factory=dict)
    input: Piece | list[Piece]
    output: list[Any]
    error: Expected | None = None
    lost: list[str] | None = None

    @property
    def verdict(self) -> str:
        """``y``: is to be accepted, ``n``: is to end in the error, ``i``: others may do it another way."""
        return self.id[0]

    def pieces(self) -> list[bytes]:
        """The input, in the chunks that the case suggests."""
        given = self.input if isinstance(self.input, list) else [self.input]
        return [_octets(piece, sse=self.source.endswith("-sse")) for piece in given]


def find_vectors() -> Path:
    """The folder of the project's own vectors: installed with the library, or of the checkout."""
    for folder in (_INSTALLED, _CHECKOUT):
        if (folder / _SCHEMA).is_file():
            return folder
    raise VectorError("there are no vectors here; name their folder with --vectors")


def load_cases(folder: Path) -> Iterator[tuple[str, Case]]:
    """The cases of all files of ``folder``, each with the name of its file but for the ending.

    Raises :class:`VectorError`.
    """
    files = sorted(path for path in folder.glob("*.json") if path.name != _SCHEMA)
    if not files:
        raise VectorError(f"there are no vectors in {folder}")
    for path in files:
        try:
            cases = [Case.model_validate(case) for case in loads(path.read_text(encoding="utf-8"))["cases"]]
        except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
            raise VectorError(f"{path} cannot be read: {error}") from None
        yield from ((path.stem, case) for case in cases)


def loads(text: str) -> Any:
    """JSON, every number exact."""
    return json.loads(text, parse_float=Decimal)


def dumps(value: Any) -> str:
    """JSON, the numbers of :func:`loads` included."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{dumps(name)}:{dumps(member)}" for name, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(dumps, value)) + "]"
    return str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)


def _octets(piece: Piece, *, sse: bool) -> bytes:
    match piece:
        case str():
            return piece.encode()
        case Octets():
            return base64.b64decode(piece.base64, validate=True)
        case Unit():
            return (f"data: {dumps(piece.unit)}\n\n" if sse else f"{dumps(piece.unit)}\n").encode()
        case Block():
            return _laid_out(piece.block).encode()
        case Repeated():
            return piece.repeat.encode() * piece.times


def _laid_out(block: dict[str, Any]) -> str:
    lines = [f": carry {dumps(block['carry'])}"] if "carry" in block else []
    lines += [f"event: {block['event']}"] if "event" in block else []
    lines += [f"data: {dumps(block['data'])}"] if "data" in block else []
    return "".join(f"{line}\n" for line in (*lines, ""))
