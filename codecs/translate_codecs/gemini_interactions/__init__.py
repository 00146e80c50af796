"""Gemini Interactions: steps that start, grow and stop, as objects, JSON lines and SSE.

1. ``stream := interaction.created (other | step)* (interaction.completed | error)``;
   ``step := step.start step.delta* step.stop``, one open at a time, by its ``index``. On SSE the event name is the
   type; ``[DONE]`` is no end by itself.
2. A step of a thought, a call, or a tool that the server runs is a part. One of ``model_output`` says nothing: its
   deltas begin parts, and end those of another kind that are open; each image is a part of its own.
3. Units, steps and deltas of other types are foreign, and so are a ``status_update``, and the start and the stop of a
   step that says no part.
4. Counts are cumulative; one that is left out is as it was. ``Usage`` has what changed.
5. A call's arguments may come with its start, as an object; an empty one says nothing.
6. An interaction that failed, was cancelled, or went over its budget is a failure.

Native words are lacking for ``Handover`` (an open step is stopped), a second ``Start``, text of no length, vectors,
counts before the end, tools, annotations and states of others, and states of text. A refusal is text, and thinking that
is bytes is bytes.

The residue: ``patch`` where the unit differs from the one written here, ``n`` where it made several events that would
be written as several units, ``signature`` on a fragment that came as a signature and would be written as another
delta, and ``status`` on a ``Failure`` that ended a whole interaction. Made up are a start that nobody said, the start
of a step of ``model_output``, and a signature behind the text that it came with.
"""

from .codec import Interactions

CODEC = Interactions()

__all__ = ["CODEC", "Interactions"]
