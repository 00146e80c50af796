"""UniEvent: the delta/done grammar of MMSP, as objects, JSON lines, a JSON array and SSE.

1. A unit is an event or ``{"error": {…}}``. An event of type ``delta`` holds one item; ``stop`` holds none, and the
   usage and finish reason. An error is always last.
2. Items form groups, which do not interleave: ``stream := group* (stop | error)``; ``group := delta+ (done | error)``,
   ``delta`` being a ``K.delta`` and ``done`` a ``K.done``, K one of the six kinds.
3. The first fragment of a call has its name and id, the later ones have neither.
4. ``K.done`` is the first fragment with the growing field replaced by all that the fragments held; a call's arguments
   are parsed, blank text being ``{}``.
5. One distinct fidelity a group, on any fragment, and on the ``.done``.
6. Unknown event types and item types are foreign units; unknown members stay in the residue. Neither is an error.
7. On SSE an event is one ``data`` line without a name, and ``[DONE]`` follows the end.

Native words are lacking for ``Start``, ``Handover`` (a half run gets its ``.done``), ``Usage``, ``Annotate``, server
tools, calls without a name or id, namespaces, raw finish reasons, and a second state of one part; a refusal is text.

The residue: ``at``, the unit's ``created_at`` (absent where there was none), and ``patch`` where the unit differs from
the one written here. A stamped ``created_at`` is synthetic.
"""

from .codec import UniEvent

CODEC = UniEvent()

__all__ = ["CODEC", "UniEvent"]
