"""The list of what the project is made of, and what is said where nobody can be asked."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from tools import audit

if TYPE_CHECKING:
    import pytest


def test_the_list_has_every_pinned_package() -> None:
    packages = audit.pins()
    lines = audit.PINNED.read_text(encoding="utf-8").splitlines()
    assert len(packages) == len([line for line in lines if not line.startswith("#")])
    found = audit.sbom(packages)
    assert (found["bomFormat"], found["metadata"]["component"]["name"]) == ("CycloneDX", "pyqueue_sql")
    components = {(one["name"], one["version"], one["purl"]) for one in found["components"]}
    [alembic] = [version for name, version in packages if name == "alembic"]
    assert ("alembic", alembic, f"pkg:pypi/alembic@{alembic}") in components
    assert len(components) == len(packages)


def test_each_pinned_package_has_its_hashes_and_no_other() -> None:
    blocks = audit.hashed()
    assert sorted(blocks) == sorted(audit.named(*pair) for pair in audit.pins())
    whole = r"\S+ \\\n(    --hash=sha256:[0-9a-f]{64} \\\n)*    --hash=sha256:[0-9a-f]{64}\n"
    without = [name for name, text in blocks.items() if not re.fullmatch(whole, text)]
    assert without == []


def test_who_cannot_be_asked_is_no_error_and_who_is_unsafe_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = {
        "nobody": ([], "no route"),
        "safe": ([{"name": "a", "version": "1", "vulns": []}], ""),
        "unsafe": (
            [{"name": "a", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}],
            "",
        ),
    }
    monkeypatch.setattr(audit, "SBOM", audit.ROOT / "dist" / "sbom-of-a-test.json")
    said: dict[str, tuple[int, str]] = {}
    for name, answer in answers.items():
        monkeypatch.setattr(audit, "ask", lambda _, answer=answer: answer)
        said[name] = (audit.main([]), capsys.readouterr().out)
    assert len(json.loads(audit.SBOM.read_text(encoding="utf-8"))["components"]) == len(audit.pins())
    audit.SBOM.unlink()
    assert [status for status, _ in said.values()] == [0, 0, 1]
    assert "COULD NOT BE ASKED FOR, no route" in said["nobody"][1]
    assert "a 1: CVE-1, mended by 2" in said["unsafe"][1]
