"""The SQL that was frozen for each revision, in both dialects."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
INSTALLED = PACKAGE / "migrations"
MIGRATIONS = INSTALLED if INSTALLED.is_dir() else PACKAGE.parent / "migrations"
"""Inside of the package where that was installed from a wheel, beside it in a checkout."""

DIALECTS = ("postgresql", "mysql")
"""The folders of `sql/` and of what is frozen; mysql is MariaDB and MySQL."""

SEPARATOR = "\n--;\n"
"""Between the statements of a frozen file, because some drivers take one at a time."""


def statements(revision: str, part: str, dialect: str = "postgresql") -> list[str]:
    """Return the statements of a frozen file; none where there is no such file.

    Args:
        revision: the revision's id.
        part: up, routines, down, or on MariaDB and MySQL optional.
        dialect: one of DIALECTS.
    """
    file = MIGRATIONS / "frozen" / dialect / f"{revision}.{part}.sql"
    if not file.exists():
        return []
    return [text.strip().removesuffix(";") for text in file.read_text(encoding="utf-8").split(SEPARATOR)]
