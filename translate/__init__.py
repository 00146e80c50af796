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
    Model,
    Open,
    Ping,
    Reason,
    Start,
    State,
    TokenCounts,
    Usage,
)
from .api import assemble, check, convert, decode, encode
from .carry.losses import Finding, Report
from .codec import Codec, Decoder, Encoder, Mended, Options, Said, Written
from .engine.checker import Fault
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
    StreamStopped,
    StreamTimeout,
    ToolArgumentsError,
    TranslateError,
    TruncatedStream,
    UnknownFormat,
    UpstreamFailure,
)
from .limits import Limits
from .registry import codec, formats, register

__version__ = "0.1.0"

__all__ = [
    "Annotate",
    "Append",
    "CarryError",
    "Close",
    "Codec",
    "CodecError",
    "DecodeError",
    "Decoder",
    "Encoder",
    "Event",
    "Failure",
    "Fault",
    "Finding",
    "Finish",
    "Foreign",
    "GrammarError",
    "Handover",
    "LimitExceeded",
    "Limits",
    "LossError",
    "Mended",
    "MisuseError",
    "Model",
    "Open",
    "Options",
    "Ping",
    "Reason",
    "Report",
    "Said",
    "Start",
    "State",
    "StreamStopped",
    "StreamTimeout",
    "TokenCounts",
    "ToolArgumentsError",
    "Trace",
    "TranslateError",
    "Translator",
    "TruncatedStream",
    "UnknownFormat",
    "UpstreamFailure",
    "Usage",
    "Written",
    "assemble",
    "check",
    "codec",
    "convert",
    "decode",
    "encode",
    "formats",
    "register",
]
