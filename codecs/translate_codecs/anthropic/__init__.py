"""Anthropic Messages, streaming, as objects, JSON lines and SSE.

1. ``stream := (ping | unknown)* message_start body message_delta+ message_stop | … error``;
   ``body := (block | ping | unknown)*``; ``block := content_block_start content_block_delta* content_block_stop``.
   An ``error`` is always last. On SSE the event name is the type.
2. One block is open at a time, by its ``index``. A block of unknown type is foreign as a whole, and so is a delta or a
   unit of unknown type. Unknown members stay in the residue. None of them is an error.
3. ``message_start`` may hold whole blocks and a reason. ``message_delta`` may come again, and ends an open block.
4. Counts are cumulative; one that is left out, or null, is as it was. Zeros alone in ``message_start`` say nothing.
5. The end of a call whose arguments are no whole object is foreign: its ``Close`` comes with the unit that says whether
   it was cut.
6. Redacted thinking is a thinking part of one text, whose state has its data as the signature.

Native words are lacking for bytes and vectors, a second ``Start``, ``Handover`` (an open block gets its end), counts
before the end, the server tools, annotations and states of others, and calls without a name; a refusal is text.

The residue: ``patch`` where the unit differs from the one written here, ``n`` where it made several events that would
be written as several units, ``reason`` of a ``message_delta``, and ``text`` on a fragment that is the text of redacted
thinking and stands for itself. Made up are a ``message_start`` and a ``message_delta`` that nobody said, the end of a
call that may have been cut, and a signature behind the text that it came with.
"""

from .codec import Anthropic

CODEC = Anthropic()

__all__ = ["CODEC", "Anthropic"]
