"""Output that closes its source at once, whatever ends it: iterators, and asynchronous ones on asyncio and trio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio.lowlevel
import pytest

from tests.sources import ERROR, FRAMES, AsyncSource, Boom, Source, acollect, collect
from translate import DecodeError, MisuseError, TruncatedStream, UpstreamFailure, convert

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# ---- pulling ----------------------------------------------------------------------------------


def test_input_is_pulled_only_when_output_is_asked_for() -> None:
    source = Source(*FRAMES)
    stream = convert(source, "gateway", "gateway-sse")
    assert source.asked == 0
    for n in range(1, len(FRAMES) + 1):
        next(stream)
        assert source.asked == n
    with pytest.raises(StopIteration):
        next(stream)
    assert source.asked == len(FRAMES) + 1
    with pytest.raises(StopIteration):
        next(stream)
    assert source.asked == len(FRAMES) + 1


async def test_asynchronous_input_is_pulled_only_when_output_is_asked_for() -> None:
    source = AsyncSource(*FRAMES)
    stream = convert(source, "gateway", "gateway-sse")
    assert source.asked == 0
    for n in range(1, len(FRAMES) + 1):
        await anext(stream)
        assert source.asked == n
    with pytest.raises(StopAsyncIteration):
        await anext(stream)
    assert source.asked == len(FRAMES) + 1


def test_what_says_nothing_is_pulled_over() -> None:
    data = b"".join(convert(FRAMES, "gateway", "gateway-sse"))
    source = Source(data[:5], b"", data[5:9], data[9:])
    assert next(convert(source, "gateway-sse", "gateway")) == FRAMES[0]
    assert source.asked == 4


def test_bytes_of_one_step_are_one_item_and_objects_are_items() -> None:
    data = b"".join(convert(FRAMES, "gateway", "gateway-sse"))
    assert [item.count(b"\n") for item in convert([data], "gateway-sse", "gateway-jsonl")] == [len(FRAMES)]
    assert len(list(convert([data], "gateway-sse", "gateway"))) == len(FRAMES)


# ---- closing ----------------------------------------------------------------------------------


def test_the_source_is_closed_at_the_end() -> None:
    source = Source(*FRAMES)
    assert collect(convert(source, "gateway", "unievent"))[1] is None
    assert source.log
    assert set(source.log) == {"close"}


async def test_the_asynchronous_source_is_closed_at_the_end() -> None:
    source = AsyncSource(*FRAMES)
    assert (await acollect(convert(source, "gateway", "unievent")))[1] is None
    assert set(source.log) == {"aclose"}


def test_closing_before_the_first_unit() -> None:
    source = Source(*FRAMES)
    stream = convert(source, "gateway", "unievent")
    stream.close()
    assert source.log == ["close"]
    assert list(stream) == []
    assert source.asked == 0


async def test_closing_before_the_first_unit_asynchronously() -> None:
    source = AsyncSource(*FRAMES)
    stream = convert(source, "gateway", "unievent")
    await stream.aclose()
    assert source.log == ["aclose"]
    assert await acollect(stream) == ([], None)
    assert source.asked == 0


def test_a_generator_is_closed_too() -> None:
    log: list[str] = []

    def source() -> Iterator[Any]:
        try:
            yield from FRAMES
        finally:
            log.append("finally")

    with convert(source(), "gateway", "unievent-jsonl") as stream:
        for _ in stream:
            break
    assert log == ["finally"]
    stream.close()
    assert log == ["finally"]


async def test_an_asynchronous_generator_is_closed_too() -> None:
    log: list[str] = []

    async def source() -> AsyncIterator[Any]:
        try:
            for item in FRAMES:
                yield item
        finally:
            await anyio.lowlevel.checkpoint()
            log.append("finally")

    async with convert(source(), "gateway", "unievent-jsonl") as stream:
        async for _ in stream:
            break
    assert log == ["finally"]


class Iterable:
    """An iterable that is closed apart from its iterator."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.log = source.log

    def __iter__(self) -> Source:
        return self.source

    def close(self) -> None:
        self.log.append("outer")


def test_both_an_iterable_and_its_iterator_are_closed() -> None:
    source = Iterable(Source(*FRAMES))
    list(convert(source, "gateway", "unievent"))
    assert source.log == ["close", "outer"]


def test_nothing_comes_after_closing() -> None:
    data = b"".join(convert(FRAMES, "gateway", "gateway-sse"))
    stream = convert([data], "gateway-sse", "gateway")
    assert next(stream) == FRAMES[0]
    stream.close()
    assert list(stream) == []
    # nor does an error that waited behind output
    stream = convert([data + b"data: {\n\n"], "gateway-sse", "gateway")
    next(stream)
    stream.close()
    assert list(stream) == []


def test_an_error_in_the_block_goes_on() -> None:
    source = Source(*FRAMES)
    with pytest.raises(Boom), convert(source, "gateway", "unievent"):
        raise Boom
    assert source.log == ["close"]


async def test_an_error_in_the_asynchronous_block_goes_on() -> None:
    source = AsyncSource(*FRAMES)
    with pytest.raises(Boom):
        async with convert(source, "gateway", "unievent"):
            raise Boom
    assert source.log == ["aclose"]


def test_a_source_that_fails_to_close() -> None:
    class Stubborn(Source):
        def close(self) -> None:
            super().close()
            raise Boom

    with pytest.raises(Boom):
        convert(Stubborn(), "gateway", "unievent").close()
    stream = convert(Stubborn(*FRAMES), "gateway", "gateway")
    out, error = collect(stream)
    assert out == FRAMES
    assert isinstance(error, Boom)
    assert list(stream) == []


# ---- errors -----------------------------------------------------------------------------------


def test_an_error_comes_after_the_output_before_it_and_once() -> None:
    data = b"".join(list(convert(FRAMES, "gateway", "gateway-sse"))[:3]) + b"data: {\n\n"
    source = Source(data, b"more")
    stream = convert(source, "gateway-sse", "gateway")
    for expected in FRAMES[:3]:
        assert next(stream) == expected
        # what is not needed any more was closed before its last words were given out
        assert source.log
    with pytest.raises(DecodeError):
        next(stream)
    assert source.asked == 1
    assert list(stream) == []


async def test_an_error_comes_after_the_output_before_it_asynchronously() -> None:
    data = b"".join(list(convert(FRAMES, "gateway", "gateway-sse"))[:3]) + b"data: {\n\n"
    source = AsyncSource(data, b"more")
    out, error = await acollect(convert(source, "gateway-sse", "gateway"))
    assert out == FRAMES[:3]
    assert isinstance(error, DecodeError)
    assert source.asked == 1
    assert set(source.log) == {"aclose"}


@pytest.mark.parametrize("cause", [None, ValueError("why")])
def test_an_exception_of_the_source_is_raised_as_it_is(cause: Exception | None) -> None:
    boom = Boom("x")
    boom.__cause__ = cause
    source = Source(*FRAMES[:2], boom)
    out, error = collect(convert(source, "gateway", "gateway"))
    assert out == FRAMES[:2]
    assert error is boom
    assert boom.__cause__ is cause
    assert set(source.log) == {"close"}


@pytest.mark.parametrize("boom", [Boom("x"), DecodeError("x")])
async def test_an_exception_of_the_asynchronous_source_is_raised_as_it_is(boom: Exception) -> None:
    source = AsyncSource(*FRAMES[:2], boom)
    out, error = await acollect(convert(source, "gateway", "gateway"))
    assert out == FRAMES[:2]
    assert error is boom
    assert set(source.log) == {"aclose"}


async def test_an_exception_of_the_source_may_be_encoded() -> None:
    failure = {"success": False, "code": 502, "message": "the source failed: Boom"}
    for source in (Source(*FRAMES[:2], Boom("x")), AsyncSource(*FRAMES[:2], Boom("x"))):
        if isinstance(source, AsyncSource):
            found = await acollect(convert(source, "gateway", "gateway", errors="encode", loss="drop"))
        else:
            found = collect(convert(source, "gateway", "gateway", errors="encode", loss="drop"))
        assert found == ([*FRAMES[:2], failure], None)
        assert source.log
    out, _ = collect(convert(Source(Boom()), "gateway", "gateway", errors="encode"))
    assert out[-1]["message"] == "the source failed: Boom"


@pytest.mark.parametrize("boom", [KeyboardInterrupt, SystemExit, GeneratorExit])
async def test_what_is_no_error_closes_and_goes_on(boom: type[BaseException]) -> None:
    source = Source(FRAMES[0], boom())
    stream = convert(source, "gateway", "gateway", errors="encode")
    assert next(stream) == FRAMES[0]
    with pytest.raises(boom):
        next(stream)
    assert set(source.log) == {"close"}
    for _ in range(2):
        with pytest.raises(TruncatedStream, match=f"broken off .{boom.__name__}., and its source closed"):
            next(stream)
    stream.close()
    assert list(stream) == []


def test_a_source_whose_iterator_cannot_be_made() -> None:
    class Broken:
        def __iter__(self) -> Iterator[Any]:
            raise Boom

    assert isinstance(collect(convert(Broken(), "gateway", "unievent"))[1], Boom)


@pytest.mark.parametrize("items", [[*FRAMES[:3], ERROR], FRAMES[:3], [*FRAMES[:3], FRAMES[1]], []])
def test_every_end_closes(items: list[Any]) -> None:
    source = Source(*items)
    out, error = collect(convert(source, "gateway", "gateway"))
    assert out == items[:3]
    assert isinstance(error, UpstreamFailure if ERROR in items else TruncatedStream if len(items) < 4 else Exception)
    assert set(source.log) == {"close"}


async def test_an_asynchronous_source_that_fails_to_close() -> None:
    class Stubborn(AsyncSource):
        async def aclose(self) -> None:
            raise Boom

    with pytest.raises(Boom):
        await convert(Stubborn(), "gateway", "unievent").aclose()
    out, error = await acollect(convert(Stubborn(*FRAMES), "gateway", "gateway"))
    assert out == FRAMES
    assert isinstance(error, Boom)


async def test_an_asynchronous_source_that_cannot_be_closed() -> None:
    class Open:
        def __aiter__(self) -> AsyncIterator[Any]:
            return self

        async def __anext__(self) -> Any:
            raise StopAsyncIteration

    stream = convert(Open(), "gateway", "gateway")
    assert isinstance((await acollect(stream))[1], TruncatedStream)
    await stream.aclose()


# ---- closing that fails -------------------------------------------------------------------------


class Pair:
    """An iterable and its iterator, which both fail to close."""

    def __init__(self, *items: Any) -> None:
        self.log: list[str] = []
        self.items = Source(*items)

    def __iter__(self) -> Iterator[Any]:
        return Half(self)

    def close(self) -> None:
        self.log.append("outer")
        raise Boom("outer")


class AsyncPair(Pair):
    """The same, asynchronous."""

    def __aiter__(self) -> AsyncIterator[Any]:
        return AsyncHalf(self)

    async def aclose(self) -> None:
        await anyio.lowlevel.checkpoint()
        self.close()

    __iter__ = None  # type: ignore[assignment]


class Half:
    def __init__(self, pair: Pair) -> None:
        self.pair = pair

    def __iter__(self) -> Half:
        return self

    def __next__(self) -> Any:
        return next(self.pair.items)

    def close(self) -> None:
        self.pair.log.append("inner")
        raise Boom("inner")


class AsyncHalf(Half):
    def __aiter__(self) -> AsyncHalf:
        return self

    async def __anext__(self) -> Any:
        await anyio.lowlevel.checkpoint()
        return self.pair.items._next(StopAsyncIteration)

    async def aclose(self) -> None:
        await anyio.lowlevel.checkpoint()
        self.close()

    __iter__ = None  # type: ignore[assignment]


INNER = "closing the source failed, too: Boom('inner')"
OUTER = "closing the source failed, too: Boom('outer')"


async def both(*items: Any) -> list[tuple[list[str], list[Any], BaseException | None]]:
    """What a pair of such items logs, gives and raises, in both skins."""
    pair, other = Pair(*items), AsyncPair(*items)
    found = collect(convert(pair, "gateway", "gateway"))
    return [(pair.log, *found), (other.log, *await acollect(convert(other, "gateway", "gateway")))]


async def test_all_is_closed_though_closing_fails() -> None:
    for log, out, error in await both(*FRAMES):
        assert (log, out) == (["inner", "outer"], FRAMES)
        assert str(error) == "inner"
        assert error is not None
        assert error.__notes__ == [OUTER]


async def test_closing_that_fails_does_not_hide_the_streams_own_error() -> None:
    for log, out, error in await both(*FRAMES[:2]):
        assert (log, out) == (["inner", "outer"], FRAMES[:2])
        assert isinstance(error, TruncatedStream)
        assert error.__notes__ == [INNER]


async def test_nor_one_that_is_kept_behind_output() -> None:
    data = b"".join(convert(FRAMES[:2], "gateway", "gateway-sse", errors="encode")) + b"data: {\n\n"
    pair = Pair(data)
    out, error = collect(convert(pair, "gateway-sse", "gateway"))
    assert len(out) == 2
    assert isinstance(error, UpstreamFailure)
    assert error.__notes__ == [INNER]
    assert pair.log == ["inner", "outer"]


# ---- one step at a time -------------------------------------------------------------------------


def test_a_source_that_asks_its_own_output() -> None:
    def source() -> Iterator[Any]:
        yield FRAMES[0]
        next(stream)
        yield from FRAMES[1:]

    stream = convert(source(), "gateway", "gateway")
    assert next(stream) == FRAMES[0]
    with pytest.raises(MisuseError, match="a step of the output within another"):
        next(stream)
    assert list(stream) == []


async def test_an_asynchronous_source_that_asks_its_own_output() -> None:
    async def source() -> AsyncIterator[Any]:
        yield FRAMES[0]
        await anext(stream)

    stream = convert(source(), "gateway", "gateway")
    assert await anext(stream) == FRAMES[0]
    with pytest.raises(MisuseError):
        await anext(stream)


@pytest.mark.parametrize("ends", [False, True])
async def test_a_second_step_beside_the_first_takes_nothing_from_it(ends: bool) -> None:
    asked, go = anyio.Event(), anyio.Event()

    async def source() -> AsyncIterator[Any]:
        for item in FRAMES[:-1]:
            yield item
        asked.set()
        await go.wait()
        yield FRAMES[-1]

    stream = convert(source(), "gateway", "gateway")
    found: list[Any] = [await anext(stream) for _ in FRAMES[:-1]]

    async def first() -> None:
        found.append(await anext(stream))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first)
        await asked.wait()
        for _ in range(2):
            with pytest.raises(MisuseError, match="one step at a time"):
                await anext(stream)
        if ends:
            tasks.cancel_scope.cancel()
        go.set()
    if ends:
        with pytest.raises(TruncatedStream):
            await anext(stream)
    else:
        assert found == FRAMES
        assert await acollect(stream) == ([], None)


async def test_nothing_is_taken_from_a_step_that_closes_its_source() -> None:
    closing, go = anyio.Event(), anyio.Event()

    class Slow(AsyncSource):
        async def aclose(self) -> None:
            closing.set()
            await go.wait()

    stream = convert(Slow(*FRAMES[:-1], FRAMES[-1], Boom("after")), "gateway", "gateway")
    found: list[Any] = [await anext(stream) for _ in FRAMES]
    ended: list[bool] = []

    async def last() -> None:
        ended.append(await anext(stream, None) is None)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(last)
        await closing.wait()
        with pytest.raises(MisuseError):
            await anext(stream)
        go.set()
    assert (found, ended) == (FRAMES, [True])
