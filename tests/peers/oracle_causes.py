"""Why ``mmsp``'s clients for Responses and Gemini make another message of a recording than we do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

Items: TypeAlias = Sequence[dict[str, Any]]
UNKNOWN: Final = "of no known cause"
MADE: Final = "made_"
IDS: Final = "they name a call without an id by its function"
ARGUMENTS: Final = "they take a call whose arguments come with its item alone for one without any"


def without(item: dict[str, Any], *names: str) -> dict[str, Any]:
    """An item but for some members."""
    return {name: value for name, value in item.items() if name not in names}


def raised(them: Exception) -> str | None:
    """Why they made no message, where it is of these clients alone."""
    name, said = type(them).__name__, str(them)
    if name == "ToolCallArgumentParseError" and "{}" in said:
        return "they take each piece of arguments by paths for whole arguments"
    if name == "ValidationError" and "base64" in said:
        return "their library refuses a signature that is no base64"
    return "their library reads a bare body of several lines as none" if name == "UnknownApiResponseError" else None


def items(them: Items, us: Items) -> set[str]:
    """Why the items differ."""
    causes: set[str] = set()
    if us and "inline_data.done" in {item["type"] for item in us} - {item["type"] for item in them}:
        causes.add("they drop what an image tool of the server made")
        us = [item for item in us if item["type"] != "inline_data.done"]
    bare = [item for item in us if not (item["type"] == "thinking.done" and item["thinking"] == "")]
    if len(bare) != len(us) and len(them) != len(us):
        causes.add("they leave out reasoning without text")
        us = bare
    if len(them) != len(us):
        return causes | {_joined(them, us)}
    return causes.union(*map(_item, them, us)) if them else causes


def _joined(them: Items, us: Items) -> str:
    texts = ["".join(item.get("text", "") for item in items) for items in (them, us)]
    if texts[0] == texts[1] != "":
        more = len(them) > len(us)
        return "they begin an item with each new id" if more else "they join the text around a tool of the server"
    if not them and {item["type"] for item in us} == {"tool_call.done"}:
        return "they read no call of a custom tool, of a shell or of a patch"
    return "they read no refusal" if not them and [item["type"] for item in us] == ["text.done"] else UNKNOWN


def _item(them: dict[str, Any], us: dict[str, Any]) -> set[str]:
    causes = set()
    id = us.get("tool_call_id", "")
    if id.startswith(MADE) and them.get("tool_call_id") == us.get("name"):
        causes.add(IDS)
    elif id != them.get("tool_call_id", ""):
        return {UNKNOWN}
    if without(them, "fidelity", "tool_call_id") != without(us, "fidelity", "tool_call_id"):
        same = without(them, "fidelity", "tool_call_id", "arguments") == without(
            us, "fidelity", "tool_call_id", "arguments"
        )
        return causes | {ARGUMENTS if same and them.get("arguments") == {} else UNKNOWN}
    theirs, ours = them.get("fidelity") or {}, us.get("fidelity") or {}
    if theirs == ours:
        return causes
    if _signature(theirs) == _signature(ours) is not None:
        return causes | {"they spell a signature in the other alphabet of base64"}
    if without(theirs, "channel") == without(ours, "reasoning_id", "channel"):
        return causes | {"they name the channel of reasoning, and we the id of its item"}
    return causes | {UNKNOWN}


_PLAIN: Final = str.maketrans("-_", "+/")


def _signature(fidelity: dict[str, Any]) -> str | None:
    found = fidelity.get("signature")
    return found.translate(_PLAIN) if isinstance(found, str) else None


def reason(them: str, us: str) -> str:
    """Why the reasons differ."""
    return "they say of a stop behind a call that it is for calls" if (them, us) == ("tool_call", "stop") else UNKNOWN


def counts(them: dict[str, Any], us: dict[str, Any]) -> str:
    """Why the counts differ."""
    lacking = {name for name, count in them.items() if count != us[name]}
    if lacking == {"prompt_tokens"} and them["prompt_tokens"] < us["prompt_tokens"]:
        return "they count no prompt of the server's tools"
    if lacking == {"response_tokens"} and us["response_tokens"] == 0:
        return "they keep a count that the last chunk leaves out, or have none"
    return UNKNOWN
