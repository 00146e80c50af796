"""Translates the streaming wire formats of language models into one another, without losing anything."""

from __future__ import annotations

from .algebra.events import (
    Annotate,
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Foreign,
    Handover,
    JsonObject,
    Model,
    Open,
    Ping,
    Reason,
    Start,
    State,
    TokenCounts,
    Usage,
)
from .api import (
    ByteFormat,
    ConvertOptions,
    EventFormat,
    Format,
    ObjectFormat,
    ReadOptions,
    WriteOptions,
    assemble,
    check,
    convert,
    decode,
    encode,
)
from .carry.losses import ErrorPolicy, Finding, LossPolicy, Report
from .codec import Codec, Decoder, Encoder, Mended, Options, Said, Written
from .engine.checker import Fault
from .engine.options import ModelOption
from .engine.streams import AsyncStream, Stream
from .engine.trace import Trace
from .engine.translator import Translator
from .errors import (
    CarryError,
    CodecError,
    DecodeError,
    GrammarError,
    LimitExceeded,
    LossError,
    MisuseError,
    RequestError,
    StreamStopped,
    StreamTimeout,
    ToolArgumentsError,
    TranslateError,
    TruncatedStream,
    UnknownFormat,
    UnsupportedFormat,
    UpstreamFailure,
)
from .limits import Limits
from .messages.api import (
    convert_answer,
    convert_error,
    convert_messages,
    convert_request,
    decode_answer,
    decode_error,
    decode_request,
    encode_answer,
    encode_error,
    encode_request,
)
from .messages.exchange import Exchange
from .messages.folding import fold, unfold
from .messages.nodes import Answer, Request
from .messages.profiles import Profile
from .registry import codec, formats, register

__version__ = "0.1.0"

__all__ = [
    "Annotate",
    "Answer",
    "Append",
    "AsyncStream",
    "ByteFormat",
    "CarryError",
    "Close",
    "Codec",
    "CodecError",
    "ConvertOptions",
    "DecodeError",
    "Decoder",
    "Encoder",
    "ErrorPolicy",
    "Event",
    "EventFormat",
    "Exchange",
    "Failure",
    "Fault",
    "Finding",
    "Finish",
    "Foreign",
    "Format",
    "GrammarError",
    "Handover",
    "JsonObject",
    "LimitExceeded",
    "Limits",
    "LossError",
    "LossPolicy",
    "Mended",
    "MisuseError",
    "Model",
    "ModelOption",
    "ObjectFormat",
    "Open",
    "Options",
    "Ping",
    "Profile",
    "ReadOptions",
    "Reason",
    "Report",
    "Request",
    "RequestError",
    "Said",
    "Start",
    "State",
    "Stream",
    "StreamStopped",
    "StreamTimeout",
    "TokenCounts",
    "ToolArgumentsError",
    "Trace",
    "TranslateError",
    "Translator",
    "TruncatedStream",
    "UnknownFormat",
    "UnsupportedFormat",
    "UpstreamFailure",
    "Usage",
    "WriteOptions",
    "Written",
    "assemble",
    "check",
    "codec",
    "convert",
    "convert_answer",
    "convert_error",
    "convert_messages",
    "convert_request",
    "decode",
    "decode_answer",
    "decode_error",
    "decode_request",
    "encode",
    "encode_answer",
    "encode_error",
    "encode_request",
    "fold",
    "formats",
    "register",
    "unfold",
]


def __dir__() -> list[str]:
    return sorted(__all__)
