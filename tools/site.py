"""The documentation as a site, for MkDocs: pages that stand elsewhere in the repository, and links to it.

README.md is the first page. A link to a file that is a page of the site leads there; one to another file of
the repository stays as text; one to nothing is a warning, which `make docs` takes for an error.
"""

from __future__ import annotations

import logging
import os.path
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).parents[1]
CURVE: Final = "bench/results/2026-11-22-1942-postgresql-one-snapshot-held-open.png"
ELSEWHERE: Final = {
    CURVE: CURVE,
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "bench/README.md": "bench.md",
    "examples/shop/README.md": "examples/shop.md",
    "sql/README.md": "sql-files.md",
}
"""Pages and pictures outside of docs/, and where they are in the site."""
LINK: Final = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")
log = logging.getLogger("mkdocs.plugins.site")


def on_config(config: MkDocsConfig) -> None:
    """Put the decisions behind the rest of the navigation.

    Args:
        config: of the site.
    """
    decisions = ["README.md", *sorted(path.name for path in (ROOT / "docs" / "adr").glob("[0-9]*.md"))]
    cast("list[Any]", config["nav"]).append({"Decisions": [f"adr/{name}" for name in decisions]})


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages that aren't in docs/.

    Args:
        files: of the site.
        config: of the site.
    """
    for source, uri in ELSEWHERE.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / source)))


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Have links of the repository lead to pages of the site.

    Args:
        markdown: of the page.
        page: the page.
    """
    uri = page.file.src_uri
    source = next((path for path, here in ELSEWHERE.items() if here == uri), f"docs/{uri}")

    def link(found: re.Match[str]) -> str:
        image, text, target, anchor = found.groups()
        path = os.path.normpath(posixpath.join(posixpath.dirname(source), target))
        there = ELSEWHERE.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)
        if there is not None and (ROOT / path).is_file():
            return f"{image}[{text}]({posixpath.relpath(there, posixpath.dirname(uri) or '.')}{anchor or ''})"
        if not (ROOT / path).exists():
            log.warning("%s links to %s, which isn't there", source, target)
        return text

    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)
