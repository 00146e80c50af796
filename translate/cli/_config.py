"""What the sidecar is told by a file and by the environment: the same options, under the same names.

The command line says first, then variables of the environment, then the file; what none says is the default.
"""

from __future__ import annotations

import os
import tomllib
from argparse import SUPPRESS, Action, ArgumentError, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ._status import InputError, UsageError

PREFIX = "TRANSLATE_SERVE_"
"""Of the variables. Not shorter: Kubernetes makes variables of the names of services, ``..._PORT`` among them."""
ROUTE = "route"
OF_ROUTES = frozenset(("path", "host", "models"))
"""What routes alone say; ``host`` is there the one that requests are for, ``models`` patterns with commas between."""
_HERE = frozenset(
    (
        *("config", "check", "host", "port", "metrics_host", "metrics_port", "tls_cert", "tls_key", "client_ca"),
        *("grace", "workers", "otlp", "log_format", "log_level", "allow_host", "max_concurrent", "max_head"),
        *("max_memory", "body", "keep_client", "playground"),
    )
)
"""What only the whole process can be told."""


class Layers:
    """The options of a parser, whose defaults are left to :meth:`filled`."""

    def __init__(self, parser: ArgumentParser) -> None:
        self._parser = parser
        self._options: dict[str, Action] = {}
        self.defaults: dict[str, Any] = {}
        for action in parser._actions:
            long = [name for name in action.option_strings if name.startswith("--")]
            if not long or action.dest == "help":
                continue
            action.required = False
            if action.dest == "strict" and long[0] == "--lenient":
                continue
            self._options[long[0].removeprefix("--")] = action
            self.defaults[action.dest] = action.default
        for action in parser._actions:
            if action.dest in self.defaults:
                action.default = SUPPRESS

    def filled(self, given: Namespace) -> tuple[Namespace, list[tuple[Mapping[str, str], Namespace]]]:
        """All options, and those of each route, with what the routes alone say."""
        said = vars(given)
        variables = dict(self._variables())
        place = said.get("config") or variables.get("config")
        table = _loaded(place) if place else {}
        routes = table.pop(ROUTE, [])
        if not isinstance(routes, list) or not all(isinstance(each, dict) for each in routes):
            raise UsageError(f"{place}: 'route' is a list of tables, [[route]]")
        file = dict(self._values(table, str(place)))
        base = {**self.defaults, **file, **variables, **said}
        found: list[tuple[Mapping[str, str], Namespace]] = []
        for number, each in enumerate(routes):
            where = f"{place}: route {number + 1}"
            own = {name: each.pop(name) for name in OF_ROUTES & each.keys()}
            if not all(isinstance(value, str) for value in own.values()):
                raise UsageError(f"{where}: 'path', 'host' and 'models' are texts")
            values = dict(self._values(each, where))
            if whole := sorted(_HERE & values.keys()):
                raise UsageError(f"{where}: {whole[0].replace('_', '-')!r} is not of a route, but of all")
            found.append((own, Namespace(**{**base, **values})))
        return Namespace(**base), found

    def _variables(self) -> Iterator[tuple[str, Any]]:
        for name, action in self._options.items():
            variable = PREFIX + name.upper().replace("-", "_")
            text = os.environ.get(variable)
            if text is not None:
                yield action.dest, self._read(action, _of_text(action, text), variable)

    def _values(self, table: Mapping[str, Any], where: str) -> Iterator[tuple[str, Any]]:
        for name, value in table.items():
            action = self._options.get(name)
            if action is None:
                near = get_close_matches(name, self._options, 1)
                raise UsageError(f"{where}: no option is called {name!r}" + (f"; {near[0]!r} is" if near else ""))
            yield action.dest, self._read(action, value, f"{where}: {name!r}")

    def _read(self, action: Action, value: Any, where: str) -> Any:
        """A value as the command line would give it."""
        if action.nargs == 0:
            if not isinstance(value, bool):
                raise UsageError(f"{where} is true or false")
            return value
        several = _is_list(action)
        if several and isinstance(value, list):
            return [self._one(action, each, where) for each in value]
        one = self._one(action, value, where)
        return [one] if several else one

    def _one(self, action: Action, value: Any, where: str) -> Any:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise UsageError(f"{where} is a text or a number")
        try:
            found = action.type(str(value)) if callable(action.type) else str(value)
        except (ArgumentTypeError, ArgumentError, ValueError) as error:
            raise UsageError(f"{where}: {error}") from None
        if action.choices is not None and found not in action.choices:
            raise UsageError(f"{where} is one of {', '.join(action.choices)}")
        return found

    def schema(self) -> dict[str, Any]:
        """The file as JSON Schema has it."""
        options = {name: _schema(action, self.defaults[action.dest]) for name, action in self._options.items()}
        options = {name: options[name] for name in options if name not in ("config", "check")}
        of_route = {name: options[name] for name in options if self._options[name].dest not in _HERE}
        of_route["path"] = {"type": "string", "description": "requests below it; it is taken off", "default": "/"}
        of_route["host"] = {"type": "string", "description": "requests for it; without, for any"}
        of_route["models"] = {"type": "string", "description": "patterns of the models asked for, with commas between"}
        route = {"type": "object", "properties": of_route, "additionalProperties": False}
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "translate-streams serve --config",
            "type": "object",
            "properties": {**options, ROUTE: {"type": "array", "items": route}},
            "additionalProperties": False,
        }


def _is_list(action: Action) -> bool:
    return type(action).__name__ == "_AppendAction"


def _of_text(action: Action, text: str) -> Any:
    """The value of a variable: of flags ``true`` or ``false``, of options that may be given again one a line."""
    if action.nargs == 0:
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    return [line for line in text.splitlines() if line.strip()] if _is_list(action) else text


def _schema(action: Action, default: Any) -> dict[str, Any]:
    kind: dict[str, Any] = {"type": "boolean"} if action.nargs == 0 else {"type": ["string", "number"]}
    if action.choices is not None:
        kind = {"enum": list(action.choices)}
    elif action.type is None and action.nargs != 0:
        kind = {"type": "string"}
    if _is_list(action):
        kind = {"oneOf": [kind, {"type": "array", "items": kind}]}
    if isinstance(default, (str, int, float)):
        kind["default"] = default
    return {**kind, "description": " ".join((action.help or "").split())}


def _loaded(place: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(place).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{place} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{place} is no TOML: {error}") from None
