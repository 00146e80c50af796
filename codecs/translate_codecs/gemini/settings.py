"""Tools, choice and settings of Gemini's requests, written."""

from __future__ import annotations

from typing import Final

from translate.algebra.events import JsonObject
from translate.messages.capability import Writing
from translate.messages.effort import nearest
from translate.messages.nodes import Choice, Format, Request, Thinking
from translate.messages.settings import SAMPLED, SETTINGS
from translate.messages.tools import FREE_SCHEMA

SIMPLE: Final = {
    "maxOutputTokens": "max_tokens",
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "stopSequences": "stop",
    "seed": "seed",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
    "responseLogprobs": "logprobs",
    "logprobs": "top_logprobs",
    "candidateCount": "candidates",
    "responseModalities": "modalities",
}
"""Member of ``generationConfig`` → setting."""
_MEMBERS: Final = {name: member for member, name in SIMPLE.items()}
MODES: Final = {"AUTO": "auto", "ANY": "required", "NONE": "none"}
"""Mode of function calling → mode of a choice."""
_CALLING: Final = {mode: word for word, mode in MODES.items()}
LEVELS: Final = ("minimal", "low", "medium", "high")
_MODALITIES: Final = ("TEXT", "IMAGE", "AUDIO")
_ELSEWHERE: Final = ("safety", "metadata")


def write_tools(request: Request, out: JsonObject, writing: Writing) -> None:
    """The tools that are offered, into ``out``."""
    declared: list[JsonObject] = []
    own: list[JsonObject] = []
    choice = request.choice
    only = set(choice.names) if choice is not None and choice.mode == "allowed" and not choice.force else None
    for tool in request.tools:
        if tool.kind == "server":
            own += writing.server_tool(tool)
            continue
        if only is not None and tool.name not in only:
            writing.lost("control", tool.path, "tool", "choice", "this tool is not among those allowed")
            continue
        said: JsonObject = {"name": writing.name(tool.name)}
        if tool.description is not None:
            said["description"] = tool.description
        schema = FREE_SCHEMA if tool.kind == "custom" else tool.schema
        if schema is not None:
            said["parametersJsonSchema"] = schema
        writing.tool_rest(tool, said)
        declared.append(said)
    tools = [*([{"functionDeclarations": declared}] if declared else []), *own]
    if tools:
        out["tools"] = tools


def write_choice(choice: Choice | None, request: Request, out: JsonObject, writing: Writing) -> None:
    """The choice of tools, into ``out``."""
    if choice is None:
        return
    if not out.get("tools") and not writing.home:
        writing.lost("incidental", choice.path, "tool_choice", "no tools")
        return
    offered = [tool.name for tool in request.tools if tool.kind != "server"]
    names = [name for name in choice.names if name in offered]
    said: JsonObject = {}
    mode = choice.mode
    if mode in ("tool", "allowed") and len(names) < max(1, len(choice.names)):
        writing.lost("control", choice.path, "tool_choice", "choice lost", repr(choice.names))
    if mode == "allowed" and not choice.force:
        writing.repair(choice.path, "tool_choice", "only these")
        said["mode"] = "AUTO"
    elif mode in ("tool", "allowed") and names:
        said = {"mode": "ANY", "allowedFunctionNames": [writing.name(name) for name in names]}
    elif mode in _CALLING:
        said["mode"] = _CALLING[mode]
    elif mode not in (None, "tool", "allowed"):
        if writing.home:
            said["mode"] = mode
        else:
            writing.lost("control", choice.path, "tool_choice", "choice", repr(mode))
    if choice.parallel is False:
        writing.lost("control", choice.path, "parallel", "parallel")
    writing.rest(choice, said)
    if said:
        out["toolConfig"] = {"functionCallingConfig": said}


def write_config(request: Request, out: JsonObject, writing: Writing) -> None:
    """The settings, the form of the answer and the thinking, into ``out``."""
    config: JsonObject = {}
    for name, setting in request.settings.items():
        value = setting.value
        if name in _ELSEWHERE:
            continue
        if name == "modalities":
            known = [word.upper() for word in value if isinstance(word, str) and word.upper() in _MODALITIES]
            if len(known) < len(value):
                writing.lost("tuning", setting.path, name, "value", repr(value))
            if known:
                config["responseModalities"] = known
        elif name in SAMPLED and name not in writing.profile.sampling:
            writing.lost("tuning", setting.path, name, "setting", name)
        elif name in _MEMBERS:
            config[_MEMBERS[name]] = value
        else:
            writing.lost(SETTINGS[name].loss, setting.path, name, "setting", name)
    _write_format(request.format, config, writing)
    _write_thinking(request.thinking, config, writing)
    if config:
        out["generationConfig"] = config


def _write_format(form: Format | None, config: JsonObject, writing: Writing) -> None:
    if form is None or form.type == "text":
        return
    if form.type not in ("json_schema", "json_object"):
        writing.lost("control", form.path, "format", "setting", form.type)
        return
    config["responseMimeType"] = "application/json"
    if form.type == "json_schema":
        config["responseJsonSchema"] = form.schema if form.schema is not None else {"type": "object"}
    for name in ("name", "description", "strict"):
        if getattr(form, name) is not None:
            writing.lost("incidental", f"{form.path}.{name}", name, "member")
    writing.rest(form)


def _write_thinking(asked: Thinking | None, config: JsonObject, writing: Writing) -> None:
    if asked is None:
        return
    said: JsonObject = {}
    paths, profile = asked.paths, writing.profile
    if asked.mode == "off" or asked.effort == "none":
        if "budget" in profile.thinking_styles:
            said["thinkingBudget"] = 0
        else:
            said["thinkingLevel"] = profile.efforts[0].upper()
            writing.guess(paths.get("mode", ""), "thinking", "effort", profile.efforts[0])
    elif asked.effort is not None:
        level = nearest(asked.effort, profile.efforts)
        if level is not None:
            said["thinkingLevel"] = level.upper()
            if level != asked.effort:
                writing.guess(paths.get("effort", ""), "effort", "effort", level)
        elif writing.home:
            said["thinkingLevel"] = asked.effort.upper()
        else:
            writing.lost("tuning", paths.get("effort", ""), "effort", "value", repr(asked.effort))
    elif asked.budget is not None:
        said["thinkingBudget"] = asked.budget
    elif asked.mode is not None:
        writing.lost("tuning", paths.get("mode", ""), "thinking", "value", asked.mode)
    if asked.show is not None:
        said["includeThoughts"] = asked.show != "none"
    writing.rest(asked, said, "thinking")
    if said:
        config["thinkingConfig"] = said
