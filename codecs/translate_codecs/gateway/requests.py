"""Requests of the gateway, as far as they are known: ``model, streaming, systemPrompt, messages, parameters``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from translate.algebra.events import JsonObject
from translate.messages.capability import Reading, Requests, Writing
from translate.messages.members import Members
from translate.messages.nodes import Part, Request, Setting, Turn
from translate.messages.profiles import Profile
from translate.messages.settings import SETTINGS
from translate.messages.steps import head_and_body

from .messages import read_turns, write_turns
from .words import NAME


class GatewayRequests(Requests):
    """The requests of the gateway. All but what stands above is a loss until more of it is known."""

    profiles: ClassVar[Mapping[str, Profile]] = {"gateway": Profile(name_max=128, efforts=(), thinking_styles=())}

    def decode(self, document: JsonObject, reading: Reading) -> Request:
        members = Members(document, "")
        request = Request(members.take("model", str), members.take("streaming", bool), source=NAME)
        if prompt := members.take("systemPrompt", str):
            path = "systemPrompt"
            request.turns.append(Turn("system", [Part("text", prompt, path=path)], path=path))
        request.turns += read_turns(members, reading)
        parameters = members.inner("parameters")
        if parameters is not None:
            if (most := parameters.take("maxTokens", int)) is not None:
                request.settings["max_tokens"] = Setting(most, parameters.at("maxTokens"))
            members.put_back("parameters", parameters)
        request.residue = members.rest(NAME)
        return request

    def encode(self, request: Request, writing: Writing) -> JsonObject:
        out: JsonObject = {"model": request.model or "unknown"}
        if request.stream is not None:
            out["streaming"] = request.stream
        head, body = head_and_body(request.turns, writing)
        texts: list[str] = []
        for turn in head:
            for part in turn.parts:
                if part.kind in ("text", "refusal"):
                    texts += [part.data] if part.data else []
                    writing.part_rest(part)
                else:
                    writing.lost("content", part.path, part.kind, "part", "in instructions what is no text")
            writing.rest(turn)
        if texts:
            out["systemPrompt"] = "\n\n".join(texts)
        if len(texts) > 1:
            writing.repair(head[0].path, "system", "joined")
        out["messages"] = write_turns(body, writing)
        for tool in request.tools:
            writing.lost("control", tool.path, "tool", "part", "tools")
        if request.choice is not None:
            writing.lost("control", request.choice.path, "tool_choice", "setting", "a choice of tools")
        if request.format is not None and request.format.type != "text":
            writing.lost("control", request.format.path, "format", "setting", request.format.type)
        if request.thinking is not None:
            asked = request.thinking
            for name in ("mode", "effort", "budget", "show"):
                if getattr(asked, name) is not None:
                    kind = "control" if asked.mode == "off" else "tuning"
                    path = asked.paths.get(name) or asked.paths.get("effort", "")
                    writing.lost(kind, path, "thinking", "setting", name)  # type: ignore[arg-type]
            writing.rest(asked, None, "thinking")
        for name, setting in request.settings.items():
            if name == "max_tokens":
                out["parameters"] = {"maxTokens": setting.value}
            elif not (name == "candidates" and setting.value == 1):
                writing.lost(SETTINGS[name].loss, setting.path, name, "setting", name)
        writing.rest(request, out)
        return out

    def ask_to_stream(self, document: JsonObject, *, stream: bool) -> None:
        document["streaming"] = stream
