"""Profiles: what differs between the servers of one format, as data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from .effort import EFFORTS


@dataclass(frozen=True, slots=True)
class Profile:
    """What one server of a format takes. A setting that it lacks is a loss, never a 400 from it.

    ``issuer``               who issues its states; ``None``: many servers speak it, so that no state is its own
    ``scope``                the account or endpoint that states belong to, where that is known
    ``id_max``               characters of a call's id; ``None``: any number
    ``name_max``             characters of a tool's name
    ``system_role``          the role of instructions, whatever the source calls it; ``None``: as the source does
    ``mid_system``           instructions may stand within the conversation
    ``prefill``              the last message may be the assistant's, to be gone on with
    ``max_tokens_name``      the member that bounds the answer, where a format has several
    ``max_tokens_default``   where the format demands a bound, and nobody gave one
    ``efforts``              the words for efforts that it knows
    ``thinking_styles``      the ways to ask for thinking that it knows: ``adaptive, enabled, disabled, between_tools``
    ``tool_media``           a tool's result may hold media
    ``sampling``             the settings of sampling that it knows
    ``strict_unknown``       it refuses members that it does not know
    ``file_ids``             it knows the ids of files that were given to it
    ``trust_unknown``        a state of unknown issuer may be sent to it
    ``strict_tools``         it knows ``strict`` schemas
    """

    issuer: str | None = None
    scope: str | None = None
    id_max: int | None = None
    name_max: int = 64
    system_role: Literal["system", "developer"] | None = None
    mid_system: bool = True
    prefill: bool = True
    max_tokens_name: str | None = None
    max_tokens_default: int = 8192
    efforts: tuple[str, ...] = EFFORTS
    thinking_styles: tuple[str, ...] = ("adaptive", "enabled", "disabled")
    tool_media: bool = True
    sampling: tuple[str, ...] = ("temperature", "top_p", "top_k", "seed", "presence_penalty", "frequency_penalty")
    strict_unknown: bool = True
    file_ids: bool = True
    trust_unknown: bool = False
    strict_tools: bool = True


ProfileOption: TypeAlias = "Profile | str | Path | Mapping[str, Any]"
"""A profile; the name of a built-in one; the path of a TOML file; or some members, over the format's own profile."""


def profile_of(option: ProfileOption | None, known: Mapping[str, Profile], format: str) -> Profile:
    """The profile that was asked for. ``known``: the format's own, by name, the first of them the usual one.

    Raises ``ValueError`` for a name that is not known, or a member that is none.
    """
    usual = next(iter(known.values()))
    if option is None:
        return usual
    if isinstance(option, Profile):
        return option
    if isinstance(option, Path) or (isinstance(option, str) and option.endswith(".toml")):
        members = tomllib.loads(Path(option).read_text(encoding="utf-8"))
        return _over(usual, known, members, format)
    if isinstance(option, str):
        if option in known:
            return known[option]
        raise ValueError(f"{format} has no profile {option!r}, but {', '.join(map(repr, known))}, or a .toml file")
    return _over(usual, known, option, format)


def _over(usual: Profile, known: Mapping[str, Profile], members: Mapping[str, Any], format: str) -> Profile:
    members = dict(members)
    base = known.get(members.pop("base", ""), usual)
    kinds = {field.name: field for field in fields(Profile)}
    if strange := sorted(members.keys() - kinds.keys()):
        raise ValueError(f"a profile of {format} has no member {strange[0]!r}, but {', '.join(kinds)}")
    for name, value in members.items():
        default = getattr(Profile(), name)
        wanted = tuple if isinstance(default, tuple) else type(default)
        given = tuple(value) if isinstance(value, list) else value
        if default is not None and type(given) is not wanted and value is not None:
            raise ValueError(f"the member {name!r} of a profile is {_KINDS.get(wanted, 'text')}, not {value!r}")
        members[name] = given
    return replace(base, **members)


_KINDS: dict[type, str] = {bool: "true or false", int: "a whole number", tuple: "a list of words"}
