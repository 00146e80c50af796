"""Requests and answers of any format, for the laws: made in the algebra, and written by the format's own encoder."""

from typing import Any

from hypothesis import strategies as st

from tests import strategies  # noqa: F401  # the profile of hypothesis
from tests.messages.documents import Json
from translate import Answer, Reason, Request, State, TokenCounts, encode_answer, encode_request, jsontext
from translate.algebra.events import ReasonWord
from translate.messages.nodes import Annotation, Choice, Format, Part, Setting, Thinking, Tool, Turn

FORMATS = ("anthropic", "openai-chat", "openai-responses", "gemini", "unievent", "gateway")
ISSUERS = {"anthropic": "anthropic", "openai-responses": "openai", "gemini": "google"}

words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=8)
names = st.sampled_from(["w", "look_up", "a-b", "n" * 70, "dot.ted", "späße"])
ids = st.sampled_from(["toolu_1", "call_2", "functions.w:0", "x" * 50, "made_0_w", "tsx_abc", "toolu_1"])
schemas: st.SearchStrategy[Json] = st.sampled_from(
    [
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False},
        {"type": "object", "$defs": {"x": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/x"}}},
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
arguments = st.dictionaries(words, values, max_size=3).map(lambda given: jsontext.dumps(given).decode())


@st.composite
def states(draw: st.DrawFn, issuer: str | None) -> State | None:
    value = draw(st.sampled_from(["T1BBUVVFLTEtb25l", "T1BBUVVFLTItdHdv"]))
    if issuer is None or draw(st.booleans()):
        return None
    if issuer == "openai":
        return State(issuer, {"reasoning_id": "rs_1", "encrypted_content": value})
    return State(issuer, {"signature": value})


PNG = "iVBORw0KGgo="


@st.composite
def users(draw: st.DrawFn) -> Part:
    kind = draw(st.sampled_from(["text", "text", "image", "pdf", "link", "plain"]))
    if kind == "text":
        return Part("text", draw(words))
    if kind == "image":
        return Part("inline_data", PNG, mime_type="image/png", media="image")
    if kind == "pdf":
        return Part("inline_data", PNG, mime_type="application/pdf", media="document")
    if kind == "plain":
        return Part("inline_data", draw(words), mime_type="text/plain", media="document", via="text")
    return Part("linked_data", "https://example.com/a.png", via="url", media="image")


@st.composite
def assistants(draw: st.DrawFn, issuer: str | None) -> list[Part]:
    parts: list[Part] = []
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.booleans()):
            parts.append(Part("thinking", draw(words), state=draw(states(issuer))))
        else:
            parts.append(Part("text", draw(words)))
    for _ in range(draw(st.integers(0, 2))):
        parts.append(Part("tool_call", draw(arguments), draw(ids), draw(names)))
    return parts or [Part("text", draw(words))]


@st.composite
def results(draw: st.DrawFn, call: Part) -> Part:
    parts = [Part("text", draw(words))]
    return Part("tool_result", id=call.id, name=call.name, parts=parts, error=draw(st.booleans()))


@st.composite
def turns(draw: st.DrawFn, issuer: str | None) -> list[Turn]:
    out = [Turn("system", [Part("text", draw(words))])] if draw(st.booleans()) else []
    out.append(Turn("user", [draw(users())]))
    for _ in range(draw(st.integers(0, 2))):
        said = Turn("assistant", draw(assistants(issuer)))
        out.append(said)
        answers = [draw(results(part)) for part in said.parts if part.kind == "tool_call"]
        asked = draw(st.lists(users(), min_size=0 if answers else 1, max_size=2))
        out.append(Turn("user", [*answers, *asked]))
        if draw(st.integers(0, 4)) == 0:
            out.append(Turn("system", [Part("text", draw(words))]))
    return out


@st.composite
def requests(draw: st.DrawFn, format: str) -> Request:
    request = Request("m", draw(st.sampled_from([None, True, False])), draw(turns(ISSUERS.get(format))))
    tools = draw(st.lists(names, unique=True, max_size=3))
    request.tools = [Tool("function", name, draw(words), draw(schemas)) for name in tools]
    if tools:
        one = draw(st.sampled_from(tools))
        choices = [None, Choice("auto"), Choice("required"), Choice("tool", [one]), Choice("auto", parallel=False)]
        request.choice = draw(st.sampled_from(choices))
    request.thinking = draw(
        st.sampled_from([None, Thinking("off"), Thinking(effort="low"), Thinking("on", budget=2048), Thinking("auto")])
    )
    request.format = draw(st.sampled_from([None, Format("json_schema", schema={"type": "object", "properties": {}})]))
    for name, value in (("max_tokens", 9000), ("temperature", 0.5), ("top_p", 0.9), ("stop", ["X"]), ("user", "u-1")):
        if draw(st.booleans()):
            request.settings[name] = Setting(value)
    return request


@st.composite
def documents(draw: st.DrawFn, format: str) -> Json:
    """A request of a format, with members that nobody knows."""
    document = encode_request(draw(requests(format)), format)
    document.pop("carry", None)
    return _strewn(draw, document)


@st.composite
def answers(draw: st.DrawFn, format: str) -> Json:
    """A whole answer of a format."""
    parts = draw(assistants(ISSUERS.get(format)))
    for part in parts:
        if part.kind == "text" and draw(st.integers(0, 3)) == 0 and format == "anthropic":
            part.annotations = [Annotation("anthropic", {"type": "char_location", "cited_text": draw(words)})]
    calls = any(part.kind == "tool_call" for part in parts)
    ends: list[ReasonWord] = ["tool_call"] if calls else ["stop", "length"]
    word = draw(st.sampled_from(ends))
    answer = Answer("id-1", parts=parts, reason=Reason(word), usage=TokenCounts(draw(st.integers(5, 99)), 7, 2, 3))
    answer.model.name = "m"
    seal: Any = "off"
    return _strewn(draw, encode_answer(answer, format, seal=seal))


def _strewn(draw: st.DrawFn, document: Json) -> Json:
    for _ in range(draw(st.integers(0, 2))):
        document[draw(st.sampled_from(["zz_new", "zz_later"]))] = draw(values)
    return document
