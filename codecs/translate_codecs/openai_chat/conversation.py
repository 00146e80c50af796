"""Messages of Chat as turns, and turns as messages: for requests and whole answers alike.

1. What the assistant says is thinking, then text, then calls: parts in another order come home by a layout alone.
2. A ``tool`` message is a user's turn of one result. All results of a step come first, one message each; what they hold
   beside text follows in the user's message.
"""

from __future__ import annotations

from typing import Any, Final

from translate import jsontext
from translate.algebra.calls import FREE, FREE_END, escaped
from translate.algebra.events import JsonObject, State
from translate.algebra.states import REASONING_FIELD, is_hint
from translate.messages.capability import Reading, Writing
from translate.messages.members import Members, wrong
from translate.messages.nodes import Annotation, Part, Turn
from translate.messages.reasons import why
from translate.messages.steps import is_reordered, others, results, steps

from .content import read_content, write_part
from .layout import FORMAT, laid_out, sealed_layout
from .words import FIELDS, NAME, REDACTED, entry_of, field_of, is_redacted, read_entry

ROLES: Final = ("system", "developer", "user", "assistant")


# ---- reading ---------------------------------------------------------------------------------------------


def read_message(message: Members, reading: Reading) -> Turn:
    """The turn that a message is."""
    role = message.must("role", str)
    if role in ("tool", "function"):
        return _read_result(message, role, reading)
    if role not in ROLES:
        raise wrong(message.at("role"), f"found {role!r}", f"{', '.join(ROLES)} or tool")
    turn = Turn(role, path=message.path)  # type: ignore[arg-type]
    if role == "assistant":
        turn.parts = read_assistant(message, reading)
    else:
        turn.parts = read_content(message.take("content"), message.at("content"), reading)
    turn.residue = message.rest(NAME)
    return turn


def _read_result(message: Members, role: str, reading: Reading) -> Turn:
    id = reading.id(message.take("tool_call_id", str)) or None
    part = Part("tool_result", id=id, path=message.path)
    if role == "function":
        part.name = message.take("name", str)
    part.parts = read_content(message.take("content"), message.at("content"), reading)
    part.residue = message.rest(NAME)
    return Turn("user", [part], path=message.path)


def read_assistant(message: Members, reading: Reading) -> list[Part]:
    """The parts of what the assistant said."""
    thinking, layout = _read_thinking(message, reading)
    texts = read_content(message.take("content"), message.at("content"), reading)
    if refusal := message.take("refusal", str):
        texts.append(Part("refusal", refusal, path=message.at("refusal")))
    marks = message.maybe("annotations", list)
    if marks and (last := next((part for part in texts if part.kind == "text"), None)) is not None:
        last.annotations = [Annotation(NAME, each, message.at("annotations")) for each in marks]
    elif marks:
        message.left["annotations"] = marks
    audio = message.left.get("audio")
    if isinstance(audio, dict) and audio.get("data"):
        texts.append(Part("foreign", via=NAME, unit={"audio": message.take("audio")}, path=message.at("audio")))
    calls = [_read_call(call, reading) for call in message.entries("tool_calls")]
    old = message.inner("function_call")
    if old is not None and old.left.get("name"):
        arguments = old.take("arguments", str) or ""
        calls.append(Part("tool_call", arguments, None, old.must("name", str), residue=old.rest(NAME), path=old.path))
    elif old is not None and any(old.left.values()):
        message.left["function_call"] = old.left
    if layout is not None:
        found = laid_out(layout, thinking, texts, calls)
        if found is not None:
            return found
        reading.telling.lost("state", message.at("reasoning_details"), "state", why("changed", NAME))
    return [*thinking, *texts, *calls]


def _read_call(call: Members, reading: Reading) -> Part:
    id = reading.id(call.take("id", str)) or None
    call.take("type", str)
    for index in ("index",):
        call.left.pop(index, None)
    inner = call.inner("function")
    if inner is not None:
        name = inner.must("name", str)
        part = Part("tool_call", inner.take("arguments", str) or "", id, name, path=call.path)
    elif (inner := call.inner("custom")) is not None:
        given = inner.take("input", str) or ""
        part = Part("tool_call", f"{FREE}{escaped(given)}{FREE_END}", id, inner.must("name", str), via="custom")
        part.path = call.path
    else:
        raise wrong(call.path, "it is a call of nothing", "function or custom")
    call.put_back("function" if part.via is None else "custom", inner)
    extra = call.inner("extra_content")
    if extra is not None:
        google = extra.inner("google")
        if google is not None and (signature := google.maybe("thought_signature", str)):
            part.state = State("google", {"signature": signature})
        extra.put_back("google", google)
        call.put_back("extra_content", extra)
    part.residue = call.rest(NAME)
    return part


def _read_thinking(message: Members, reading: Reading) -> tuple[list[Part], list[Any] | None]:
    """The thinking of a message, and the layout that came with it."""
    field = next((name for name in FIELDS if isinstance(message.left.get(name), str) and message.left[name]), None)
    text = ""
    if field is not None:
        text = message.must(field, str)
        for name in FIELDS:
            if message.left.get(name) == text:
                del message.left[name]
    layout: list[Any] | None = None
    parts: list[Part] = []
    states: list[tuple[State, str]] = []
    left: list[JsonObject] = []
    spelled: list[str] = []
    entries = message.maybe("reasoning_details", list) or []
    for i, entry in enumerate(entries):
        path = f"{message.at('reasoning_details')}[{i}]"
        if not isinstance(entry, dict):
            raise wrong(path, "it is no object", "an object")
        if reading.is_sealed(entry.get("data")):
            layout = [*(layout or ()), *(reading.open(entry["data"], path).get("l") or ())]
            continue
        state = read_entry(entry)
        if state is not None and is_redacted(entry):
            redacted = State("anthropic", {"signature": state.values["encrypted_content"]})
            parts.append(Part("thinking", REDACTED, state=redacted, path=path))
        elif state is not None:
            states.append((state, path))
        if more := {key: value for key, value in entry.items() if key not in _SAID_BY_STATE and value is not None}:
            left.append(more)
        said = next((entry[key] for key in ("text", "summary") if isinstance(entry.get(key), str)), None)
        if said is not None:
            spelled.append(said)
    if field is None and not reading.whole_answer:
        # a signature is over its text; in an answer, as in a stream, such entries are state alone
        text = "".join(spelled)
    elif field is None and spelled:
        left = [{**entry, "text": said} for entry, said in zip([*left, *[{}] * len(spelled)], spelled, strict=False)]
    path = message.at(field or "reasoning_details")
    hint = State(reading.issuer or "", {REASONING_FIELD: field}) if field is not None else None
    if text or states:
        own = Part("thinking", text, state=states[0][0] if states else hint, path=path)
        own.state_path = states[0][1] if states else ""
        parts.insert(0, own)
        parts += [Part("thinking", "", state=state, path=path) for state, path in states[1:]]
    if left:
        message.left["reasoning_details"] = left
    return parts, layout


_SAID_BY_STATE: Final = {"type", "text", "summary", "signature", "data", "format", "index"}


# ---- writing ---------------------------------------------------------------------------------------------


def write_conversation(turns: list[Turn], writing: Writing) -> list[JsonObject]:
    """The messages of a conversation, for a server."""
    out: list[JsonObject] = []
    for step in steps(turns):
        if isinstance(step, Turn):
            message = write_assistant(step.parts, writing)
            if len(message) > 1 or not step.parts:
                message.setdefault("content", None if message.keys() & {"tool_calls", "refusal"} else "")
                writing.rest(step, message)
                out.append(message)
            else:
                writing.rest(step)
                writing.repair(step.path, "message", "empty", "an empty message")
        else:
            _write_step(step, out, writing)
    return out


def _write_step(step: list[Turn], out: list[JsonObject], writing: Writing) -> None:
    if (moved := is_reordered(step)) is not None and not writing.home:
        writing.repair(moved.path, "order", "order", "results first")
    found = results(step)
    media = [(part, _media(part)) for part in found]
    for part in found:
        out.append(_write_result(part, writing))
    held = [(part, each) for part, each in media if each]
    beside: list[JsonObject] = []
    for part, each in held:
        if len(held) > 1:
            beside.append({"type": "text", "text": f"Result of call {writing.id(part)}:"})
        for item in each:
            writing.repair(item.path, "media", "media")
            beside += write_part(item, writing, role="user")
    for turn in step:
        own = others(turn)
        if not own and turn.parts:
            writing.rest(turn)
            continue
        before = beside if turn.role == "user" else []
        out += _write_turn(turn, own, before, writing)
        if before:
            beside = []
    if beside:
        out.append({"role": "user", "content": beside})


def _media(result: Part) -> list[Part]:
    """What of a result is no text."""
    return [part for part in result.parts if part.kind in ("inline_data", "linked_data") and part.via != "text"]


def _write_turn(turn: Turn, own: list[Part], before: list[JsonObject], writing: Writing) -> list[JsonObject]:
    role = turn.role
    wanted = writing.profile.system_role
    if role in ("system", "developer") and wanted is not None and role != wanted:
        writing.repair(turn.path, "role", "role", role)
        role = wanted
    content = [*before]
    for part in own:
        for each in part.parts if part.kind == "document_parts" else [part]:
            content += write_part(each, writing, role=role)
        if part.kind == "document_parts":
            writing.guess(part.path, "document", "as text", "the pieces of a document")
            writing.part_rest(part)
    if not content and own:
        writing.rest(turn)
        return []
    message: JsonObject = {"role": role, "content": bare(content)}
    writing.rest(turn, message)
    return [message]


def bare(content: list[JsonObject]) -> str | list[JsonObject]:
    """A content, as the text alone where it is one."""
    if len(content) == 1 and content[0].keys() == {"type", "text"}:
        return content[0]["text"]  # type: ignore[no-any-return]
    return content or ""


def _write_result(part: Part, writing: Writing) -> JsonObject:
    texts: list[JsonObject] = []
    for each in part.parts:
        if each.kind in ("inline_data", "linked_data") and each.via != "text":
            continue
        texts += write_part(each, writing, role="tool")
    message: JsonObject = {"role": "tool", "tool_call_id": writing.id(part) or "", "content": bare(texts)}
    if part.state is not None:
        writing.state(part)
    writing.part_rest(part, message, ("name",))
    return message


def write_assistant(parts: list[Part], writing: Writing) -> JsonObject:
    """The message of what the assistant says; its content is absent where nothing was said."""
    message: JsonObject = {"role": "assistant"}
    texts = [part for part in parts if part.kind == "text"]
    refusals = [part for part in parts if part.kind == "refusal"]
    calls = [part for part in parts if part.kind == "tool_call"]
    thinking = [part for part in parts if part.kind == "thinking"]
    for part in parts:
        if part.kind not in ("text", "refusal", "tool_call", "thinking"):
            _write_other(part, message, writing)
    if texts:
        _write_texts(texts, message, writing)
    if refusals:
        message["refusal"] = "".join(part.data for part in refusals)
        message.setdefault("content", None)
        for part in refusals:
            writing.part_rest(part)
    order = [part for part in parts if part.kind in ("text", "refusal", "tool_call")]
    late = next((part for i, part in enumerate(order) if i and _is_late(part, order[i - 1])), None)
    if late is not None and not writing.home:
        writing.repair(late.path, "order", "order", "calls behind all text")
    details = _write_thinking(thinking, message, writing)
    if writing.client and writing.seal != "off":
        layout = sealed_layout(parts, writing)
        if layout is not None:
            details = [{"type": "reasoning.encrypted", "format": FORMAT, "data": layout, "index": 0}]
    if details:
        message["reasoning_details"] = details
    if calls:
        message["tool_calls"] = [_write_call(part, writing) for part in calls]
        message.setdefault("content", None)
    return message


def _is_late(part: Part, before: Part) -> bool:
    return part.kind != "tool_call" and before.kind == "tool_call"


def _write_texts(texts: list[Part], message: JsonObject, writing: Writing) -> None:
    if len(texts) > 1:
        writing.repair(texts[1].path, "text", "joined")
    message["content"] = "".join(part.data for part in texts)
    for part in texts:
        own = [each.data for each in part.annotations if each.namespace == NAME]
        if own and writing.client:
            message["annotations"] = [*message.get("annotations", ()), *own]
        if len(own) < len(part.annotations) or not writing.client:
            writing.part_rest(part, user=False)
        else:
            writing.part_rest(part, None, ("annotations",))
        if part.state is not None and not (writing.client and writing.seal != "off"):
            _tell_state(part, writing)


def _write_other(part: Part, message: JsonObject, writing: Writing) -> None:
    if part.via == NAME and part.unit is not None and "audio" in part.unit and (writing.home or writing.client):
        message["audio"] = part.unit["audio"]
        return
    key = "unit" if part.unit is not None else "part"
    writing.lost("content", part.path, part.kind, key, part.via or part.kind.replace("_", " "))


def _tell_state(part: Part, writing: Writing) -> None:
    if writing.client:
        writing.lost("state", part.path, "state", "state")
    else:
        writing.state(part)


def _write_thinking(thinking: list[Part], message: JsonObject, writing: Writing) -> list[JsonObject]:
    """The text of thinking into ``message``; what is returned are its states."""
    said: list[Part] = []
    for part in thinking:
        if writing.client or writing.knows(part) or (part.state is None and writing.home):
            said.append(part)
        elif (tagged := writing.stays_home(part)) is not None:
            message["content"] = tagged + (message.get("content") or "")
    details: list[JsonObject] = []
    text = "".join(part.data for part in said if not (part.data == REDACTED and part.state is not None))
    if text:
        field = next((found for part in said if (found := field_of(part.state)) is not None), FIELDS[0])
        message[field] = text
    for part in said:
        writing.part_rest(part)
        if part.state is None or is_hint(part.state):
            continue
        entry = entry_of(part.state, len(details), redacted=part.data == REDACTED)
        if entry is not None and not (writing.client and writing.seal != "off"):
            details.append(entry)
        elif entry is None and not (writing.client and writing.seal != "off"):
            writing.lost("state", part.path, "state", "state")
    return details


def _write_call(part: Part, writing: Writing) -> JsonObject:
    id = writing.id(part) or ""
    if part.via == "custom":
        given = writing.arguments(part).get("input")
        said: JsonObject = {"id": id, "type": "custom", "custom": {"name": writing.name(part.name), "input": given}}
    else:
        arguments = jsontext.whole(part.data) if part.data.strip() else "{}"
        function = {"name": writing.name(part.name), "arguments": arguments}
        said = {"id": id, "type": "function", "function": function}
    state = part.state
    if state is not None:
        if state.namespace == "google" and (writing.client or writing.knows(part)) and writing.seal == "off":
            said["extra_content"] = {"google": {"thought_signature": state.values.get("signature")}}
        elif not (writing.client and writing.seal != "off"):
            _tell_state(part, writing)
    writing.part_rest(part, said, ("name",))
    return said
