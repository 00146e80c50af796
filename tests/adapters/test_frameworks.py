"""Frameworks: our responses as their results, our middleware around and within theirs, our events laid out by them."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from tests.adapters.calling import App, Call
from tests.peers.scripts import EXAMPLES, NOW, cut, gateway, translated
from tests.peers.serving import PATIENCE
from tests.sources import AsyncSource, Boom
from tests.wire import pairs
from translate import UnknownFormat, convert
from translate.adapters import NamedEvent, StreamResponse, TranslateMiddleware, named_events

pytestmark = pytest.mark.anyio
TURN = (EXAMPLES / "claude-turn.unievent.sse").read_bytes()
OUT = b"".join(convert(TURN, "unievent-sse", "gateway-sse"))
FORMATS = ("unievent-sse", "gateway-sse")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def module(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name.partition('.')[0]} is not installed")


def starlette_response() -> Any:
    module("starlette")
    from translate.adapters.starlette import StreamResponse as Made

    return Made


# ---- our response as a result --------------------------------------------------------------------------------


def of_starlette(source: Any, **options: Any) -> App:
    routing, applications = module("starlette.routing"), module("starlette.applications")

    async def endpoint(request: Any) -> Any:
        return StreamResponse(source, *FORMATS, **options)

    app: App = applications.Starlette(routes=[routing.Route("/", endpoint)])
    return app


def of_starlette_too(source: Any, **options: Any) -> App:
    routing, applications, made = module("starlette.routing"), module("starlette.applications"), starlette_response()

    async def endpoint(request: Any) -> Any:
        return made(source, *FORMATS, **options)

    app: App = applications.Starlette(routes=[routing.Route("/", endpoint)])
    return app


def of_fastapi(source: Any, **options: Any) -> App:
    fastapi, made = module("fastapi"), starlette_response()
    app = fastapi.FastAPI()

    async def endpoint() -> Any:
        return made(source, *FORMATS, **options)

    app.get("/", response_model=None)(endpoint)
    return app  # type: ignore[no-any-return]


def of_litestar(source: Any, **options: Any) -> App:
    litestar = module("litestar")

    async def endpoint() -> StreamResponse:
        return StreamResponse(source, *FORMATS, **options)

    app: App = litestar.Litestar([litestar.get("/")(endpoint)], openapi_config=None)
    return app


FRAMEWORKS = [of_starlette, of_starlette_too, of_fastapi, of_litestar]


@pytest.mark.parametrize("made", FRAMEWORKS)
async def test_a_route_answers_with_a_stream(made: Any) -> None:
    source = AsyncSource(TURN[:1000], TURN[1000:])
    call = await Call().run(made(source, headers={"x-a": "1"}))
    assert (call.status, call.body, call.complete, source.log) == (200, OUT, True, ["aclose"])
    assert call.fields(b"content-type") == [b"text/event-stream; charset=utf-8"]
    assert call.fields(b"x-a") == [b"1"]
    assert call.fields(b"content-length") == []


@pytest.mark.parametrize("made", FRAMEWORKS)
async def test_a_route_answers_with_a_status(made: Any) -> None:
    call = await Call().run(made(AsyncSource(Boom())))
    assert (call.status, json.loads(call.body)["code"]) == (502, 502)


@pytest.mark.parametrize("made", FRAMEWORKS)
async def test_a_client_that_leaves_a_route_closes_the_source(made: Any) -> None:
    source, call = AsyncSource(TURN[:1000], anyio.sleep_forever), Call()
    app = made(source)
    async with anyio.create_task_group() as group:
        group.start_soon(call.run, app)
        with anyio.fail_after(PATIENCE):
            await call.told.wait()
        call.leave()
    assert source.log == ["aclose"]
    assert not call.complete


@pytest.mark.parametrize("items", [[TURN], [TURN[:1000]], [Boom()], [b"data: {"]])
async def test_cookies_and_tasks_in_the_background(items: list[Any]) -> None:
    fastapi, made, ran = module("fastapi"), starlette_response(), list[str]()
    app = fastapi.FastAPI()

    def endpoint(background: Any) -> Any:
        background.add_task(ran.append, "task")
        answer = made(AsyncSource(*items), *FORMATS, headers={"x-a": "1", "cache-control": "no-store"})
        answer.set_cookie("a", "1")
        answer.set_cookie("b", "2")
        answer.headers["X-B"] = "2"
        return answer

    endpoint.__annotations__ = {"background": fastapi.BackgroundTasks}
    app.get("/", response_model=None)(endpoint)
    call = await Call().run(app)
    assert [cookie[:3] for cookie in call.fields(b"set-cookie")] == [b"a=1", b"b=2"]
    assert [call.fields(b"x-a"), call.fields(b"x-b"), ran] == [[b"1"], [b"2"], ["task"]]
    assert call.fields(b"cache-control") == [b"no-store"]


async def test_tasks_in_the_background_run_where_the_server_failed() -> None:
    background, ran = module("starlette.background"), list[int]()

    async def send(message: Any) -> None:
        raise Boom

    answer = starlette_response()(AsyncSource(TURN), *FORMATS, background=background.BackgroundTask(ran.append, 1))
    with pytest.raises(Boom):
        await answer(Call().scope, Call().receive, send)
    assert ran == [1]


@pytest.mark.parametrize("endless", [False, True])
async def test_tasks_in_the_background_run_where_the_answer_is_cancelled(
    endless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    background, ran, made = module("starlette.background"), list[str](), starlette_response()
    monkeypatch.setattr("translate.adapters.starlette.CLOSING", 0.1)

    async def task() -> None:
        await anyio.sleep(0.02)
        ran.append("task")
        if endless:
            await anyio.sleep_forever()

    call = Call()
    answer = made(AsyncSource(TURN[:1000], anyio.sleep_forever), *FORMATS, background=background.BackgroundTask(task))
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as group:
            group.start_soon(call.run, answer)
            await call.told.wait()
            group.cancel_scope.cancel()
    assert ran == ["task"]


# ---- their middleware ----------------------------------------------------------------------------------------


def within(app: App, *names: str) -> App:
    """An application within middleware, the first one outermost."""
    base, gzipped = module("starlette.middleware.base"), module("starlette.middleware.gzip")

    async def dispatch(request: Any, call_next: Any) -> Any:
        answer = await call_next(request)
        answer.headers["x-seen"] = "1"
        return answer

    for name in reversed(names):
        if name == "ours":
            app = TranslateMiddleware(app, *FORMATS)
        elif name == "gzip":
            options: Any = {"minimum_size": 1}
            if hasattr(gzipped, "DEFAULT_EXCLUDED_CONTENT_TYPES"):
                options["exclude_content_types"] = ()
            app = gzipped.GZipMiddleware(app, **options)
        else:
            app = base.BaseHTTPMiddleware(app, dispatch=dispatch)
    return app


def streaming(source: Any) -> App:
    responses = module("starlette.responses")
    answer: App = responses.StreamingResponse(source, media_type="text/event-stream")
    return answer


ORDERS = [
    *(("ours",), ("ours", "base"), ("base", "ours"), ("ours", "gzip"), ("gzip", "ours"), ("base", "ours", "base")),
    *(("gzip", "ours", "gzip"), ("gzip", "base", "ours", "gzip", "base")),
]


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
async def test_within_and_around_the_middleware_of_starlette(order: tuple[str, ...]) -> None:
    app = within(streaming(AsyncSource(TURN[:1000], TURN[1000:])), *order)
    call = await Call(headers=[(b"accept-encoding", b"gzip")]).run(app)
    body = gzip.decompress(call.body) if order[0] == "gzip" else call.body
    assert (call.status, body, call.complete) == (200, OUT, True)
    assert call.fields(b"content-encoding") == ([b"gzip"] if order[0] == "gzip" else [])
    assert call.fields(b"x-seen") == ([b"1"] if "base" in order else [])


# on trio: an application that is cancelled leaves a generator of Starlette's
@pytest.mark.filterwarnings("ignore:Async generator 'starlette:ResourceWarning")
@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
async def test_a_failing_stream_within_the_middleware_of_starlette(order: tuple[str, ...]) -> None:
    app = within(streaming(AsyncSource(b"data: {\n\n", anyio.sleep_forever)), *order)
    call = await Call(headers=[(b"accept-encoding", b"gzip")]).run(app)
    body = gzip.decompress(call.body) if call.fields(b"content-encoding") else call.body
    assert (call.status, json.loads(body)["success"], call.complete) == (502, False, True)


LEAVING = [("ours",), ("ours", "base"), ("base", "ours"), ("ours", "gzip")]


# from version 2.4 on Starlette drops its source where sending fails: it is closed since nothing holds it
@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")
@pytest.mark.parametrize(
    ("order", "spec"), [*((order, "2.0") for order in LEAVING), *((o, "2.4") for o in LEAVING if o[0] == "ours")]
)
async def test_a_client_that_leaves_the_middleware_closes_the_source(order: tuple[str, ...], spec: str) -> None:
    call, closed = Call(), anyio.Event()
    call.scope["asgi"]["spec_version"] = spec
    call.scope["headers"] = [(b"accept-encoding", b"gzip")]

    async def source() -> AsyncIterator[bytes]:
        try:
            yield TURN[:1000]
            while True:
                await anyio.sleep(0.01)
                yield b": keep-alive\n\n"
        finally:
            closed.set()

    async def run() -> None:
        try:
            await call.run(within(streaming(source()), *order))
        except Exception as error:
            # as Starlette raises it
            assert type(error).__name__ in ("ClientDisconnect", "OSError")  # noqa: PT017

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        with anyio.fail_after(PATIENCE):
            await call.told.wait()
            call.leave()
            await closed.wait()
    assert not call.complete


# ---- named events ------------------------------------------------------------------------------------------


def events_of_fastapi(events: Any) -> App:
    fastapi, sse = module("fastapi"), module("fastapi.sse")
    app = fastapi.FastAPI()

    @app.get("/", response_class=sse.EventSourceResponse)
    async def endpoint():  # type: ignore[no-untyped-def]
        async for event in events(lambda data, event, comment: sse.ServerSentEvent(
            raw_data=data, event=event, comment=comment
        )):  # fmt: skip
            yield event

    return app  # type: ignore[no-any-return]


def events_of_sse_starlette(events: Any) -> App:
    theirs = module("sse_starlette")
    return theirs.EventSourceResponse(events(theirs.ServerSentEvent), ping=0)  # type: ignore[no-any-return]


THEIRS = [events_of_fastapi, events_of_sse_starlette]
STREAMS = {name: stream for name, stream in translated().items() if name not in ("failure", "cut short")}


@pytest.fixture
def only_asyncio(anyio_backend: str) -> None:
    if anyio_backend == "trio":
        pytest.skip("the framework keeps tasks of asyncio")


@pytest.mark.usefixtures("only_asyncio")
@pytest.mark.parametrize("framework", THEIRS)
@pytest.mark.parametrize("name", STREAMS)
async def test_a_framework_writes_what_we_would(framework: Any, name: str) -> None:
    stream = STREAMS[name]
    out = b"".join(convert(stream, "gateway-sse", "unievent-sse", clock=lambda: NOW))
    source = AsyncSource(stream[:500], stream[500:])

    def events(make: Any) -> Any:
        return named_events(source, "gateway-sse", "unievent-sse", make=make, clock=lambda: NOW)

    call = await Call().run(framework(events))
    written = call.body.replace(b"\r\n", b"\n")
    assert pairs(written) == pairs(out)
    assert written == out
    home = convert(call.body, "unievent-sse", "gateway-sse")
    assert b"".join(home) == b"".join(convert(stream, "gateway-sse", "gateway-sse"))
    assert source.log == ["aclose"]


@pytest.mark.usefixtures("only_asyncio")
@pytest.mark.parametrize("framework", THEIRS)
async def test_a_client_that_leaves_a_framework_closes_the_source(framework: Any) -> None:
    source, call = AsyncSource(gateway("turn")[:500], anyio.sleep_forever), Call()
    call.scope["asgi"]["spec_version"] = "2.0"
    app = framework(lambda make: named_events(source, "gateway-sse", "unievent-sse", make=make))
    async with anyio.create_task_group() as group:
        group.start_soon(call.run, app)
        with anyio.fail_after(PATIENCE):
            await call.told.wait()
            # FastAPI raises an error of its own where it is amid an event
            await anyio.wait_all_tasks_blocked()
            call.leave()
    assert source.log == ["aclose"]


@pytest.mark.parametrize("items", [[cut("turn")], [gateway("turn")[:500], Boom("secret")], [Boom()], []])
async def test_named_events_end_in_the_failure_unit(items: list[Any]) -> None:
    source = AsyncSource(*items)
    events = named_events(source, "gateway-sse", "unievent-sse")
    found = [event async for event in events]
    assert json.loads([event.data for event in found if event.data != "[DONE]"][-1] or "")["error"]["status"] == 502
    assert type(events.failure).__name__ in ("Boom", "TruncatedStream")
    assert source.log == ["aclose"]


async def test_named_events_are_pulled_one_by_one() -> None:
    source = AsyncSource(*(gateway("turn")[at : at + 150] for at in range(0, 3000, 150)))
    async with named_events(source, "gateway-sse", "gateway-sse") as events:
        assert source.asked == 0
        first = await anext(aiter(events))
        assert (first.event, json.loads(first.data or "")["success"]) == ("streamStart", True)
        assert source.asked <= 3
        assert events.failure is None
    assert source.log == ["aclose"]
    assert [event async for event in events] == []


@pytest.mark.parametrize("opened", [False, True])
async def test_named_events_that_nobody_reads_close_their_source(opened: bool) -> None:
    source = AsyncSource(gateway("turn"))

    async def opens() -> Any:
        raise AssertionError

    await named_events(source if opened else opens, "gateway-sse", "unievent-sse").aclose()
    assert source.log == (["aclose"] if opened else [])


async def test_named_events_that_are_cancelled_close_their_source() -> None:
    source = AsyncSource(gateway("turn")[:500], anyio.sleep_forever)
    with anyio.move_on_after(0.1):
        async for _ in named_events(source, "gateway-sse", "unievent-sse"):
            pass
    assert source.log == ["aclose"]


async def test_a_keep_alive_and_a_comment_are_events() -> None:
    stream = b": hello\n\n" + STREAMS["everything"]
    found = [event async for event in named_events(AsyncSource(stream), "gateway-sse", "gateway-sse")]
    assert found[0] == NamedEvent(comment="keep-alive")
    assert any(event.data is None and (event.comment or "").startswith("carry {") for event in found)


def test_named_events_are_of_event_streams() -> None:
    for dst in ("gateway-jsonl", "gateway"):
        with pytest.raises(ValueError, match="server-sent"):
            named_events(AsyncSource(), "unievent-sse", dst)
    with pytest.raises(UnknownFormat):
        named_events(AsyncSource(), "nothing", "gateway-sse")
