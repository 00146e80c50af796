"""Every reason that a report gives of a request or a whole answer: a sentence, and what to do about it."""

from __future__ import annotations

from typing import Final

from ..carry.reasons import Why

_ELSEWHERE: Final = "choose a target that has it, or keep the carry for the way home"
_HOME: Final = "nothing, unless the way home matters: keep the carry then"

REASONS: Final[dict[str, Why]] = {
    "part": Why("{target} cannot say {what}", _ELSEWHERE),
    "unit": Why("only {what} knows this: {target} has nothing like it", _ELSEWHERE),
    "file": Why("a file id is known to its issuer alone, and not to {target}", "send the bytes or a URL"),
    "prefill": Why("{target} does not go on with a message of the assistant's", "ask for the beginning in words"),
    "tool": Why("a tool that runs on the side of {what} is not offered to {target}", "offer a function of your own"),
    "choice": Why("{target} cannot be told this choice of tools: {what}", "choose by what is offered"),
    "choice lost": Why("the choice names {what}, which is not offered to {target}", "choose another tool"),
    "no tools": Why("no tools are offered, so that there is nothing to choose", "nothing: it means the same"),
    "setting": Why("{target} has no such setting: {what}", "leave it out, or choose a target that has it"),
    "value": Why("{target} does not know this value: {what}", "use a word that it knows"),
    "few": Why("{target} takes {what} at most: the others are left out", "give fewer"),
    "usual": Why("{target} does so where nothing is said", "nothing: it means the same"),
    "member": Why("a member that {target} does not have", _HOME),
    "state": Why(
        "the state of another issuer stays home: {target} would refuse it",
        "nothing: it comes back where the conversation goes back",
    ),
    "thinking": Why(
        "thinking that {target} did not sign is not sent to it",
        "nothing, or ask for `foreign_thinking=\"text\"`",
    ),
    "envelope": Why("an envelope of state was left out: it is {what}", "look who changed it on its way"),
    "changed": Why(
        "the part was changed since its state was sealed: the state is left out",
        "nothing: its issuer would refuse a state of another text",
    ),
    "error flag": Why("{target} has no mark for a result that is an error", "say so in the text"),
    "cache": Why("{target} has no marks for what is to be cached", "nothing: it means the same, at another price"),
    "citations": Why("{target} has no words for these citations", _ELSEWHERE),
    "title": Why("{target} has no place for a title", _HOME),
    "parallel": Why("{target} cannot be told to call one tool at a time", "answer the calls one by one"),
    "thinking off": Why("{target} cannot be told not to think", "choose a model that does not think"),
}
"""Of losses."""

NOTES: Final[dict[str, Why]] = {
    "default": Why("{target} must have it, and nobody gave one: {what}", "give one"),
    "effort": Why("{target} knows no such effort: {what} is said, which is nearest", "use a word that it knows"),
    "budget": Why("{target} has efforts in place of budgets: {what} is said", "say an effort"),
    "effort as budget": Why("{target} has budgets in place of efforts: {what} is said", "say a budget"),
    "bounded": Why("{target} takes {what} at most: that is said", "give a value within its bounds"),
    "decoded": Why("{target} takes this as text: the bytes were decoded", "send text"),
    "as text": Why("{target} takes this as text: {what}", "nothing: the model reads the same"),
    "alphabet": Why(
        "{target} takes base64 in the alphabet of URLs, others do not: it is said in the usual one",
        "nothing: the bytes are the same",
    ),
    "older": Why("an older member, read as {target}", "nothing: it means the same"),
    "order": Why("{target} wants {what}: it was moved there", "nothing: it means the same"),
    "empty": Why("{target} refuses {what}: it was left out", "nothing: it said nothing"),
    "role": Why("{target} does not know the role {what}", "nothing: it means the same"),
    "joined": Why("{target} has one place for it: the pieces were joined", "nothing: it reads the same"),
    "strict": Why("{target} takes only closed schemas as strict: strict is not asked for", "close the schema"),
    "only these": Why("{target} cannot be told a choice among some: only these tools are offered", "offer fewer"),
    "word": Why("there is no word for the reason to finish {what}", "read the carry, where the difference matters"),
    "count": Why("{target} must have this count, and nobody knows it: 0 is said", "take it for unknown, not for none"),
    "media": Why("{target} takes no media in a result: it follows in the user's message", "nothing: the model sees it"),
    "thinking left out": Why(
        "{target} refuses to think on where a turn does not begin with its own thinking",
        "nothing: this request is answered without",
    ),
    "validator": Why(
        "{target} wants a signature with a call, and there is none of its own: its word for that is said", "nothing"
    ),
}
"""Of guesses and repairs."""


def why(key: str, target: str, what: str = "") -> str:
    """A reason in words."""
    table = REASONS if key in REASONS else NOTES
    return table[key].says.format(target=target, what=what)
