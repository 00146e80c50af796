"""The inputs that are asked for: files, globs, folders with all below them, and URLs of the same."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from glob import glob, has_magic
from itertools import takewhile
from pathlib import Path, PurePosixPath

from .places import InputFault, MissingExtra, Place, plain, system_of


def find(asked: Iterable[str]) -> list[Place]:
    """The inputs that paths, globs, folders and URLs name, sorted within each.

    Names that begin with a dot or an underscore are left out, but where they are asked for. Raises ``OSError`` where
    there is nothing, or a folder cannot be read: what is in it would be left out.
    """
    found: dict[str, Place] = {}
    for one in map(plain, asked):
        for place in _remote(one) if "://" in one else _local(one):
            found.setdefault(place.path, place)
    return list(found.values())


def is_one(asked: str) -> bool:
    """Whether something that is asked for is one input by itself, rather than a folder or glob."""
    asked = plain(asked)
    if "://" not in asked:
        return os.path.lexists(asked) and not os.path.isdir(asked)
    with _answering():
        system, path = system_of(asked)
        return not has_magic(path) and not system.isdir(path)


def _local(path: str) -> list[Place]:
    if has_magic(path) and not os.path.lexists(path):
        root = Path(*takewhile(lambda part: not has_magic(part), Path(path).parts[:-1]))
        names = sorted(name for name in glob(path, recursive=True) if os.path.isfile(name) and _is_shown(name))
        places = [Place(name, Path(name).relative_to(root).as_posix()) for name in names]
    elif os.path.isdir(path):
        files = sorted(Path(folder, name) for folder, _, inner in os.walk(path, onerror=_raise) for name in inner)
        places = [Place(str(p), p.relative_to(path).as_posix()) for p in files if p.is_file() and _is_shown(p.name)]
    elif os.path.lexists(path):
        places = [Place(path, os.path.basename(path))]
    else:
        places = []
    if not places:
        raise FileNotFoundError(2, "no such file", path)
    return places


def _is_shown(path: str) -> bool:
    return not PurePosixPath(path).name.startswith((".", "_"))


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


def _remote(url: str) -> list[Place]:
    system, path = system_of(url)
    scheme = url.partition("://")[0]
    with _answering():
        if system.isdir(path):
            names = [name for name in system.find(path) if _is_shown(name)]
            root = path
        elif has_magic(path):
            names = [name for name in system.glob(path) if _is_shown(name) and system.isfile(name)]
            root = str(PurePosixPath(*takewhile(lambda part: not has_magic(part), PurePosixPath(path).parts[:-1])))
        else:
            names = [path] if system.exists(path) else []
            root = str(PurePosixPath(path).parent)
    if not names:
        raise FileNotFoundError(2, "no such object", url)
    return [Place(f"{scheme}://{name.lstrip('/')}", os.path.relpath(name, root)) for name in sorted(names)]
