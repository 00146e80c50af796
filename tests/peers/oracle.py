"""What ``mmsp``'s own clients make of recordings, beside what we make of them; each difference has a cause.

``python -m tests.peers.oracle DIRECTORY`` reads the folders of a directory that are called as codecs are. It prints how
many messages are equal, and the recordings of each cause. A difference of no known cause is an error.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.peers import oracle_causes
from tests.peers.oracle_causes import UNKNOWN
from tests.peers.serving import odd
from tests.peers.vendors import NOWHERE, answering, httpx2
from translate import TranslateError, assemble

mmsp: Any = pytest.importorskip("mmsp", reason="mmsp is not installed: pip install -e '.[peers]'")

Outcome: TypeAlias = "dict[str, Any] | Exception"
"""A message, without the time of its making; or what was raised."""

CLIENTS = {
    "anthropic-official": ("anthropic", "AnthropicOfficialClient"),
    "ant-messages": ("anthropic", "AntMessagesClient"),
    "openai-chat": ("openai-chat", "OpenaiChatClient"),
    "openai-responses": ("openai-responses", "OpenaiResponsesClient"),
    "google-genai": ("gemini", "GoogleGenaiClient"),
}
"""Type of a client → folder and codec of what it reads, and its class."""
NEWER = ("openai-responses", "google-genai")
"""Those whose causes are in :mod:`tests.peers.oracle_causes`."""
REFUSE = ("EmptyResponseError", "IncompleteStreamError")
"""What a client raises once it has said all items."""
EQUAL = "equal"


async def theirs(kind: str, body: bytes) -> tuple[Outcome, list[dict[str, Any]]]:
    """What a client makes of a stream, and the items that it said were done, which stand where it raised, too."""
    module = importlib.import_module(f"mmsp.{kind.replace('-', '_')}.client")
    client = getattr(module, CLIENTS[kind][1])("m", api_key="none", base_url=NOWHERE)
    async with httpx2.AsyncClient(transport=answering(body, pieces=False), trust_env=False) as http:
        if kind == "google-genai":
            client._client = _google(body)
        else:
            client._client = client._client.with_options(http_client=http, max_retries=0)
        asked = {"role": "user", "content_items": [{"type": "text.done", "text": "?"}]}
        done: list[dict[str, Any]] = []
        try:
            async for event in client.streaming_response_stateful(message=asked, config={}):
                done += [item for item in event["content_items"] if item["type"].endswith(".done")]
        except Exception as error:
            return error, done
        message: dict[str, Any] = client.get_history()[1]
        return {name: value for name, value in message.items() if name != "created_at"}, done


def _google(body: bytes) -> Any:
    """A client of Google's library that is answered with a stream."""
    genai, httpx = importlib.import_module("google.genai"), importlib.import_module("httpx")
    head = {"content-type": "text/event-stream"}
    transport = httpx.MockTransport(lambda request: httpx.Response(200, headers=head, content=body))
    options = genai.types.HttpOptions(httpx_async_client=httpx.AsyncClient(transport=transport))
    return genai.Client(api_key="none", http_options=options)


def ours(kind: str, body: bytes) -> dict[str, Any] | TranslateError:
    """What we make of it."""
    try:
        return assemble(odd(body), f"{CLIENTS[kind][0]}-sse", "unievent")  # type: ignore[no-any-return]
    except TranslateError as error:
        return error


async def compared(kind: str, body: bytes) -> set[str]:
    """Why both differ; :data:`EQUAL` alone where they do not."""
    (them, done), us = await theirs(kind, body), ours(kind, body)
    if isinstance(us, TranslateError):
        return {_refused(them, us)}
    if isinstance(them, Exception) and type(them).__name__ not in REFUSE:
        return {_raised(them)}
    newer = kind in NEWER
    causes = (oracle_causes.items if newer else _items)(done, us["content_items"])
    if isinstance(them, Exception):
        return {*causes - {EQUAL}, _raised(them)}
    if them["finish_reason"] != us["finish_reason"]:
        causes.add((oracle_causes.reason if newer else _reason)(them["finish_reason"], us["finish_reason"]))
    if them["usage_metadata"] != us["usage_metadata"]:
        told = them["usage_metadata"], us["usage_metadata"]
        causes.add(oracle_causes.counts(*told) if newer else _counts(kind, *told))
    return causes - {EQUAL} or {EQUAL}


def _refused(them: Outcome, us: TranslateError) -> str:
    """Why we made no message."""
    names = type(us).__name__, type(them).__name__
    if names[0] == "UpstreamFailure" and names[1] in ("APIError", "ClientError"):
        return "both raise the error that the stream reports"
    if names == ("ToolArgumentsError", "ToolCallArgumentParseError"):
        return "both refuse arguments that are no object"
    if names[0] == "GrammarError" and "message_start" in us.what:
        return "we refuse a second message_start"
    if names[0] == "GrammarError" and "after the terminal" in us.what:
        return "we refuse a second message behind the first"
    if names == ("DecodeError", "JSONDecodeError"):
        return "both refuse what is no JSON"
    if names[0] == "TruncatedStream" and isinstance(them, Exception):
        return "both refuse a stream that is cut short"
    return "we refuse several choices" if "one stream is one message" in us.what else UNKNOWN


def _raised(them: Exception) -> str:
    """Why they made no message, and we did."""
    name, said = type(them).__name__, str(them)
    if (cause := oracle_causes.raised(them)) is not None:
        return cause
    if name == "EmptyResponseError":
        return "they refuse a message without content, or with thinking alone"
    if name == "IncompleteStreamError":
        member = "counts" if "usage_metadata" in said else "a reason"
        return f"they refuse a stream without {member}"
    if name == "StreamProtocolError" and "first tool_call.delta" in said:
        return "they take the arguments of a server tool for those of a call"
    if name == "JSONDecodeError":
        return "their reader takes [DONE] under an event name for JSON"
    return "they take a list as content for text" if name == "TypeError" and "list found" in said else UNKNOWN


def _items(them: list[dict[str, Any]], us: list[dict[str, Any]]) -> set[str]:
    """Why the items differ."""
    if len(them) == len(us):
        return {_item(*pair) for pair in zip(them, us, strict=True)}
    if them == [item for item in us if item.get("text") != ""]:
        return {"they leave out a text without any character"}
    if us == [item for at, item in enumerate(them) if item not in them[:at]]:
        return {"they begin a call with each name, also where it is only repeated"}
    if not them and [item["type"] for item in us] == ["tool_call.done"]:
        return {"they read no block in message_start"}
    texts = ["".join(item["thinking"] for item in items if item["type"] == "thinking.done") for items in (them, us)]
    return {"they join the thinking around executed_tools" if texts[0] == texts[1] != "" else UNKNOWN}


def _item(them: Any, us: Any) -> str:
    """Why an item differs: in its state, or there is no known cause."""
    if them == us:
        return EQUAL
    state, known = us.get("fidelity", {}), them.get("fidelity", {})
    if {**us, "fidelity": None} != {**them, "fidelity": None}:
        return UNKNOWN
    if not known and "signature" in state:
        return "they drop the signature of reasoning_details"
    return "they name no member where there are reasoning_details" if [*state] == ["reasoning_field"] else UNKNOWN


def _reason(them: str, us: str) -> str:
    return "a stop behind tool_calls replaces it for them" if (them, us) == ("stop", "tool_call") else UNKNOWN


def _counts(kind: str, them: dict[str, Any], us: dict[str, Any]) -> str:
    """Why the counts differ."""
    if kind == "anthropic-official":
        return "they read but the output tokens of message_delta"
    if {**them, "response_tokens": None} == {**us, "response_tokens": None}:
        shift = us["response_tokens"] - them["response_tokens"]
        return "they subtract reasoning that is not in the completion" if shift == us["thoughts_tokens"] else UNKNOWN
    lacking = {name for name, count in them.items() if count != us[name]}
    if lacking <= {"cached_tokens", "thoughts_tokens"} and all(them[name] is None for name in lacking):
        return "they read cached and reasoning tokens in the details alone"
    return UNKNOWN


def table(kind: str, paths: Iterable[Path]) -> dict[str, list[str]]:
    """Cause → the names of the recordings that differ by it, of one client."""

    async def all_of_them() -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for path in paths:
            for cause in await compared(kind, path.read_bytes()):
                found[cause].append(path.stem)
        return found

    return asyncio.run(all_of_them())


def main(folder: str) -> int:
    """Print the tables; how many differences have no known cause."""
    unknown = 0
    for kind, (codec, _) in CLIENTS.items():
        paths = sorted(Path(folder, codec).glob("*.sse"))
        found = table(kind, paths)
        print(f"{kind}: {len(found.pop(EQUAL, []))} of {len(paths)} equal")
        for cause, names in sorted(found.items(), key=lambda row: -len(row[1])):
            print(f"  {len(names):3} {cause}", *names, sep="\n        ")
        unknown += len(found.get(UNKNOWN, []))
    return unknown


if __name__ == "__main__":
    sys.exit(1 if main(*sys.argv[1:]) else 0)
