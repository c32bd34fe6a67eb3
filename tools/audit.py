"""What the project is made of, and whether any of it is known to be unsafe: python -m tools.audit.

Writes dist/sbom.json, a list of all pinned packages in CycloneDX's form, and asks PyPI's database of
vulnerabilities about each. Where that can't be reached, it says so in one line, and that is no error.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
PINNED: Final = ROOT / "requirements" / "constraints.txt"
SBOM: Final = ROOT / "dist" / "sbom.json"
TIMEOUT_SECONDS: Final = 15


def pins() -> list[tuple[str, str]]:
    """Return the name and the version of each package that is pinned."""
    lines = PINNED.read_text(encoding="utf-8").splitlines()
    pairs = [line.partition("==") for line in lines if "==" in line and not line.startswith("#")]
    return [(name.strip(), version.partition(";")[0].strip()) for name, _, version in pairs]


def sbom(packages: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the list of packages in CycloneDX's form.

    Args:
        packages: names and versions.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {"type": "library", "name": project["name"], "version": project["version"]}
        },
        "components": [
            {
                "type": "library",
                "name": name,
                "version": version,
                "purl": f"pkg:pypi/{name.lower().replace('_', '-')}@{version}",
                **_license(name),
            }
            for name, version in packages
        ],
    }


def _license(name: str) -> dict[str, Any]:
    try:
        found = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return {}
    said = next((found[field] for field in ("License-Expression", "License") if field in found), "")
    return {"licenses": [{"license": {"name": said}}]} if said and "\n" not in said else {}


def ask(lines: list[str]) -> tuple[list[dict[str, Any]], str]:
    """Ask the database about packages.

    Args:
        lines: name==version.

    Returns:
        What it says of each that it knows, and why it couldn't be asked where it couldn't.
    """
    wanted = ROOT / "dist" / "pinned.txt"
    wanted.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [
        *(sys.executable, "-m", "pip_audit", "--requirement", wanted, "--no-deps", "--disable-pip"),
        *("--format", "json", "--progress-spinner", "off", "--timeout", f"{TIMEOUT_SECONDS}"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wanted.unlink()
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        return [], (done.stderr.strip().splitlines() or ["no answer"])[-1]
    known = [one for one in found if "skip_reason" not in one]
    return known, "" if known else found[0]["skip_reason"]


def main() -> int:
    """Write the list, ask, print what is known; returns 1 where something is unsafe."""
    packages = pins()
    SBOM.parent.mkdir(exist_ok=True)
    SBOM.write_text(json.dumps(sbom(packages), indent=1) + "\n", encoding="utf-8")
    print(f"{SBOM.relative_to(ROOT)}: {len(packages)} packages")
    lines = [f"{name}=={version}" for name, version in packages]
    known, why = ask(lines[:1])  # one first, since each that can't be asked about takes its time
    if known:
        known, why = ask(lines)
    if not known:
        print(f"vulnerabilities: COULD NOT BE ASKED FOR, {why}")
        return 0
    unsafe = [one for one in known if one["vulns"]]
    for one in unsafe:
        for vulnerability in one["vulns"]:
            mended = ", ".join(vulnerability["fix_versions"]) or "nothing"
            print(f"{one['name']} {one['version']}: {vulnerability['id']}, mended by {mended}")
    unknown = len(lines) - len(known)
    print(f"vulnerabilities: {len(unsafe)} of {len(known)} packages have some, {unknown} unknown")
    return 1 if unsafe else 0


if __name__ == "__main__":
    sys.exit(main())
