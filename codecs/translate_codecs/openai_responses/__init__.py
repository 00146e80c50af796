"""OpenAI Responses, streaming, as objects, JSON lines and SSE.

1. ``stream := keepalive* (created | in_progress)? (queued | in_progress | item unit | note)*`` and a terminal unit,
   ``completed``, ``incomplete`` or ``failed``; an ``error`` is a failure where the input ends behind it. On SSE the
   event name is the type.
2. A unit is of an item, by ``output_index``; ids are no keys. A message has parts, and each of them is one; any other
   item is a part, or a call and its result, or has no kind.
3. Items may interleave: they are said in the order in which they opened (:mod:`translate.algebra.serial`).
4. What was said comes again up to four times. The repeats are checked, and say nothing; such units are foreign, by
   what differs from the unit that was to be expected (:meth:`.wire.Wire.compact`). The message is held for that.
5. An item that is open at ``incomplete`` is cut off there; at ``completed`` that is an error, unless it has no kind.
6. Arguments that a ``.done`` has beyond their fragments are an ``Append``; free text is wrapped in ``input``.
7. Encrypted content is bound to the id of its item, and travels with it.

Native words are lacking for ``Handover`` (an open part gets its end), a second ``Start``, ``Usage`` before the end,
bytes and vectors, server tools, annotations and states of others, and calls without a name.

The residue: ``patch`` where the unit differs from the one expected, ``o`` its padding, ``unit`` its type where nothing
else is written for its events, ``item`` the type of its item, ``n`` where it made several events, ``said``. Made up are
the units around a part that other formats do not have, and a ``response.created`` that nobody said.
"""

from .codec import Responses

CODEC = Responses()

__all__ = ["CODEC", "Responses"]
