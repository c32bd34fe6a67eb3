"""Where the worker's Python can be changed, and into what."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.mutants.mutant import ROOT, Mutant

WEIGHTS = {
    "bound": 2,
    "equal": 1,
    "connective": 2,
    "conjunct": 2,
    "negation": 3,
    "number": 2,
    "boolean": 1,
    "arithmetic": 2,
    "statement": 5,
    "choice": 1,
}
FOLDER = ROOT / "pyqueue_sql" / "worker"
SAYS = ("logs.py", "parsing.py", "settings.py")
"""What only says something to people or reads a command line."""

COMPARISONS: dict[type, tuple[str, str]] = {
    ast.Lt: ("bound", "<="),
    ast.LtE: ("bound", "<"),
    ast.Gt: ("bound", ">="),
    ast.GtE: ("bound", ">"),
    ast.Eq: ("equal", "!="),
    ast.NotEq: ("equal", "=="),
    ast.Is: ("equal", "is not"),
    ast.IsNot: ("equal", "is"),
    ast.In: ("equal", "not in"),
    ast.NotIn: ("equal", "in"),
}
OPERATORS: dict[type, str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
CHOICES = {"min": "max", "max": "min", "any": "all", "all": "any"}

Change = tuple[str, ast.expr | ast.stmt, str]


def mutants() -> Iterator[Mutant]:
    """Give every mutant of the worker."""
    for path in sorted(FOLDER.glob("*.py")):
        if path.name not in SAYS:
            yield from mutants_of(path)


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Give every mutant of a module."""
    source = path.read_text(encoding="utf-8")
    lines = [0]
    for line in source.encode().splitlines(keepends=True):
        lines.append(lines[-1] + len(line))

    def place(line: int | None, column: int | None) -> int:
        assert line is not None and column is not None
        return len(source.encode()[: lines[line - 1] + column].decode())

    for sort, node, text in changes(ast.parse(source)):
        start, end = place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)
        yield Mutant(str(path.relative_to(ROOT)), start, end, text, sort, source)


def changes(tree: ast.Module) -> Iterator[Change]:
    """Give every change: its sort, what is replaced, what comes there."""
    types: set[ast.AST] = set()
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            types.update(ast.walk(getattr(node, field)) if getattr(node, field, None) else ())
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            types.update(one for decorator in node.decorator_list for one in ast.walk(decorator))
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            types.update(ast.walk(node))
    for node in ast.walk(tree):
        if node not in types:
            yield from expressions(node)
            yield from statements(node)


def expressions(node: ast.AST) -> Iterator[Change]:
    """Give the changes of an expression."""
    match node:
        case ast.Compare(ops=[operator]):
            sort, other = COMPARISONS[type(operator)]
            yield sort, node, f"({ast.unparse(node.left)} {other} {ast.unparse(node.comparators[0])})"
        case ast.BoolOp():
            other = " or " if isinstance(node.op, ast.And) else " and "
            yield "connective", node, f"({other.join(f'({ast.unparse(one)})' for one in node.values)})"
            for left in node.values:
                kept = ast.BoolOp(node.op, [one for one in node.values if one is not left])
                yield "conjunct", node, f"({ast.unparse(kept if len(kept.values) > 1 else kept.values[0])})"
        case ast.UnaryOp(op=ast.Not()):
            yield "negation", node, f"({ast.unparse(node.operand)})"
        case ast.IfExp() | ast.If() | ast.While():
            yield "negation", node.test, f"(not ({ast.unparse(node.test)}))"
        case ast.Constant(value=bool()):
            yield "boolean", node, repr(not node.value)
        case ast.Constant(value=(int() | float()) as value):
            for other in (value * 10, value / 10) if value > 5 else (value + 1, value - 1) if value else (1,):
                yield "number", node, repr(type(value)(other))
        case ast.BinOp() if type(node.op) in OPERATORS and not isinstance(
            node.left, ast.Constant | ast.JoinedStr
        ):
            operator = OPERATORS[type(node.op)]
            yield "arithmetic", node, f"({ast.unparse(node.left)} {operator} {ast.unparse(node.right)})"
            yield "arithmetic", node, f"({ast.unparse(node.left)})"
        case ast.Call(func=ast.Name(id=name)) if name in CHOICES:
            yield "choice", node.func, CHOICES[name]
        case _:
            pass


def statements(node: ast.AST) -> Iterator[Change]:
    """Give the changes that leave a statement out."""
    match node:
        case ast.Expr(value=ast.Call() | ast.Await()) if "log" not in ast.unparse(node.value).split("(")[0]:
            yield "statement", node, "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.AugAssign():
            yield "statement", node, "pass"
        case ast.Continue() | ast.Break() | ast.Raise() | ast.Return(value=None):
            yield "statement", node, "pass"
        case _:
            pass
