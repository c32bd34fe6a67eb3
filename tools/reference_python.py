"""The commands, from click, and the classes, from their docstrings, as pages of the reference."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any, Final

import click

import pyqueue_sql
from pyqueue_sql import cli, testing, worker

COMMANDS_HEAD: Final = """# Commands

`pyqueue COMMAND --help` shows the same. All commands but `demo` take the database from `--url` or from
PYQUEUE_URL.
"""
CLASSES_HEAD: Final = """# Python

`Queue` has one method a routine; [Routines](routines.md) says in full what each does. The options of a
routine are keyword arguments of its method. `AsyncQueue` has the same methods, awaited.
"""
SECTION = re.compile(r"^(Args|Returns|Raises|Yields):\s*$", re.MULTILINE)
ARGUMENT = re.compile(r"^ {4}(\*{0,2}\w[\w.]*): ", re.MULTILINE)
MODULES: Final = (
    ("pyqueue_sql", pyqueue_sql),
    ("pyqueue_sql.worker", worker),
    ("pyqueue_sql.testing", testing),
)


def commands() -> str:
    """Return the page of the commands."""
    text = COMMANDS_HEAD
    for title, found in cli.main.sections:
        text += f"\n## {title}\n"
        for command in found:
            name = f"pyqueue {command.name}"
            context = click.Context(command, info_name=name, max_content_width=96, terminal_width=96)
            text += f"\n### {name}\n\n```text\n{command.get_help(context)}\n```\n"
    return text


def classes() -> str:
    """Return the page of the classes."""
    text = CLASSES_HEAD
    for name, module in MODULES:
        text += f"\n## {name}\n"
        for one in sorted(module.__all__, key=str.lower):
            text += _entry(one, getattr(module, one))
    return text


def _entry(name: str, found: Any) -> str:
    if not (inspect.isclass(found) or inspect.isfunction(found)):
        return f"\n### {name}\n\n{_shown(type(found).__doc__ or '')}"
    text = f"\n### {name}\n\n"
    if dataclasses.is_dataclass(found):
        text += _shown(inspect.getdoc(found) or "")
        names = ", ".join(f"`{field.name}`" for field in dataclasses.fields(found))
        text += f"\nFields: {names}.\n"
    else:
        text += _call(name, found) + _shown(inspect.getdoc(found) or "")
    # a queue that is awaited has the methods of the other
    own = vars(found).items() if inspect.isclass(found) and not issubclass(found, BaseException) else ()
    for method, value in own:
        inner = getattr(value, "__func__", value)
        if not method.startswith("_") and inspect.isfunction(inner) and inner.__doc__:
            text += f"\n#### {name}.{method}\n\n{_call(method, inner)}{_shown(inspect.getdoc(inner) or '')}"
    return text


def _call(name: str, found: Any) -> str:
    """Return how something is called: names and defaults, without types."""
    try:
        signature = inspect.signature(found)
    except ValueError:
        return ""
    given = [one.replace(annotation=one.empty) for one in signature.parameters.values() if one.name != "self"]
    plain = signature.replace(parameters=given, return_annotation=signature.empty)
    return f"```python\n{name}{plain}\n```\n\n"


def _shown(docstring: str) -> str:
    """Return a docstring as Markdown, its arguments as a list."""
    first, *rest = SECTION.split(docstring)
    text = _marked(first)
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        parts = ARGUMENT.split("\n" + body.strip("\n"))
        if len(parts) > 1:
            rows = zip(parts[1::2], parts[2::2], strict=True)
            text += "".join(f"- `{name}`: {_marked(said).strip()}\n" for name, said in rows) + "\n"
        else:
            text += f"{title}: {_marked(body).strip()}\n\n"
    return text.rstrip("\n") + "\n"


def _marked(text: str) -> str:
    """Return a piece of a docstring as Markdown, a paragraph a line."""
    paragraphs = [" ".join(one.split()) for one in re.split(r"\n\s*\n", text.strip())]
    return "".join(re.sub(r"<(\w[\w ]*)>", r"&lt;\1&gt;", one) + "\n\n" for one in paragraphs)
