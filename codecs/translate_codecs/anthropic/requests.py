"""Requests of Anthropic Messages: the body of ``POST /v1/messages``.

1. ``max_tokens`` is demanded.
2. Efforts go with ``adaptive`` thinking, budgets with ``enabled``; a budget is below ``max_tokens``.
3. Tools of the provider's side stay home; of tools among which a choice is allowed, only those are offered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from translate.algebra.events import JsonObject
from translate.messages.capability import Reading, Requests, Writing
from translate.messages.effort import BUDGETS, nearest
from translate.messages.members import Members
from translate.messages.nodes import Choice, Format, Request, Setting, Thinking, Tool, Turn
from translate.messages.profiles import Profile
from translate.messages.settings import SAMPLED, SETTINGS, read_settings
from translate.messages.steps import head_and_body
from translate.messages.telling import LossClass
from translate.messages.tools import FREE_SCHEMA

from .content import IDS, read_content
from .conversation import read_turn, write_messages, write_system
from .words import NAME

SIMPLE: Final = {
    "max_tokens": "max_tokens",
    "stop_sequences": "stop",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
}
"""Member → setting."""
EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
STYLES: Final = {"disabled": "off", "adaptive": "auto", "enabled": "on", "between_tools": "between_tools"}
"""Type of thinking → mode."""
_TYPES: Final = {mode: style for style, mode in STYLES.items()}
MODES: Final = {"auto": "auto", "any": "required", "none": "none", "tool": "tool"}
"""Type of a choice → mode."""
_CHOICES: Final = {mode: type for type, mode in MODES.items()}
SHOWN: Final = {"summarized": "auto", "omitted": "none"}
"""Display of thinking → how it is shown."""
_DISPLAYS: Final = {"auto": "summarized", "concise": "summarized", "detailed": "summarized", "none": "omitted"}


class AnthropicRequests(Requests):
    """The requests of Anthropic Messages."""

    profiles: ClassVar[Mapping[str, Profile]] = {
        "anthropic": Profile(
            issuer="anthropic",
            id_max=64,
            name_max=128,
            system_role="system",
            efforts=EFFORTS,
            thinking_styles=("adaptive", "enabled", "disabled", "between_tools"),
            sampling=("temperature", "top_p", "top_k"),
        )
    }
    charset = IDS
    classes: ClassVar[Mapping[str, LossClass]] = {
        "service_tier": "tuning",
        "speed": "tuning",
        "container": "control",
        "mcp_servers": "control",
        "context_management": "tuning",
        "inference_geo": "tuning",
        "cache_control": "tuning",
        "task_budget": "tuning",
        "allowed_callers": "control",
        "defer_loading": "tuning",
    }

    def decode(self, document: JsonObject, reading: Reading) -> Request:
        members = Members(document, "")
        request = Request(members.take("model", str), members.take("stream", bool), source=NAME)
        if (system := members.take("system")) is not None:
            request.turns.append(Turn("system", read_content(system, "system", reading), path="system"))
        for message in members.entries("messages"):
            request.turns.append(read_turn(message, reading))
        request.settings = read_settings(members, SIMPLE)
        if (metadata := members.inner("metadata")) is not None:
            if (user := metadata.maybe("user_id", str)) is not None:
                request.settings["user"] = Setting(user, metadata.at("user_id"))
            members.put_back("metadata", metadata)
        if members.left.get("speed") == "fast":
            request.settings["service"] = Setting("fast", "speed")
            members.take("speed")
        request.tools = [_tool(tool) for tool in members.entries("tools")]
        request.choice = _choice(members)
        _thinking(members, request)
        request.residue = members.rest(NAME)
        return request

    def encode(self, request: Request, writing: Writing) -> JsonObject:
        out: JsonObject = {"model": request.model or "unknown"}
        settings = dict(request.settings)
        bound = settings.pop("max_tokens", None)
        if bound is None:
            default = writing.profile.max_tokens_default
            if not writing.in_list:
                writing.guess("", "max_tokens", "default", str(default))
            bound = Setting(default)
        out["max_tokens"] = bound.value
        head, body = head_and_body(request.turns, writing)
        write_system(head, out, writing)
        out["messages"] = write_messages(body, writing)
        offered = _write_tools(request, out, writing)
        _write_choice(request.choice, offered, out, writing)
        _write_thinking(request, out, writing)
        _write_settings(settings, out, writing)
        if request.stream is not None:
            out["stream"] = request.stream
        writing.rest(request, out)
        return out


# ---- reading ---------------------------------------------------------------------------------------------


def _tool(tool: Members) -> Tool:
    type = tool.left.get("type")
    if type not in (None, "custom"):
        return Tool("server", tool.left.get("name"), unit=tool.left, path=tool.path)
    tool.take("type")
    out = Tool("function", tool.must("name", str), tool.take("description", str), path=tool.path)
    out.schema = tool.take("input_schema", dict)
    out.strict = tool.take("strict", bool)
    out.cache = tool.take("cache_control", dict)
    out.residue = tool.rest(NAME)
    return out


def _choice(members: Members) -> Choice | None:
    choice = members.inner("tool_choice")
    if choice is None:
        return None
    type = choice.must("type", str)
    out = Choice(MODES.get(type, type), path="tool_choice")
    if (name := choice.take("name", str)) is not None:
        out.names = [name]
    single = choice.take("disable_parallel_tool_use", bool)
    out.parallel = None if single is None else not single
    out.residue = choice.rest(NAME)
    return out


def _thinking(members: Members, request: Request) -> None:
    out = Thinking()
    if (asked := members.inner("thinking")) is not None:
        type = asked.must("type", str)
        if type not in STYLES:
            members.left["thinking"] = {"type": type, **asked.left}
        else:
            out.mode = STYLES[type]  # type: ignore[assignment]
            out.budget = asked.take("budget_tokens", int)
            display = asked.take("display", str)
            out.show = SHOWN.get(display or "", display)
            out.paths = {"mode": "thinking", "budget": "thinking.budget_tokens", "show": "thinking.display"}
            members.put_back("thinking", asked)
    if (config := members.inner("output_config")) is not None:
        out.effort = config.take("effort", str)
        out.paths["effort"] = "output_config.effort"
        form = config.inner("format")
        if form is not None:
            request.format = _format(form)
        members.put_back("output_config", config)
    if request.format is None and (form := members.inner("output_format")) is not None:
        request.format = _format(form)
    if out != Thinking():
        request.thinking = out


def _format(form: Members) -> Format:
    out = Format(form.must("type", str), schema=form.take("schema", dict), path=form.path)
    out.residue = form.rest(NAME)
    return out


# ---- writing ---------------------------------------------------------------------------------------------


def _write_tools(request: Request, out: JsonObject, writing: Writing) -> list[str]:
    """The names of the tools that are offered."""
    tools: list[JsonObject] = []
    offered: list[str] = []
    choice = request.choice
    only = set(choice.names) if choice is not None and choice.mode == "allowed" else None
    for tool in request.tools:
        if tool.kind == "server":
            own = writing.server_tool(tool)
            tools += own
            offered += [tool.name or "" for _ in own]
            continue
        if only is not None and tool.name not in only:
            writing.lost("control", tool.path, "tool", "choice", "this tool is not among those allowed")
            continue
        tools.append(_write_tool(tool, writing))
        offered.append(tool.name or "")
    if tools:
        out["tools"] = tools
    return offered


def _write_tool(tool: Tool, writing: Writing) -> JsonObject:
    said: JsonObject = {"name": writing.name(tool.name)}
    if tool.description is not None:
        said["description"] = tool.description
    said["input_schema"] = FREE_SCHEMA if tool.kind == "custom" else tool.schema or {"type": "object"}
    if tool.strict is not None:
        said["strict"] = tool.strict
    if tool.cache:
        said["cache_control"] = tool.cache
    writing.rest(tool, said)
    return said


def _write_choice(choice: Choice | None, offered: list[str], out: JsonObject, writing: Writing) -> None:
    if choice is None:
        return
    if not offered:
        writing.lost("incidental", choice.path, "tool_choice", "no tools")
        return
    said: JsonObject = {}
    mode = choice.mode
    if mode == "allowed":
        writing.repair(choice.path, "tool_choice", "only these")
        mode = "required" if choice.force else "auto"
    if mode == "tool":
        name = choice.names[0] if choice.names else ""
        if name not in offered:
            writing.lost("control", choice.path, "tool_choice", "choice lost", repr(name))
        else:
            said = {"type": "tool", "name": writing.name(name)}
    elif mode in _CHOICES:
        said = {"type": _CHOICES[mode]}
    elif mode is not None and writing.home:
        said = {"type": mode}
    elif mode is not None:
        writing.lost("control", choice.path, "tool_choice", "choice", repr(mode))
    if choice.parallel is False and said.get("type") != "none":
        said = {**(said or {"type": "auto"}), "disable_parallel_tool_use": True}
    writing.rest(choice, said)
    if said:
        out["tool_choice"] = said


def _write_thinking(request: Request, out: JsonObject, writing: Writing) -> None:
    config: JsonObject = {}
    asked = request.thinking
    if asked is not None:
        said, effort = _thinking_words(asked, out["max_tokens"], writing)
        if said and _may_think(request, said, writing):
            out["thinking"] = said
        if effort is not None:
            config["effort"] = effort
    form = request.format
    if form is not None and form.type == "json_schema":
        config["format"] = {"type": "json_schema", "schema": form.schema or {"type": "object"}}
        for name in ("name", "description", "strict"):
            if getattr(form, name) is not None:
                writing.lost("incidental", f"{form.path}.{name}", name, "member")
        writing.rest(form, config["format"])
    elif form is not None and form.type != "text":
        writing.lost("control", form.path, "format", "setting", form.type)
    if config:
        out["output_config"] = config


def _thinking_words(asked: Thinking, bound: Any, writing: Writing) -> tuple[JsonObject, str | None]:
    profile, paths = writing.profile, asked.paths
    effort, mode = asked.effort, asked.mode
    if effort == "none":
        mode, effort = "off", None
    if effort is not None:
        known = nearest(effort, profile.efforts)
        if known is None and not writing.home:
            writing.lost("tuning", paths.get("effort", ""), "effort", "value", repr(effort))
        elif known is not None and known != effort:
            writing.guess(paths.get("effort", ""), "effort", "effort", known)
        effort = known or (effort if writing.home else None)
    budget = asked.budget
    if mode is None and effort is not None and budget is None:
        mode = "auto"
    if effort is not None and "adaptive" not in profile.thinking_styles and "enabled" in profile.thinking_styles:
        mode, budget, effort = "on", budget or BUDGETS.get(effort, 0), None
        writing.guess(paths.get("effort", ""), "effort", "effort as budget", str(budget))
    if mode is None and budget is not None:
        mode = "on" if budget > 0 else "off" if budget == 0 else "auto"
    style = _TYPES.get(mode or "")
    if mode == "on" and budget is None:
        style = "adaptive"
    if style is None:
        return {}, effort
    if style not in profile.thinking_styles:
        kind, key = ("control", "thinking off") if mode == "off" else ("tuning", "value")
        writing.lost(kind, paths.get("mode", ""), "thinking", key, style)  # type: ignore[arg-type]
        return {}, effort
    said: JsonObject = {"type": style}
    if style == "enabled":
        most = bound - 1 if isinstance(bound, int) else budget
        said["budget_tokens"] = min(budget or 0, most or 0) if not writing.home else budget
    if asked.show is not None and style in ("adaptive", "enabled"):
        if asked.show in _DISPLAYS or writing.home:
            said["display"] = _DISPLAYS.get(asked.show, asked.show)
        else:
            writing.lost("tuning", paths.get("show", ""), "show", "value", repr(asked.show))
    writing.rest(asked, said, "thinking")
    return said, effort


def _may_think(request: Request, said: JsonObject, writing: Writing) -> bool:
    """A server that is to think goes on with a loop of calls only where it began with its own thinking."""
    if said.get("type") != "enabled" or writing.home or not request.turns or request.turns[-1].role == "assistant":
        return True
    last = next((turn for turn in reversed(request.turns) if turn.role == "assistant"), None)
    step = request.turns[request.turns.index(last) + 1 :] if last is not None else []
    if last is None or not any(part.kind == "tool_result" for turn in step for part in turn.parts):
        return True
    first = next((part for part in last.parts if part.kind == "thinking" or part.data), None)
    if first is not None and first.kind == "thinking" and writing.knows(first):
        return True
    paths = request.thinking.paths if request.thinking is not None else {}
    where = paths.get("mode") or paths.get("effort") or paths.get("budget") or ""
    writing.lost("control", where, "thinking", "thinking left out")
    return False


def _write_settings(settings: dict[str, Setting], out: JsonObject, writing: Writing) -> None:
    members = {name: member for member, name in SIMPLE.items()}
    for name, setting in settings.items():
        value = setting.value
        if name in SIMPLE.values() and name in SAMPLED and name not in writing.profile.sampling:
            writing.lost("tuning", setting.path, name, "setting", name)
        elif name == "temperature":
            if value > 1:
                writing.repair(setting.path, name, "bounded", "1")
            out[name] = 1 if value > 1 else value
        elif name in members:
            whole = name == "top_k" and isinstance(value, float) and value.is_integer()
            out[members[name]] = int(value) if whole else value
        elif name == "user":
            out["metadata"] = {"user_id": value}
        elif name == "service" and value == "fast":
            out["speed"] = "fast"
        elif not (name == "candidates" and value == 1):
            writing.lost(SETTINGS[name].loss, setting.path, name, "setting", name)
