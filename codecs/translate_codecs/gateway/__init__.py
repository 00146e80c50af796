"""The gateway's bracketed frames, as envelopes, JSON lines and SSE.

1. A unit is an envelope: ``{"success": true, "code", "value": {"type", …}}`` or ``{"success": false, "code",
   "message"}``. On SSE the event name is the ``type``, ``error`` for a failure.
2. ``stream := error | streamStart (run | tool | streamError | streamStart)* (stop | error)``;
   ``run := contentStart content* (contentEnd | streamError | error) |
   thinkingStart thinking* (thinkingEnd | streamError | error)``. An ``error`` is always last.
3. ``thinkingEnd.data`` is the run's provider state, its keys prefixed with who issued it. A call comes whole.
4. Frames of other types are foreign units; unknown members stay in the residue. Neither is an error.

Native words are lacking for bytes and vectors, server tools, ``Usage``, ``Annotate``, the state of anything but a
thinking run (which goes out at its end), ids, counts of cached and reasoning tokens, and raw words that are not
its own; a refusal is content.

The residue: ``patch`` where the envelope differs from the one written here (``code: 201``, an unknown member). On an
``error`` it is there, if empty, where the stream had no ``streamStart``. ``blank`` marks a call whose arguments were
blank text, not the ``{}`` written here. A ``streamStart`` made for a source that has
none is synthetic.
"""

from .codec import Gateway

CODEC = Gateway()

__all__ = ["CODEC", "Gateway"]
