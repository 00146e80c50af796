"""Requests of OpenAI Responses: the body of ``POST /v1/responses``.

1. One text of instructions at the head is ``instructions``; more are items.
2. A server is asked to store nothing and to give its state, unless the client spoke this format itself.
3. What only the server has stored (``previous_response_id``, ``item_reference``) can be asked of nobody else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from translate.algebra.events import JsonObject
from translate.messages.asking import said_effort, strictly, without_prefill
from translate.messages.capability import Reading, Requests, Writing
from translate.messages.members import Members, wrong
from translate.messages.nodes import Choice, Format, Part, Request, Setting, Thinking, Tool, Turn
from translate.messages.profiles import Profile
from translate.messages.settings import SETTINGS, read_settings
from translate.messages.steps import head_and_body
from translate.messages.telling import LossClass

from .conversation import read_input, write_items, write_turn
from .words import ISSUER, NAME

SIMPLE: Final = {
    "max_output_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_logprobs": "top_logprobs",
    "user": "user",
    "metadata": "metadata",
}
"""Member → setting."""
_MEMBERS: Final = {name: member for member, name in SIMPLE.items()}
SERVICES: Final = {"priority": "fast"}
MODES: Final = ("auto", "required", "none")
CACHING: Final = ("prompt_cache_key", "prompt_cache_retention", "prompt_cache_options")
STORED: Final = ("previous_response_id", "conversation", "background", "prompt")
SHOWN: Final = ("auto", "concise", "detailed")
_ENCRYPTED: Final = "reasoning.encrypted_content"


class ResponsesRequests(Requests):
    """The requests of OpenAI Responses."""

    listed = "input"
    profiles: ClassVar[Mapping[str, Profile]] = {
        "openai-responses": Profile(
            issuer=ISSUER,
            id_max=64,
            prefill=False,
            sampling=("temperature", "top_p"),
        )
    }
    classes: ClassVar[Mapping[str, LossClass]] = {
        "service_tier": "tuning",
        "reasoning": "tuning",
        "text": "tuning",
        "detail": "tuning",
        "prompt_cache_breakpoint": "tuning",
        "max_tool_calls": "control",
        "defer_loading": "tuning",
    }

    def decode(self, document: JsonObject, reading: Reading) -> Request:
        members = Members(document, "")
        request = Request(members.take("model", str), members.take("stream", bool), source=NAME)
        if (text := members.take("instructions", str)) is not None:
            request.turns.append(Turn("system", [Part("text", text, path="instructions")], path="instructions"))
        request.turns += read_input(members.take("input"), reading)
        request.settings = read_settings(members, SIMPLE)
        if members.left.get("service_tier") in SERVICES:
            request.settings["service"] = Setting(SERVICES[members.must("service_tier", str)], "service_tier")
        caching = {name: members.take(name) for name in CACHING if members.left.get(name) is not None}
        if caching:
            request.settings["caching"] = Setting(caching, next(iter(caching)))
        request.tools = [_tool(tool) for tool in members.entries("tools")]
        request.choice = _choice(members)
        _read_text(members, request)
        _read_reasoning(members, request)
        for key in ("store", "stream_options"):
            members.left.pop(key, None)
        request.residue = members.rest(NAME)
        return request

    def encode(self, request: Request, writing: Writing) -> JsonObject:
        out: JsonObject = {"model": request.model or "unknown"}
        head, body = head_and_body(without_prefill(request, writing), writing)
        items: list[JsonObject] = []
        alone = head[0].parts if len(head) == 1 else []
        if len(alone) == 1 and alone[0].kind == "text" and alone[0].data:
            out["instructions"] = alone[0].data
            writing.part_rest(alone[0])
            writing.rest(head[0])
            if head[0].role == "developer":
                writing.repair(head[0].path, "role", "role", "developer")
        else:
            items = [item for turn in head for item in write_turn(turn, writing)]
        out["input"] = items + write_items(body, writing)
        _write_tools(request, out, writing)
        _write_choice(request.choice, request, out, writing)
        _write_settings(request.settings, out, writing)
        _write_reasoning(request.thinking, out, writing)
        _write_format(request.format, out, writing)
        if request.stream is not None:
            out["stream"] = request.stream
        if not writing.home:
            out["store"] = False
            out["include"] = [_ENCRYPTED]
        writing.rest(request, out)
        return out

    def stored(self, document: JsonObject) -> str | None:
        found = next((key for key in STORED if document.get(key)), None)
        items = document.get("input")
        if found is None and isinstance(items, list):
            refers = (i for i, item in enumerate(items) if isinstance(item, dict))
            found = next((f"input[{i}]" for i in refers if items[i].get("type") == "item_reference"), None)
        return found


# ---- reading ---------------------------------------------------------------------------------------------


def _tool(tool: Members) -> Tool:
    type = tool.left.get("type")
    if type not in ("function", "custom"):
        return Tool("server", tool.left.get("name"), unit=tool.left, path=tool.path)
    tool.take("type")
    out = Tool(type, tool.must("name", str), tool.take("description", str), path=tool.path)
    if type == "function":
        out.schema, out.strict = tool.take("parameters", dict), tool.take("strict", bool)
    out.residue = tool.rest(NAME)
    return out


def _choice(members: Members) -> Choice | None:
    choice = members.take("tool_choice")
    parallel = members.take("parallel_tool_calls", bool)
    if choice is None and parallel is None:
        return None
    out = Choice(parallel=parallel, path="tool_choice" if choice is not None else "parallel_tool_calls")
    if isinstance(choice, str):
        out.mode = choice
    elif isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        out.mode, out.force = "allowed", choice.get("mode") == "required"
        tools = choice.get("tools")
        entries = tools if isinstance(tools, list) else []
        out.names = [str(entry["name"]) for entry in entries if isinstance(entry, dict) and "name" in entry]
    elif isinstance(choice, dict) and choice.get("type") in ("function", "custom") and "name" in choice:
        out.mode, out.names = "tool", [str(choice["name"])]
    elif isinstance(choice, dict):
        out.mode = str(choice.get("type"))
        out.residue = {NAME: {"tool_choice": choice}}
    elif choice is not None:
        raise wrong("tool_choice", "it is of another type", "a word or an object")
    return out


def _read_text(members: Members, request: Request) -> None:
    text = members.inner("text")
    if text is None:
        return
    if (verbosity := text.maybe("verbosity", str)) is not None:
        request.settings["verbosity"] = Setting(verbosity, "text.verbosity")
    form = text.inner("format")
    if form is not None:
        out = Format(form.must("type", str), path="text.format")
        out.name, out.description = form.take("name", str), form.take("description", str)
        out.schema, out.strict = form.take("schema", dict), form.take("strict", bool)
        out.residue = form.rest(NAME)
        request.format = out
    members.put_back("text", text)


def _read_reasoning(members: Members, request: Request) -> None:
    asked = members.inner("reasoning")
    if asked is None:
        return
    out = Thinking(paths={"effort": "reasoning.effort", "show": "reasoning.summary"})
    out.effort = asked.maybe("effort", str)
    out.show = asked.maybe("summary", str)
    if out.effort == "none":
        out.mode = "off"
    if out != Thinking():
        request.thinking = out
    members.put_back("reasoning", asked)


# ---- writing ---------------------------------------------------------------------------------------------


def _write_tools(request: Request, out: JsonObject, writing: Writing) -> None:
    tools: list[JsonObject] = []
    for tool in request.tools:
        if tool.kind == "server":
            tools += writing.server_tool(tool)
            continue
        said: JsonObject = {"type": tool.kind, "name": writing.name(tool.name)}
        if tool.description is not None:
            said["description"] = tool.description
        if tool.kind == "function":
            said["parameters"] = tool.schema if tool.schema is not None else {"type": "object"}
            # where nothing is said, this format is strict, and all others are not
            said["strict"] = strictly(tool.strict, tool.schema, tool.path, writing) or False
        writing.tool_rest(tool, said, says=("strict",))
        tools.append(said)
    if tools:
        out["tools"] = tools


def _write_choice(choice: Choice | None, request: Request, out: JsonObject, writing: Writing) -> None:
    if choice is None:
        return
    if not out.get("tools"):
        writing.lost("incidental", choice.path, "tool_choice", "no tools")
        return
    kinds = {tool.name: tool.kind for tool in request.tools if tool.kind != "server"}
    named = [{"type": kinds[name], "name": writing.name(name)} for name in choice.names if name in kinds]
    said: Any = None
    if choice.mode in MODES:
        said = choice.mode
    elif choice.mode in ("tool", "allowed"):
        if len(named) < max(1, len(choice.names)):
            writing.lost("control", choice.path, "tool_choice", "choice lost", repr(choice.names))
        if named and choice.mode == "tool":
            said = named[0]
        elif named:
            said = {"type": "allowed_tools", "mode": "required" if choice.force else "auto", "tools": named}
    elif choice.mode is not None and writing.home:
        said = (choice.residue or {}).get(NAME, {}).get("tool_choice", choice.mode)
    elif choice.mode is not None:
        writing.lost("control", choice.path, "tool_choice", "choice", repr(choice.mode))
    if not writing.home:
        writing.rest(choice)
    if said is not None:
        out["tool_choice"] = said
    if choice.parallel is not None:
        out["parallel_tool_calls"] = choice.parallel


def _write_settings(settings: dict[str, Setting], out: JsonObject, writing: Writing) -> None:
    for name, setting in settings.items():
        value = setting.value
        if name == "service" and value == "fast":
            out["service_tier"] = "priority"
        elif name == "verbosity":
            out["text"] = {"verbosity": value}
        elif name == "caching" and isinstance(value, dict) and value.keys() <= {*CACHING}:
            out |= value
        elif name in ("temperature", "top_p") and name not in writing.profile.sampling:
            writing.lost("tuning", setting.path, name, "setting", name)
        elif name in _MEMBERS:
            out[_MEMBERS[name]] = value
        elif not (name == "candidates" and value == 1):
            writing.lost(SETTINGS[name].loss, setting.path, name, "setting", name)


def _write_reasoning(asked: Thinking | None, out: JsonObject, writing: Writing) -> None:
    if asked is None:
        return
    said: JsonObject = {}
    if (effort := said_effort(asked, writing)) is not None:
        said["effort"] = effort
    if asked.show in SHOWN or (asked.show not in (None, "none") and writing.home):
        said["summary"] = asked.show
    elif asked.show is not None and asked.show != "none":
        writing.lost("tuning", asked.paths.get("show", ""), "show", "value", repr(asked.show))
    writing.rest(asked, said, "thinking")
    if said:
        out["reasoning"] = said


def _write_format(form: Format | None, out: JsonObject, writing: Writing) -> None:
    if form is None:
        return
    said: JsonObject = {"type": form.type}
    if form.type == "json_schema":
        if form.name is None:
            writing.guess(form.path, "name", "default", "output")
        said["name"] = form.name or "output"
        if form.description is not None:
            said["description"] = form.description
        said["schema"] = form.schema if form.schema is not None else {"type": "object"}
        if (strict := strictly(form.strict, form.schema, form.path, writing)) is not None:
            said["strict"] = strict
    elif form.type not in ("json_object", "text") and not writing.home:
        writing.lost("control", form.path, "format", "setting", form.type)
        return
    writing.rest(form, said)
    out["text"] = {"format": said, **out.get("text", {})}
