"""The part of the public surface that is Python: names to import, signatures, commands, options of Spark."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import tomllib
from collections.abc import Callable
from typing import Any, Final, cast

import click

from pyqueue_sql import cli
from pyqueue_sql.cli.common import INTERRUPTED, NO_CONNECTION, NOTHING, REFUSED, USAGE
from pyqueue_sql.spark.options import KNOWN
from tools import house, reference_python

WHOLE: Final = (
    *(name for name, _ in reference_python.MODULES),
    *("pyqueue_sql.doctor", "pyqueue_sql.embedded", "pyqueue_sql.metrics", "pyqueue_sql.spark"),
    "pyqueue_sql.web",
)
"""Modules of which all of `__all__` is promised."""
NAMED: Final = {
    "pyqueue_sql.alembic": ("include_name", "include_object"),
    "pyqueue_sql.calls.connect": ("ConnectionFailed", "connect"),
    "pyqueue_sql.schema.migrate": ("current", "downgrade", "upgrade"),
    "pyqueue_sql.spark.jars": ("jdbc",),
    "pyqueue_sql.spark.pipeline": ("Pipeline", "Station"),
    "pyqueue_sql.spark.session": ("make_session",),
    "pyqueue_sql.spark.sink": ("batch_of",),
}
"""Modules of which these names are; the pages show them."""
OF_DEVELOPERS: Final = frozenset({"bench", "demo", "docs", "lint", "release", "spark-demo", "test"})
"""Extras for those who work on the package."""
METRIC: Final = re.compile(r'MetricFamily\(\s*"(\w+)"')
UNPACKED: Final = re.compile(r"Unpack\[(\w+)\]")


def items() -> dict[str, str]:
    """Return what is promised, by its name."""
    found: dict[str, str] = {}
    names = [(module, name) for module in WHOLE for name in importlib.import_module(module).__all__]
    names += [(module, name) for module, some in NAMED.items() for name in some]
    for module, name in sorted(names):
        found |= _thing(f"python {module}.{name}", getattr(importlib.import_module(module), name))
    for _, commands in cli.main.sections:
        for command in commands:
            found |= _command(command)
    codes = {"nothing": NOTHING, "usage": USAGE, "refused": REFUSED, "no connection": NO_CONNECTION}
    found |= {f"exit code {name}": str(code) for name, code in {**codes, "interrupted": INTERRUPTED}.items()}
    found |= {f"spark option {name}": " ".join(one.ways) for name, one in KNOWN.items()}
    root = house.LIVE.parent
    collector = (root / "pyqueue_sql" / "metrics" / "collector.py").read_text(encoding="utf-8")
    found |= {f"metric {name}": "" for name in METRIC.findall(collector)}
    extras = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found |= {f"extra {name}": "" for name in extras["optional-dependencies"] if name not in OF_DEVELOPERS}
    return found


def _thing(name: str, what: Any) -> dict[str, str]:
    """Return what is promised of a class, a function or a value."""
    own = dict[str, Any](vars(what)) if inspect.isclass(what) else {}
    found = {name: "deprecated" if "Deprecated:" in (inspect.getdoc(what) or "") else ""}
    if inspect.isfunction(what):
        return found | _parameters(name, what)
    if not inspect.isclass(what):
        return found
    if bases := [one.__name__ for one in what.__bases__ if one.__module__.startswith("pyqueue_sql")]:
        found[f"{name} bases"] = ", ".join(bases)
    if dataclasses.is_dataclass(what):
        found |= {f"{name} field {one.name}": _type(one.type) for one in dataclasses.fields(what)}
    elif issubclass(what, dict):
        found |= {f"{name} field {one}": _type(kind) for one, kind in what.__annotations__.items()}
    elif "__init__" in own and not issubclass(what, BaseException):
        found |= _parameters(name, what.__init__)
    for method, value in own.items():
        inner = getattr(value, "__func__", getattr(value, "fget", value))
        if not method.startswith("_") and inspect.isfunction(inner) and not issubclass(what, BaseException):
            found |= _thing(f"{name}.{method}", inner)
    return found


def _parameters(name: str, function: Callable[..., Any]) -> dict[str, str]:
    """Return a function's parameters, those that have a place by their number; and what it returns."""
    found: dict[str, str] = {}
    number = 0
    signature = inspect.signature(function)
    for one in signature.parameters.values():
        text = f"{one.name}: {_type(one.annotation)}"
        if one.name in ("self", "cls"):
            continue
        if options := UNPACKED.search(_type(one.annotation)):
            given = getattr(inspect.getmodule(function), options[1])
            needed: frozenset[str] = given.__required_keys__
            for key in _keys(given):
                kind = _type(_all(given)[key])
                found[f"{name} option {key}"] = f"{kind}, required" if key in needed else kind
        elif one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            found[f"{name} parameter {'*' if one.kind == one.VAR_POSITIONAL else '**'}"] = text
        else:
            end = ", required" if one.default is one.empty else f" = {_default(one.default)}"
            number += one.kind != one.KEYWORD_ONLY
            if one.kind == one.KEYWORD_ONLY:
                found[f"{name} parameter {one.name}"] = _type(one.annotation) + end
            else:
                found[f"{name} parameter {number}"] = text + end
    if signature.return_annotation is not signature.empty:
        found[f"{name} answers"] = _type(signature.return_annotation)
    return found


def _keys(options: Any) -> list[str]:
    return sorted(_all(options))


def _all(options: Any) -> dict[str, Any]:
    """Return the keys of a TypedDict, those of its bases too, with their types."""
    return cast("dict[str, Any]", options.__annotations__)


def _type(annotation: Any) -> str:
    """Return a type as it is written in the sources."""
    return str(getattr(annotation, "__forward_arg__", annotation if isinstance(annotation, str) else "plain"))


def _default(value: Any) -> str:
    plain = type(value) in (str, int, float, bool, tuple, type(None))
    return repr(value) if plain else type(value).__name__


def _command(command: click.Command) -> dict[str, str]:
    """Return what is promised of a command: its arguments in their order, and its options."""
    whose = f"command {command.name}"
    found = {whose: "deprecated" if command.deprecated else ""}
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    for number, one in enumerate(arguments, start=1):
        found[f"{whose} parameter {number}"] = _argument(one)
    for one in command.params:
        if isinstance(one, click.Option):
            kind = "flag" if one.is_flag else one.type.name
            parts = [kind, *(f"or {other}" for other in one.secondary_opts)]
            parts += [f"env {one.envvar}"] if one.envvar else []
            parts += ["repeated"] if one.multiple else []
            parts += [f"= {one.default}"] if type(one.default) in (str, int, float) else []
            parts += ["deprecated"] if getattr(one, "deprecated", False) else []
            name = max(one.opts, key=len)
            found[f"{whose} option {name}"] = ", ".join(parts) + (", required" if one.required else "")
            if isinstance(one.type, click.Choice):
                found |= {f"{whose} option {name} {choice}": "" for choice in one.type.choices}
    return found


def _argument(one: click.Argument) -> str:
    text = f"{one.name} {one.type.name}{' …' if one.nargs == -1 else ''}"
    return f"{text}, required" if one.required else text
