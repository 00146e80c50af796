"""Gemini's ``streamGenerateContent``: chunks that say what was added, as objects, JSON lines, SSE and one array.

1. A unit is a chunk: one candidate, whose ``content.parts`` say what was added, with ``usageMetadata``,
   ``modelVersion`` and ``responseId``; or ``{"error": {…}}``, which ends the stream. Several candidates are refused.
2. ``stream := chunk* (error | end of input)``. The end is the end of input after a reason, or after a reason for which
   the prompt was refused; without one, or within a call or an array, the input was cut short. The last reason stands.
3. Nothing says that a part begins or ends, but that calls, images and the provider's tools come whole. Text goes on as
   text of the same ``thought`` and of no other signature, audio as audio of the same type.
4. A call may come in pieces, its arguments by paths (:mod:`.paths`); nothing else may come before it is over.
5. Counts stand alone: they replace those before, and what a chunk leaves out is none. ``Usage`` has what changed.
6. On SSE a chunk is a ``data:`` line and nothing else, for the provider's readers refuse or lose what is more. The
   carry is the unit's last member, and an ``error`` its first. A bare error body after the events is an error.
7. An object that is no chunk is foreign, and so is a chunk that says nothing: they only come home.

Native words are lacking for ``Close`` and ``Handover``, a second ``Start``, vectors, ``Annotate`` and ``Usage`` of
others, the tools of other providers, states of others, and text of no length; a refusal is text.

The residue: ``patch`` where the chunk differs from the one that is expected: the one written here, with the members of
the chunk before, and with what chunks of that form differed in (:mod:`translate.carry.repeats`). ``v``: the values of
what moves. ``parts``: the parts of a chunk with pieces of a call. It is there, if empty, on what is only written where
it came from here: ``Usage``, ``Annotate``, the provider's tools, ``Failure``, ``Finish``.
"""

from .codec import Gemini

CODEC = Gemini()

__all__ = ["CODEC", "Gemini"]
