"""Requests of Gemini: the body of ``…:generateContent``. The model is in the path.

1. Results are alone in their content, with the names of their calls.
2. Instructions within the conversation are text in ``<system>``.
3. A server wants a signature with the first call of a turn: where there is none of its own, its word for that is said.
4. Schemas are JSON Schema (``parametersJsonSchema``), and read in the dialect, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from translate.algebra.events import JsonObject
from translate.messages.capability import Reading, Requests, Writing
from translate.messages.members import wrong
from translate.messages.nodes import Choice, Format, Request, Setting, Thinking, Tool, Turn
from translate.messages.profiles import Profile
from translate.messages.settings import SETTINGS, read_settings
from translate.messages.steps import head_and_body, is_reordered, others, results, steps
from translate.messages.telling import LossClass

from .content import SKIPPED, Names, content_of, read_parts, write_part, write_result
from .schemas import json_schema
from .settings import LEVELS, MODES, SIMPLE, write_choice, write_config, write_tools
from .words import ISSUER, NAME

_ROLES: Final = {"user": "user", "model": "assistant", "function": "user", None: "user"}
_JSON: Final = "application/json"


class GeminiRequests(Requests):
    """The requests of Gemini."""

    listed = "contents"
    ids_may_lack = True
    profiles: ClassVar[Mapping[str, Profile]] = {
        "gemini": Profile(
            issuer=ISSUER,
            efforts=LEVELS,
            thinking_styles=("budget", "level"),
            sampling=("temperature", "top_p", "top_k", "seed", "presence_penalty", "frequency_penalty"),
        )
    }
    classes: ClassVar[Mapping[str, LossClass]] = {
        "cachedContent": "content",
        "responseModalities": "tuning",
        "imageConfig": "tuning",
        "speechConfig": "tuning",
        "mediaResolution": "tuning",
    }

    def decode(self, document: JsonObject, reading: Reading) -> Request:
        members = Names(document, "")
        request = Request(members.take("model", str), members.take("stream", bool), source=NAME)
        if (system := members.take("systemInstruction")) is not None:
            path = members.at("systemInstruction")
            content = content_of(system, path)
            content.take("role", str)
            turn = Turn("system", read_parts(content, reading), path=path)
            turn.residue = content.rest(NAME)
            request.turns.append(turn)
        for content in members.entries("contents"):
            request.turns.append(_turn(content, reading))
        if not isinstance(members.left.get("tools", []), list):
            raise wrong(members.at("tools"), "it is no list", "a list of tools")
        for tool in members.entries("tools"):
            request.tools += _tools(tool)
        if (config := members.inner("toolConfig")) is not None:
            request.choice = _choice(config)
            members.put_back("toolConfig", config)
        if (config := members.inner("generationConfig")) is not None:
            _config(config, request)
            members.put_back("generationConfig", config)
        if members.left.get("safetySettings"):
            request.settings["safety"] = Setting(members.take("safetySettings"), members.at("safetySettings"))
        if members.left.get("labels"):
            request.settings["metadata"] = Setting(members.take("labels", dict), "labels")
        request.residue = members.rest(NAME)
        return request

    def encode(self, request: Request, writing: Writing) -> JsonObject:
        out: JsonObject = {}
        head, body = head_and_body(request.turns, writing)
        system: list[JsonObject] = []
        for turn in head:
            system += [said for part in turn.parts for said in write_part(part, writing, user=True)]
            writing.rest(turn)
            if turn.role == "developer":
                writing.repair(turn.path, "role", "role", "developer")
        if system:
            out["systemInstruction"] = {"parts": system}
        out["contents"] = _contents(body, writing)
        write_tools(request, out, writing)
        write_choice(request.choice, request, out, writing)
        write_config(request, out, writing)
        settings = request.settings
        if "safety" in settings:
            if writing.home:
                out["safetySettings"] = settings["safety"].value
            else:
                writing.lost("tuning", settings["safety"].path, "safety", "setting", "safety")
        if "metadata" in settings:
            if writing.home:
                out["labels"] = settings["metadata"].value
            else:
                writing.lost(SETTINGS["metadata"].loss, settings["metadata"].path, "metadata", "setting", "metadata")
        writing.rest(request, out)
        return out


# ---- reading ---------------------------------------------------------------------------------------------


def _turn(content: Names, reading: Reading) -> Turn:
    role = content.take("role", str)
    if role not in _ROLES:
        raise wrong(content.at("role"), f"found {role!r}", "user or model")
    turn = Turn(_ROLES[role], path=content.path)  # type: ignore[arg-type]
    turn.parts = read_parts(content, reading)
    turn.residue = content.rest(NAME)
    return turn


def _tools(tool: Names) -> list[Tool]:
    out: list[Tool] = []
    for declared in tool.entries("functionDeclarations"):
        found = Tool("function", declared.must("name", str), declared.take("description", str), path=declared.path)
        found.schema = declared.take("parametersJsonSchema", dict)
        if found.schema is None and (own := declared.take("parameters", dict)) is not None:
            found.schema = json_schema(own, declared.at("parameters"))
        found.residue = declared.rest(NAME)
        out.append(found)
    left = tool.rest(NAME)
    if left is not None:
        out.append(Tool("server", next(iter(left[NAME])), unit=left[NAME], path=tool.path))
    return out


def _choice(config: Names) -> Choice | None:
    calling = config.inner("functionCallingConfig")
    if calling is None:
        return None
    mode = calling.take("mode", str)
    names = [name for name in calling.take("allowedFunctionNames", list) or () if isinstance(name, str)]
    out = Choice(MODES.get((mode or "AUTO").upper(), mode), path=calling.path)
    if names:
        out.names, out.force = names, out.mode == "required"
        out.mode = "tool" if out.force and len(names) == 1 else "allowed"
    out.residue = calling.rest(NAME)
    return out


def _config(config: Names, request: Request) -> None:
    request.settings |= read_settings(config, SIMPLE)
    mime = config.left.get("responseMimeType")
    schema = config.take("responseJsonSchema", dict)
    path = config.at("responseJsonSchema")
    if schema is None and (own := config.take("responseSchema", dict)) is not None:
        path = config.at("responseSchema")
        schema = json_schema(own, path)
    if schema is not None or mime == _JSON:
        request.format = Format("json_schema" if schema is not None else "json_object", schema=schema, path=path)
    if mime == _JSON and schema is None and request.format is not None:
        config.take("responseMimeType")
        request.format.path = config.at("responseMimeType")
    if (asked := config.inner("thinkingConfig")) is not None:
        out = Thinking(paths={"effort": asked.at("thinkingLevel"), "budget": asked.at("thinkingBudget")})
        out.paths |= {"show": asked.at("includeThoughts"), "mode": asked.path}
        level = asked.maybe("thinkingLevel", str)
        out.effort = level.lower() if level is not None else None
        out.budget = asked.maybe("thinkingBudget", int)
        if out.budget == 0:
            out.mode, out.budget = "off", None
        show = asked.maybe("includeThoughts", bool)
        out.show = None if show is None else "auto" if show else "none"
        if out != Thinking():
            request.thinking = out
        config.put_back("thinkingConfig", asked)


# ---- writing ---------------------------------------------------------------------------------------------


def _contents(body: list[Turn], writing: Writing) -> list[JsonObject]:
    out: list[JsonObject] = []
    names: dict[str, str | None] = {}
    for step in steps(body):
        if isinstance(step, Turn):
            for part in step.parts:
                if part.kind == "tool_call":
                    names[writing.ids.of(part)] = part.name
            parts = [said for part in step.parts for said in write_part(part, writing, user=False)]
            if not writing.home:
                _sign(parts, step, writing)
            _add(out, "model", parts, step, writing)
        else:
            _write_step(step, names, out, writing)
    return out


def _sign(parts: list[JsonObject], turn: Turn, writing: Writing) -> None:
    """A signature for the first call of a turn, where it has none."""
    first = next((part for part in parts if "functionCall" in part), None)
    if first is not None and "thoughtSignature" not in first:
        first["thoughtSignature"] = SKIPPED
        writing.guess(turn.path, "signature", "validator")


def _write_step(step: list[Turn], names: dict[str, str | None], out: list[JsonObject], writing: Writing) -> None:
    if (moved := is_reordered(step)) is not None and not writing.home:
        writing.repair(moved.path, "order", "order", "results first")
    found = [write_result(part, names.get(writing.ids.of(part)), writing) for part in results(step)]
    if found:
        out.append({"role": "user", "parts": found})
    for turn in step:
        own = others(turn)
        if not own and turn.parts:
            writing.rest(turn)
            continue
        parts = [said for part in own for said in write_part(part, writing, user=True)]
        if turn.role != "user":
            writing.repair(turn.path, "role", "as text", "in <system> tags")
            parts = [{**said, "text": f"<system>{said['text']}</system>"} if "text" in said else said for said in parts]
        _add(out, "user", parts, turn, writing)


def _add(out: list[JsonObject], role: str, parts: list[JsonObject], turn: Turn, writing: Writing) -> None:
    if not parts:
        writing.rest(turn)
        if not writing.home:
            writing.repair(turn.path, "message", "empty", "an empty message")
        return
    content: JsonObject = {"role": role, "parts": parts}
    writing.rest(turn, content)
    out.append(content)
