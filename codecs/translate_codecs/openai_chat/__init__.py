"""Chat Completions: chunks that say what was added, as objects, JSON lines and SSE.

1. A unit is a chunk: ``id``, ``object``, ``created`` and ``model``, the same in all, and ``choices`` with one entry of
   index 0, whose ``delta`` says what was added; or ``{"error": {…}}``, which ends the stream.
2. ``stream := silent* chunk* (end | error)``; ``chunk := Start? piece* reason? usage?``; the end is ``[DONE]``, or the
   end of input after a reason. Several choices are refused: one stream is one message.
3. Nothing says that a part begins or ends. It begins with its first piece that is not empty, and ends where a part of
   another kind or the next call begins, and at the reason. What shows the end says the ``Close``.
4. Calls may interleave. While the open call's arguments are not one whole JSON value, whatever else comes waits, in the
   order in which it began; at the reason all of it is said (:mod:`translate.algebra.serial`).
5. ``stop`` replaces none of ``tool_calls``, ``length`` and ``content_filter``; any other later reason stands.
   ``Finish`` comes with the end; what a carry says of it rides on the last chunk.
6. A thinking part has one state: the member that its text came in, or what ``reasoning_details`` hold.
7. A unit without choices, counts and error, or one whose delta says nothing, is foreign: it only comes home.

Native words are lacking for ``Close`` and ``Handover``, a second ``Start``, bytes and vectors, server tools,
``Annotate`` and ``Usage`` of others, states without a signature or encrypted content, and words of other vendors.

The residue: ``patch`` where the chunk differs from the one that is expected: the one written here, with what chunks of
that form differed in before (:mod:`translate.carry.repeats`). ``v``: the values of what moves. ``reason``: the word
that the chunk gives. ``said``: the chunks that said the event came before. ``line``: the name
of an error that stood on a line of its own. It is there, if empty, on what is only
written where it came from here: ``Usage``, ``Annotate``, states, ``Failure``, ``Finish``.
"""

from .codec import Chat

CODEC = Chat()

__all__ = ["CODEC", "Chat"]
