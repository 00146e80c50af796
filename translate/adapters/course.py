"""The course of a stream, as one table: what its source does, what its receiver does, and what is done about both.

1. Source and receiver are in one state each. What happens to one of them moves it on by :data:`SOURCE` or
   :data:`RECEIVER`; what has no place in its state is a fault of this program.
2. What is done depends on both, and stands in :data:`TABLE`. :mod:`.pump` asks it by :meth:`Course.does`, and does so;
   :mod:`.alarms` asks it which waits go on. Neither keeps a state of its own.

| the source is | when |
| --- | --- |
| ``none`` | there is no stream yet |
| ``opening`` | it is not known yet whether it will be one: nothing may be said |
| ``reading`` | it is read |
| ``passing`` | it is read, and is no stream: it passes as it is |
| ``said`` | its terminal unit was translated; it may go on to its end |
| ``reported`` | the same, of a failure that it reported itself |
| ``over``, ``passed``, ``done`` | it is closed, or being closed, after ``reading``, ``passing``, ``said`` |
| ``failed`` | a failure of it was translated: no more of it is wanted |

| the receiver is | when |
| --- | --- |
| ``fresh`` | it has nothing, and can have another answer than a stream |
| ``ready`` | it has all that it was given |
| ``taking``, ``pinged``, ``refusing`` | it takes output, a keep-alive, another answer |
| ``refused`` | it has another answer |
| ``torn`` | it was cancelled while it took something: nothing can follow |
| ``left`` | it left, or was told that it did, or raised |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

States: TypeAlias = Mapping[str, Mapping[str, str]]

SOURCE: States = {
    "none": {"begins": "opening", "opens": "reading"},
    "opening": {"opens": "reading", "fails": "failed", "closes": "over"},
    "reading": {
        **{"opens": "reading", "passes": "passing"},
        **{"says": "said", "reports": "reported", "fails": "failed", "closes": "over"},
    },
    "passing": {"closes": "passed"},
    "said": {"says": "said", "closes": "done"},
    "reported": {"reports": "reported", "fails": "failed", "closes": "failed"},
    "over": {"says": "done", "reports": "failed", "fails": "failed", "closes": "over"},
    "passed": {"closes": "passed"},
    "done": {"says": "done", "closes": "done"},
    "failed": {"reports": "failed", "fails": "failed", "closes": "failed"},
}
RECEIVER: States = {
    "fresh": {"given": "taking", "pinged": "pinged", "refused": "refusing", "leaves": "left"},
    "ready": {"given": "taking", "pinged": "pinged", "leaves": "left"},
    "taking": {"takes": "ready", "tears": "torn", "leaves": "left"},
    "pinged": {"takes": "ready", "tears": "torn", "leaves": "left"},
    "refusing": {"takes": "refused", "tears": "torn", "leaves": "left"},
    "refused": {"leaves": "left"},
    "torn": {"leaves": "left"},
    # it may have been told so while it took something
    "left": {"takes": "left", "tears": "left", "leaves": "left"},
}

TABLE = """
                                               fresh   ready   taking  pinged  refusing refused torn    left

a keep-alive is due
    ping    reading                            ping    ping    -       -       -        -       -       -

someone ends it: a time-out, a service that shuts down
    stop    all                                end     end     end     end     end      end     end     end

its task is cancelled, and what the server shields from that is not waited for
    cancel  all                                -       -       free    -       free     -       -       -

the receiver leaves: once all was said that is no one's concern
    leave   all                                leave   leave   leave   leave   leave    leave   leave   -
    leave   said done                          -       -       leave   leave   leave    leave   leave   -

it fails, by what its source raised or why it was stopped
    fail    opening reading over               say     say     !       !       !        -       raise   -
    fail    passing passed                     refuse  raise   !       !       !        -       raise   -
    fail    said reported done failed          give    give    !       !       !        -       raise   -

there is output
    give    all                                put     put     !       !       !        drop    drop    drop

there is a failure, and no unit came before it
    reject  all                                refuse  put     !       !       !        drop    drop    drop

it is over, and this is how it ended
    end     all                                failed  failed  failed  failed  failed   failed  failed  left
    end     passing passed                     passed  passed  passed  passed  passed   passed  passed  left
    end     said done                          whole   whole   failed  failed  failed   failed  failed  left

these waits go on
    write   all                                -       -       yes     yes     yes      -       -       -
    total   all                                yes     yes     yes     yes     yes      yes     yes     yes
    total   done failed                        -       -       late    late    late     -       -       -
    first   opening reading                    yes     yes     yes     yes     yes      yes     yes     yes
    between opening reading said reported      yes     yes     yes     yes     yes      yes     yes     yes
    idle    opening reading passing said reported yes  yes     -       -       -        yes     -       yes
"""
"""What is done when something happens, by what the source does (``all``: in all states but those that a line below
names)
and by what the receiver does. ``-``: nothing; ``!``: that cannot be.
"""


def _cells(table: str) -> dict[tuple[str, str, str], str]:
    found: dict[tuple[str, str, str], str] = {}
    for line in table.splitlines():
        if line.startswith("    ") and line.split()[0] != RECEIVERS[0]:
            what, *words = line.split()
            sources, actions = words[: -len(RECEIVERS)], words[-len(RECEIVERS) :]
            for source in SOURCE if sources == ["all"] else sources:
                found |= {(what, source, receiver): action for receiver, action in zip(RECEIVERS, actions, strict=True)}
    return found


WRITES = ("taking", "pinged", "refusing")
"""Those of its states in which it is given something."""
RECEIVERS = tuple(RECEIVER)
CELLS: Mapping[tuple[str, str, str], str] = _cells(TABLE)


class Course:
    """Where a stream is. ``refusable``: its receiver can have another answer than a stream."""

    __slots__ = ("receiver", "source")

    def __init__(self, *, refusable: bool = False) -> None:
        self.source = "none"
        self.receiver = RECEIVERS[0 if refusable else 1]

    def happens(self, event: str) -> None:
        """The source moves on: a verb of :data:`SOURCE`."""
        self.source = SOURCE[self.source][event]

    def receives(self, event: str) -> None:
        """The receiver moves on: a verb of :data:`RECEIVER`."""
        self.receiver = RECEIVER[self.receiver][event]

    def does(self, what: str) -> str:
        """What is done when this happens: a word of :data:`TABLE`."""
        return CELLS.get((what, self.source, self.receiver), "-")

    @property
    def begun(self) -> bool:
        """Whether there is a stream."""
        return self.source != "none"

    @property
    def finished(self) -> bool:
        """Whether nothing more of the source is wanted."""
        return self.source in ("done", "failed", "passed")

    @property
    def whole(self) -> bool:
        """Whether the receiver has all of a stream that did not fail."""
        return self.does("end") == "whole"
