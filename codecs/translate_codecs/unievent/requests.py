"""Requests of UniEvent: ``{"model", "messages": [UniMessage], "config": UniConfig}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from translate.algebra.events import JsonObject
from translate.messages.asking import said_effort
from translate.messages.capability import Reading, Requests, Writing
from translate.messages.members import Members, wrong
from translate.messages.nodes import Choice, Part, Request, Setting, Thinking, Tool, Turn
from translate.messages.profiles import Profile
from translate.messages.settings import SETTINGS, read_settings
from translate.messages.steps import head_and_body
from translate.messages.telling import LossClass
from translate.messages.tools import FREE_SCHEMA

from .messages import read_turn, write_item, write_messages
from .words import NAME

SIMPLE: Final = {"max_tokens": "max_tokens", "temperature": "temperature"}
"""Member of ``config`` → setting."""
MODES: Final = ("auto", "required", "none")
LEVELS: Final = ("none", "low", "medium", "high", "xhigh", "max")


class UniEventRequests(Requests):
    """The requests of UniEvent."""

    profiles: ClassVar[Mapping[str, Profile]] = {
        "unievent": Profile(name_max=128, efforts=LEVELS, sampling=("temperature",), strict_unknown=False)
    }
    classes: ClassVar[Mapping[str, LossClass]] = {
        "prompt_caching": "tuning",
        "image_config": "tuning",
        "tts_config": "control",
        "embedding_config": "control",
    }

    def decode(self, document: JsonObject, reading: Reading) -> Request:
        members = Members(document, "")
        request = Request(members.take("model", str), source=NAME)
        config = members.inner("config")
        if config is not None and (prompt := config.take("system_prompt", str)):
            path = config.at("system_prompt")
            request.turns.append(Turn("system", [Part("text", prompt, path=path)], path=path))
        request.turns += [read_turn(message, reading) for message in members.entries("messages")]
        if config is not None:
            _read_config(config, request)
            members.put_back("config", config)
        request.residue = members.rest(NAME)
        return request

    def encode(self, request: Request, writing: Writing) -> JsonObject:
        head, body = head_and_body(request.turns, writing)
        config: JsonObject = {}
        texts: list[str] = []
        for turn in head:
            for part in turn.parts:
                texts += [item["text"] for item in write_item(part, writing, user=True) if "text" in item]
            writing.rest(turn)
            if turn.role == "developer":
                writing.repair(turn.path, "role", "role", "developer")
        if texts:
            config["system_prompt"] = "\n\n".join(texts)
        if len(texts) > 1:
            writing.repair(head[0].path, "system", "joined")
        out: JsonObject = {"model": request.model or "unknown", "messages": write_messages(body, writing)}
        _write_tools(request, config, writing)
        _write_choice(request.choice, config, request, writing)
        for name, setting in request.settings.items():
            if name in SIMPLE:
                config[name] = setting.value
            elif name == "service" and setting.value == "fast":
                config["fast_mode"] = True
            elif not (name == "candidates" and setting.value == 1):
                writing.lost(SETTINGS[name].loss, setting.path, name, "setting", name)
        if request.thinking is not None:
            if (level := said_effort(request.thinking, writing)) is not None:
                config["thinking_level"] = level
            if request.thinking.show is not None:
                config["thinking_summary"] = request.thinking.show != "none"
            writing.rest(request.thinking, config, "thinking")
        form = request.format
        if form is not None and form.type != "text":
            writing.lost("control", form.path, "format", "setting", form.type)
        out["config"] = config
        writing.rest(request, out)
        return out


def _read_config(config: Members, request: Request) -> None:
    request.settings = read_settings(config, SIMPLE)
    if config.left.get("fast_mode") is True:
        config.take("fast_mode")
        request.settings["service"] = Setting("fast", config.at("fast_mode"))
    for tool in config.entries("tools"):
        out = Tool("function", tool.must("name", str), tool.take("description", str) or None, path=tool.path)
        out.schema = tool.take("parameters", dict)
        out.residue = tool.rest(NAME)
        request.tools.append(out)
    choice = config.take("tool_choice")
    if choice is not None:
        request.choice = _choice(choice, config.at("tool_choice"))
    asked = Thinking(paths={"effort": config.at("thinking_level"), "show": config.at("thinking_summary")})
    asked.effort = config.maybe("thinking_level", str)
    if asked.effort == "none":
        asked.mode = "off"
    show = config.maybe("thinking_summary", bool)
    asked.show = None if show is None else "auto" if show else "none"
    if asked != Thinking():
        request.thinking = asked


def _choice(choice: object, path: str) -> Choice:
    if isinstance(choice, str):
        return Choice(choice, path=path)
    if not isinstance(choice, list) or not all(isinstance(name, str) for name in choice):
        raise wrong(path, "it is of another type", "a word or a list of names")
    return Choice("tool" if len(choice) == 1 else "allowed", list(choice), True, path=path)


def _write_tools(request: Request, config: JsonObject, writing: Writing) -> None:
    tools: list[JsonObject] = []
    for tool in request.tools:
        if tool.kind == "server":
            tools += writing.server_tool(tool)
            continue
        said: JsonObject = {"name": writing.name(tool.name), "description": tool.description or ""}
        schema = FREE_SCHEMA if tool.kind == "custom" else tool.schema
        if schema is not None:
            said["parameters"] = schema
        writing.tool_rest(tool, said)
        tools.append(said)
    if tools:
        config["tools"] = tools


def _write_choice(choice: Choice | None, config: JsonObject, request: Request, writing: Writing) -> None:
    if choice is None:
        return
    if not config.get("tools") and not writing.home:
        writing.lost("incidental", choice.path, "tool_choice", "no tools")
        return
    offered = [tool.name for tool in request.tools if tool.kind != "server"]
    if choice.mode in MODES:
        config["tool_choice"] = choice.mode
    elif choice.mode in ("tool", "allowed"):
        names = [writing.name(name) for name in choice.names if name in offered]
        if len(names) < max(1, len(choice.names)):
            writing.lost("control", choice.path, "tool_choice", "choice lost", repr(choice.names))
        if names:
            config["tool_choice"] = names
            if choice.mode == "allowed" and not choice.force:
                writing.guess(choice.path, "tool_choice", "default", "one of them is called")
    elif choice.mode is not None and writing.home:
        config["tool_choice"] = choice.mode
    elif choice.mode is not None:
        writing.lost("control", choice.path, "tool_choice", "choice", repr(choice.mode))
    if choice.parallel is False:
        writing.lost("control", choice.path, "parallel", "parallel")
    writing.rest(choice)
