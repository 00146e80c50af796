"""The ``openai`` package reads what is written for Responses: final response and accumulated deltas alike."""

from __future__ import annotations

from typing import Any

import pytest

from translate import encode
from translate.algebra.events import (
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Model,
    Open,
    Reason,
    Start,
    State,
    TokenCounts,
)
from translate.carry.losses import LossPolicy

openai = pytest.importorskip("openai")
httpx = pytest.importorskip("httpx")

MESSAGE: list[Event] = [
    Start(Model("m"), "resp_x", 7),
    *(Open("thinking"), Append("hm"), Append("", State("openai", {"encrypted_content": "e"})), Close()),
    *(Open("text"), Append("Hel"), Append("lo 🌍"), Close()),
    *(Open("refusal"), Append("No."), Close()),
    *(Open("tool_call", "call_1", "f"), Append('{"a":'), Append("1}"), Close()),
    *(Open("tool_call", "call_2", "g"), Close()),
    Finish(TokenCounts(5, 3, 1, 2), Reason("tool_call")),
]


def stream(events: list[Event], loss: LossPolicy) -> Any:
    """The stream of the client's own helper, whose server answers with these events."""
    body = b"".join(encode(events, "openai-responses-sse", clock=lambda: 1_700_000_000_000, loss=loss))
    answer = httpx.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    http = httpx.Client(transport=httpx.MockTransport(lambda request: answer))
    client = openai.OpenAI(api_key="x", base_url="http://127.0.0.1:9/v1", http_client=http, max_retries=0)
    return client.responses.stream(model="m", input="q")


@pytest.mark.parametrize("loss", ["carry", "drop"])
def test_the_client_reads_the_message(loss: LossPolicy) -> None:
    said: dict[str, str] = {}
    with stream(MESSAGE, loss) as events:
        for event in events:
            if event.type.endswith(".delta"):
                said[event.type] = said.get(event.type, "") + event.delta
        final = events.get_final_response()
    assert said == {
        "response.reasoning_summary_text.delta": "hm",
        "response.output_text.delta": "Hello 🌍",
        "response.refusal.delta": "No.",
        "response.function_call_arguments.delta": '{"a":1}',
    }
    reasoning, text, refusal, call, blank = final.output
    assert (reasoning.summary[0].text, reasoning.encrypted_content) == ("hm", "e")
    assert final.output_text == text.content[0].text == "Hello 🌍"
    assert refusal.content[0].refusal == "No."
    assert (call.name, call.call_id, call.arguments) == ("f", "call_1", '{"a":1}')
    assert (blank.name, blank.arguments) == ("g", "{}")
    assert (final.id, final.model, final.status) == ("resp_x", "m", "completed")
    assert (final.usage.input_tokens, final.usage.output_tokens_details.reasoning_tokens) == (5, 2)


def test_the_client_sees_a_failure_and_a_cut() -> None:
    with stream([*MESSAGE[:8], Failure(429, "slow", "rate_limit_exceeded")], "drop") as events:
        last = list(events)[-1]
    assert (last.type, last.response.error.code, last.response.error.message) == (
        *("response.failed", "rate_limit_exceeded"),
        "slow",
    )
    half: list[Event] = [MESSAGE[0], Open("tool_call", "c", "f"), Append('{"a":'), Close(True)]
    with stream([*half, Finish(reason=Reason("length"))], "drop") as events:
        last = list(events)[-1]
    assert (last.type, last.response.output[0].status) == ("response.incomplete", "incomplete")
