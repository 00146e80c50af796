"""What logs are kept in: the table of containers, a file for each. What is asked first stands first."""

from __future__ import annotations

from ..layout import Container
from .array import ARRAY
from .cri import CRI
from .curl import CURL
from .docker import DOCKER
from .flows import FLOWS
from .har import HAR
from .journald import JOURNALD
from .kind import Kind
from .plain import LINES, PARQUET, STREAMS
from .recorded import RECORDED
from .stream_json import STREAM_JSON
from .vcr import VCR

CONTAINERS: dict[Container, Kind] = {
    "streams": STREAMS,
    "lines": LINES,
    "parquet": PARQUET,
    "json": ARRAY,
    "har": HAR,
    "vcr": VCR,
    "mitmproxy": FLOWS,
    "docker": DOCKER,
    "journald": JOURNALD,
    "cri": CRI,
    "stream-json": STREAM_JSON,
    "curl": CURL,
    "recorded": RECORDED,
}
TOOLS: dict[Container, Kind] = {name: kind for name, kind in CONTAINERS.items() if kind.begins is not None}
"""Those that say themselves how they hold streams."""



def of_records(head: bytes) -> Container:
    """Which container of records begins so. A record is an object: a list is a document of them."""
    if head.startswith(b"PAR1"):
        return "parquet"
    return "json" if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[") else "lines"


__all__ = ["CONTAINERS", "TOOLS", "Kind", "of_records"]
