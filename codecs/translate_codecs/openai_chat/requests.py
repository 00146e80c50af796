"""Requests of Chat Completions: the body of ``POST /v1/chat/completions``.

1. Messages stand where the source has them, but for results, which come first in their step.
2. ``max_completion_tokens``, or ``max_tokens`` where the profile says so. At most four ``stop``.
3. ``strict`` is passed on only with a closed schema; nothing is asked for that the source did not ask for.
4. A word of somebody else's dialect is kept, and written to this format alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from translate.algebra.events import JsonObject
from translate.messages.asking import said_effort, strictly, without_prefill
from translate.messages.capability import Reading, Requests, Writing
from translate.messages.members import Members, wrong
from translate.messages.nodes import Choice, Format, Request, Setting, Thinking, Tool
from translate.messages.profiles import Profile
from translate.messages.reasons import why
from translate.messages.settings import SAMPLED, SETTINGS, read_settings
from translate.messages.telling import LossClass

from .conversation import read_message, write_conversation
from .words import NAME

SIMPLE: Final = {
    "max_completion_tokens": "max_tokens",
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "random_seed": "seed",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "logit_bias": "logit_bias",
    "logprobs": "logprobs",
    "top_logprobs": "top_logprobs",
    "n": "candidates",
    "user": "user",
    "metadata": "metadata",
    "verbosity": "verbosity",
    "modalities": "modalities",
}
"""Member → setting; of two for one, the first is written."""
_MEMBERS: Final = {name: member for member, name in reversed(SIMPLE.items())}
SERVICES: Final = {"priority": "fast"}
MODES: Final = ("auto", "required", "none")
MODALITIES: Final = ("text", "audio")
MANY: Final = 4
"""``stop`` at most."""
CACHING: Final = ("prompt_cache_key", "prompt_cache_retention", "prompt_cache_options")
_KEPT: Final = {"stream_options", "audio", "functions", "function_call"}


class ChatRequests(Requests):
    """The requests of Chat Completions."""

    profiles: ClassVar[Mapping[str, Profile]] = {
        "openai-chat": Profile(
            id_max=40,
            prefill=False,
            max_tokens_name="max_completion_tokens",
            sampling=("temperature", "top_p", "seed", "presence_penalty", "frequency_penalty"),
        ),
        "openai-compatible": Profile(
            id_max=40,
            system_role="system",
            max_tokens_name="max_tokens",
            sampling=("temperature", "top_p", "seed", "presence_penalty", "frequency_penalty"),
            strict_unknown=False,
            strict_tools=False,
        ),
    }
    classes: ClassVar[Mapping[str, LossClass]] = {
        "service_tier": "tuning",
        "reasoning": "tuning",
        "thinking": "tuning",
        "prediction": "tuning",
        "audio": "control",
        "web_search_options": "control",
        "prompt_cache_breakpoint": "tuning",
        "detail": "tuning",
    }

    def decode(self, document: JsonObject, reading: Reading) -> Request:
        members = Members(document, "")
        request = Request(members.take("model", str), members.take("stream", bool), source=NAME)
        request.turns = [read_message(message, reading) for message in members.entries("messages")]
        request.settings = read_settings(members, SIMPLE)
        _read_words(members, request)
        request.tools = [_tool(tool) for tool in members.entries("tools")]
        request.tools += [_function(tool, tool.path) for tool in members.entries("functions")]
        request.choice = _choice(members)
        if request.choice is not None and request.choice.path == "function_call":
            reading.telling.repair("function_call", "tool_choice", why("older", "tool_choice"))
        if (form := members.inner("response_format")) is not None:
            request.format = _format(form)
        if (effort := members.take("reasoning_effort", str)) is not None:
            request.thinking = Thinking(effort=effort, paths={"effort": "reasoning_effort"})
            if effort == "none":
                request.thinking.mode = "off"
        options = members.left.pop("stream_options", None)
        request.counts = isinstance(options, dict) and options.get("include_usage") is True
        request.residue = members.rest(NAME)
        return request

    def encode(self, request: Request, writing: Writing) -> JsonObject:
        out: JsonObject = {"model": request.model or "unknown"}
        out["messages"] = write_conversation(without_prefill(request, writing), writing)
        offered = _write_tools(request, out, writing)
        _write_choice(request.choice, offered, out, writing)
        _write_settings(request.settings, out, writing)
        _write_thinking(request.thinking, out, writing)
        _write_format(request.format, out, writing)
        if request.stream is not None:
            out["stream"] = request.stream
        if request.stream and request.counts:
            # without, a stream ends and nobody knows what it took
            out["stream_options"] = {"include_usage": True}
        writing.rest(request, out)
        return out


# ---- reading ---------------------------------------------------------------------------------------------


def _read_words(members: Members, request: Request) -> None:
    settings = request.settings
    stop = members.take("stop")
    if isinstance(stop, (str, list)):
        settings["stop"] = Setting([stop] if isinstance(stop, str) else stop, "stop")
    elif stop is not None:
        raise wrong("stop", "it is of another type", "text or a list of texts")
    if members.left.get("service_tier") in SERVICES:
        settings["service"] = Setting(SERVICES[members.take("service_tier", str) or ""], "service_tier")
    caching = {name: members.take(name) for name in CACHING if members.left.get(name) is not None}
    if caching:
        settings["caching"] = Setting(caching, next(iter(caching)))


def _tool(tool: Members) -> Tool:
    type = tool.left.get("type")
    if type in (None, "function") and isinstance(tool.left.get("function"), dict):
        tool.take("type")
        inner = Members(tool.take("function"), tool.at("function"))
        out = _function(inner, tool.path)
        out.cache = tool.take("cache_control", dict)
    elif type == "custom" and isinstance(tool.left.get("custom"), dict):
        tool.take("type")
        inner = Members(tool.take("custom"), tool.at("custom"))
        out = Tool("custom", inner.must("name", str), inner.take("description", str), path=tool.path)
        out.residue = inner.rest(NAME)
    else:
        return Tool("server", unit=tool.left, path=tool.path)
    beside = tool.rest(NAME)
    if beside is not None:
        out.residue = {NAME: {**(out.residue or {}).get(NAME, {}), **beside[NAME]}}
    return out


def _function(inner: Members, path: str) -> Tool:
    out = Tool("function", inner.must("name", str), inner.take("description", str), path=path)
    out.schema = inner.take("parameters", dict)
    out.strict = inner.take("strict", bool)
    out.residue = inner.rest(NAME)
    return out


def _choice(members: Members) -> Choice | None:
    choice = members.take("tool_choice")
    path = "tool_choice"
    if choice is None:
        choice, path = members.take("function_call"), "function_call"
    parallel = members.take("parallel_tool_calls", bool)
    if choice is None and parallel is None:
        return None
    out = Choice(parallel=parallel, path=path if choice is not None else "parallel_tool_calls")
    if isinstance(choice, str):
        out.mode = choice
    elif isinstance(choice, dict):
        _named(choice, out)
    elif choice is not None:
        raise wrong(path, "it is of another type", "a word or an object")
    return out


def _named(choice: JsonObject, out: Choice) -> None:
    allowed = choice.get("allowed_tools")
    if isinstance(allowed, dict):
        out.mode, out.force = "allowed", allowed.get("mode") == "required"
        tools = allowed.get("tools")
        entries = tools if isinstance(tools, list) else []
        out.names = [name for entry in entries if isinstance(entry, dict) and (name := _name(entry)) is not None]
    elif (name := _name(choice)) is not None:
        out.mode, out.names = "tool", [name]
    else:
        out.mode = str(choice.get("type"))
        out.residue = {NAME: {"tool_choice": choice}}


def _name(choice: JsonObject) -> str | None:
    for key in ("function", "custom"):
        inner = choice.get(key)
        if isinstance(inner, dict) and isinstance(inner.get("name"), str):
            return str(inner["name"])
    return choice["name"] if isinstance(choice.get("name"), str) else None


def _format(form: Members) -> Format:
    out = Format(form.must("type", str), path=form.path)
    inner = form.inner("json_schema")
    if inner is not None:
        out.name, out.description = inner.take("name", str), inner.take("description", str)
        out.schema, out.strict = inner.take("schema", dict), inner.take("strict", bool)
        form.put_back("json_schema", inner)
        out.path = inner.path
    out.residue = form.rest(NAME)
    return out


# ---- writing ---------------------------------------------------------------------------------------------


def _write_tools(request: Request, out: JsonObject, writing: Writing) -> dict[str, str]:
    """The kinds of the tools that are offered, by their names."""
    offered: dict[str, str] = {}
    tools: list[JsonObject] = []
    for tool in request.tools:
        if tool.kind == "server":
            tools += writing.server_tool(tool)
            continue
        tools.append(_write_tool(tool, writing))
        offered[tool.name or ""] = tool.kind
    if tools:
        out["tools"] = tools
    return offered


def _write_tool(tool: Tool, writing: Writing) -> JsonObject:
    inner: JsonObject = {"name": writing.name(tool.name)}
    if tool.description is not None:
        inner["description"] = tool.description
    if tool.kind == "function" and tool.schema is not None:
        inner["parameters"] = tool.schema
    if tool.strict is not None and tool.kind == "function":
        inner["strict"] = strictly(tool.strict, tool.schema, tool.path, writing)
        if inner["strict"] is None:
            del inner["strict"]
    writing.tool_rest(tool, inner, says=("strict",))
    return {"type": tool.kind, tool.kind: inner}


def _write_choice(choice: Choice | None, offered: dict[str, str], out: JsonObject, writing: Writing) -> None:
    if choice is None:
        return
    if not out.get("tools"):
        writing.lost("incidental", choice.path, "tool_choice", "no tools")
        return
    said: Any = None
    mode, names = choice.mode, choice.names
    if mode in MODES:
        said = mode
    elif mode == "tool" and names and names[0] in offered:
        said = _by_name(names[0], offered, writing)
    elif mode == "allowed":
        tools = [_by_name(name, offered, writing) for name in names if name in offered]
        if len(tools) < len(names):
            writing.lost("control", choice.path, "tool_choice", "choice lost", "tools")
        if tools:
            said = {"mode": "required" if choice.force else "auto", "tools": tools}
            said = {"type": "allowed_tools", "allowed_tools": said}
    elif mode == "tool":
        writing.lost("control", choice.path, "tool_choice", "choice lost", repr(names[0] if names else ""))
    elif mode is not None and writing.home:
        said = (choice.residue or {}).get(NAME, {}).get("tool_choice", mode)
    elif mode is not None:
        writing.lost("control", choice.path, "tool_choice", "choice", repr(mode))
    if not writing.home:
        writing.rest(choice)
    if said is not None:
        out["tool_choice"] = said
    if choice.parallel is not None:
        out["parallel_tool_calls"] = choice.parallel


def _by_name(name: str, offered: dict[str, str], writing: Writing) -> JsonObject:
    return {"type": offered[name], offered[name]: {"name": writing.name(name)}}


def _write_settings(settings: dict[str, Setting], out: JsonObject, writing: Writing) -> None:
    profile = writing.profile
    for name, setting in settings.items():
        value = setting.value
        if name == "max_tokens":
            out[profile.max_tokens_name or "max_completion_tokens"] = value
        elif name == "stop":
            if len(value) > MANY and not writing.home:
                writing.lost("control", setting.path, "stop", "few", "four words to stop at")
                value = value[:MANY]
            out["stop"] = value
        elif name == "service" and value == "fast":
            out["service_tier"] = "priority"
        elif name == "caching" and isinstance(value, dict) and value.keys() <= {*CACHING} and profile.strict_unknown:
            out |= value
        elif name in SAMPLED and name not in profile.sampling:
            writing.lost("tuning", setting.path, name, "setting", name)
        elif name == "modalities":
            known = [word.lower() for word in value if isinstance(word, str) and word.lower() in MODALITIES]
            if len(known) < len(value) and not writing.home:
                writing.lost("tuning", setting.path, name, "value", repr(value))
            if writing.home:
                out[name] = value
            elif known == ["text"]:
                writing.lost("incidental", setting.path, name, "usual")
            elif known:
                out[name] = known
        elif name in _MEMBERS:
            out[_MEMBERS[name]] = value
        else:
            writing.lost(SETTINGS[name].loss, setting.path, name, "setting", name)


def _write_thinking(asked: Thinking | None, out: JsonObject, writing: Writing) -> None:
    if asked is None:
        return
    if (effort := said_effort(asked, writing)) is not None:
        out["reasoning_effort"] = effort
    if asked.show is not None:
        writing.lost("tuning", asked.paths.get("show", ""), "show", "setting", "show")
    writing.rest(asked, None, "thinking")


def _write_format(form: Format | None, out: JsonObject, writing: Writing) -> None:
    if form is None:
        return
    said: JsonObject = {"type": form.type}
    if form.type == "json_schema":
        if form.name is None:
            writing.guess(form.path, "name", "default", "output")
        inner: JsonObject = {"name": form.name or "output"}
        if form.description is not None:
            inner["description"] = form.description
        inner["schema"] = form.schema if form.schema is not None else {"type": "object"}
        strict = strictly(form.strict, form.schema, form.path, writing)
        if strict is not None:
            inner["strict"] = strict
        said["json_schema"] = inner
    elif form.type not in ("json_object", "text") and not writing.home:
        writing.lost("control", form.path, "format", "setting", form.type)
        return
    writing.rest(form, said)
    out["response_format"] = said
