"""The inputs that are asked for: files, globs, folders with all below them, and URLs of the same."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from glob import glob, has_magic
from itertools import chain, takewhile
from pathlib import Path, PurePosixPath
from typing import Any

from .archives import is_archive, within
from .places import InputFault, MissingExtra, Place, identity, plain, system_of
from .rejects import SUFFIX


def find(asked: Iterable[str]) -> list[Place]:
    """The inputs that paths, globs, folders and URLs name, sorted within each; a file of several names once.

    Links are followed; one that leads nowhere is an input that cannot be read. Left out, but where they are asked for:
    names that begin with a dot or an underscore, files or folders on the way, as other tools hide what is not done
    (``_name=value`` is a partition), and of folders what jobs leave beside their outputs. Raises ``OSError`` where
    there is nothing, or a folder cannot be read: what is in it would be left out.
    """
    found: dict[str, Place] = {}
    for one in map(plain, asked):
        for place in _remote(one) if "://" in one else _local(one):
            known = found.setdefault(identity(place.path), place)
            if os.path.islink(known.path) and not os.path.islink(place.path):
                # its own name is the better one
                found[identity(place.path)] = place
    return list(found.values())


def is_one(asked: str) -> bool:
    """Whether something that is asked for is one input by itself, rather than a folder or glob."""
    asked = plain(asked)
    if "://" not in asked:
        return os.path.lexists(asked) and not os.path.isdir(asked) and not is_archive(asked)
    with _answering():
        system, path = system_of(asked)
        return not _has_magic(asked, path) and not system.isdir(path)


def _local(path: str) -> list[Place]:
    if has_magic(path) and not os.path.lexists(path):
        root = Path(*takewhile(lambda part: not has_magic(part), Path(path).parts[:-1]))
        _check_rights(Path(path).parts)
        names = sorted(name for name in glob(path, recursive=True) if _is_input(name) and _is_asked_for(name, path))
        places = [Place(name, Path(name).relative_to(root).as_posix()) for name in names]
    elif os.path.isdir(path):
        files = sorted(map(Path, _without_ours(name for name in _below(path) if _is_input(name))))
        places = [Place(str(file), file.relative_to(path).as_posix()) for file in files]
    elif os.path.lexists(path):
        places = [Place(path, os.path.basename(path))]
    else:
        places = []
    if not places:
        raise FileNotFoundError(2, _absent(path), path)
    found = list(within(places, bare=os.path.isfile(path)))
    return [place for place in found if not place.archive or all(map(_is_shown, PurePosixPath(place.name).parts))]


def _absent(path: str) -> str:
    """Why there is nothing to read."""
    if os.path.isdir(path):
        return "the folder holds no file"
    return "no file has such a name" if has_magic(path) else "there is no such file or folder"


def _below(path: str) -> Iterator[str]:
    """All that is in a folder and below, each folder on a way once."""
    above: dict[str, frozenset[str]] = {path: frozenset()}
    for folder, inner, names in os.walk(path, onerror=_raise, followlinks=True):
        way = above.pop(folder) | {os.path.realpath(folder)}
        shown = [name for name in inner if _is_shown(name)]
        inner[:] = [name for name in shown if os.path.realpath(os.path.join(folder, name)) not in way]
        above.update((os.path.join(folder, name), way) for name in inner)
        yield from (os.path.join(folder, name) for name in names if _is_shown(name))


def _check_rights(parts: Sequence[str]) -> None:
    """Raises ``OSError`` where a folder that a glob looks into cannot be read."""
    for index, part in enumerate(parts):
        if has_magic(part):
            above = os.path.join("", *parts[:index])
            looks = [above] if part != "**" else [above, os.path.join(above, "**", "")]
            for folder in chain.from_iterable(glob(each, recursive=True) if each else ["."] for each in looks):
                if os.path.isdir(folder):
                    os.scandir(folder).close()


def _is_input(path: str) -> bool:
    # a link that leads nowhere is told of
    return os.path.isfile(path) or (os.path.islink(path) and not os.path.exists(path))


def _is_shown(name: str) -> bool:
    """Whether the name of a file or folder is none that tools pass over."""
    return not name.startswith(".") and (not name.startswith("_") or "=" in name) and not name.endswith("._COPYING_")


def _is_asked_for(path: str, asked: str) -> bool:
    """Whether all hidden names on a way are asked for by a glob, which says how they begin."""
    said = [part for part in PurePosixPath(asked).parts if not part.startswith(("*", "?"))]
    return all(_is_shown(name) or any(fnmatch(name, part) for part in said) for name in PurePosixPath(path).parts)


def _without_ours(names: Iterable[str]) -> list[str]:
    """The inputs of a folder: not what a job has written beside its outputs."""
    found = set(names)
    beside = (SUFFIX, ".manifest.jsonl")
    ours = {name for name in found for end in beside if name.endswith(end) and name.removesuffix(end) in found}
    return list(found - ours)


def _raise(error: OSError) -> None:
    raise error


@contextmanager
def _answering() -> Iterator[None]:
    """Errors of a store's own library, such as for a host that is not there, are those of an input."""
    try:
        yield
    except (OSError, MissingExtra):
        raise
    except Exception as error:
        raise InputFault(f"{type(error).__name__}: {error}") from error


def _objects(found: dict[str, dict[str, Any]]) -> list[str]:
    """The names of what holds something: not the empty objects that stand for folders in stores."""
    above = {str(folder) for name in found for folder in PurePosixPath(name).parents}
    return [
        name
        for name, said in found.items()
        if said.get("type") != "directory" and not (name.endswith("/") or (name in above and not said.get("size")))
    ]


def _has_magic(url: str, path: str) -> bool:
    return has_magic(path.replace("?", "") if url.startswith(("http://", "https://")) else path)


def _remote(url: str) -> list[Place]:
    system, path = system_of(url)
    scheme = url.partition("://")[0]
    with _answering():
        if system.isdir(path):
            below = _objects(system.find(path, detail=True))
            shown = (name for name in below if all(map(_is_shown, PurePosixPath(os.path.relpath(name, path)).parts)))
            names, root = _without_ours(shown), path
        elif _has_magic(url, path):
            below = _objects(system.glob(path, detail=True))
            names = [name for name in below if _is_asked_for(name, path) and system.isfile(name)]
            root = str(PurePosixPath(*takewhile(lambda part: not has_magic(part), PurePosixPath(path).parts[:-1])))
        elif system.exists(path):
            return [Place(url, PurePosixPath(path).name)]
        else:
            names, root = [], ""
    if not names:
        raise FileNotFoundError(2, "no such object", url)
    full = {name: name if "://" in name else f"{scheme}://{name.lstrip('/')}" for name in names}
    return [Place(full[name], os.path.relpath(name, root)) for name in sorted(names)]
