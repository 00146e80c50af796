"""Errors as failures of the algebra, and back: what a stream reports is raised, what is raised can be said."""

from __future__ import annotations

from ..errors import ToolArgumentsError, TranslateError, UpstreamFailure
from .events import Failure, JsonObject

ENCODED_CODE = 502
"""The code of a failure of the source itself."""
_PREVIEW = 200


def reported(failure: Failure) -> UpstreamFailure:
    """The error that a failure in the stream itself is raised as."""
    return UpstreamFailure(failure.code, failure.message, failure.kind, failure.details)


def failure_of(error: BaseException) -> Failure:
    """The failure that an error becomes under ``errors="encode"``.

    It goes to whoever reads the output: it says what went wrong, but shows neither the input nor the words of
    exceptions from elsewhere.
    """
    if isinstance(error, UpstreamFailure):
        return Failure(error.code, error.message, error.kind, error.details)
    if not isinstance(error, TranslateError):
        return Failure(ENCODED_CODE, f"the source failed: {type(error).__name__}", type(error).__name__)
    message = f"{error.what}; expected {error.expected}" if error.expected else error.what
    if isinstance(error, ToolArgumentsError):
        details: JsonObject = {
            "tool_name": error.name,
            "tool_call_id": error.id,
            "raw_arguments_length": len(error.raw),
            "raw_arguments_preview": error.raw[:_PREVIEW],
        }
        return Failure(error.code, message, "ToolArgumentsError", details)
    return Failure(error.code, message, type(error).__name__)
