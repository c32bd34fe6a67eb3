"""What the project is made of, and whether any of it is known to be unsafe: python -m tools.audit.

Writes dist/sbom.json, a list of all pinned packages in CycloneDX's form, and asks PyPI's database of
vulnerabilities about each. Where that can't be reached, it says so in one line, and that is no error.

`--pin` writes requirements/hashed.txt anew: the same packages, each with the hashes of all its files, as they
are in the index that uv asks. `pip install --require-hashes --no-deps -r requirements/hashed.txt` takes no
other.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
PINNED: Final = ROOT / "requirements" / "constraints.txt"
HASHED: Final = ROOT / "requirements" / "hashed.txt"
HEADING: Final = (
    "# written by `python -m tools.audit --pin`: what constraints.txt names, with the hashes of all files\n"
)
OLDEST: Final = "3.11.5"
"""The oldest Python for which there is all of it; what documents the project needs more than the package."""
SBOM: Final = ROOT / "dist" / "sbom.json"
TIMEOUT_SECONDS: Final = 15


def pins() -> list[tuple[str, str]]:
    """Return the name and the version of each package that is pinned."""
    lines = PINNED.read_text(encoding="utf-8").splitlines()
    pairs = [line.partition("==") for line in lines if "==" in line and not line.startswith("#")]
    return [(name.strip(), version.partition(";")[0].strip()) for name, _, version in pairs]


def named(name: str, version: str) -> str:
    """Return name==version, the name in the form that all spellings of it have."""
    return f"{re.sub(r'[-_.]+', '-', name).lower()}=={version}"


def hashed() -> dict[str, str]:
    """Return what stands for each package in requirements/hashed.txt, by what `named` says."""
    blocks: dict[str, str] = {}
    name = ""
    for line in HASHED.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("#"):
            continue
        if not line.startswith(" "):
            name = named(*line.split(" ")[0].strip().split("=="))
        blocks[name] = blocks.get(name, "") + line
    return blocks


def pin() -> str:
    """Write requirements/hashed.txt, and return why that couldn't be done where it couldn't."""
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        return "there is no uv: pip install uv"
    command = [
        *(uv, "pip", "compile", PINNED, "--no-deps", "--generate-hashes", "--no-annotate", "--no-header"),
        *("--universal", "--python-version", OLDEST, "--quiet"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return (done.stderr.strip().splitlines() or ["uv said nothing"])[-1]
    HASHED.write_text(HEADING + done.stdout, encoding="utf-8")
    return ""


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
        lines: name==version and the hashes.

    Returns:
        What it says of each that it knows, and why it couldn't be asked where it couldn't.
    """
    wanted = ROOT / "dist" / "pinned.txt"
    wanted.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [
        *(sys.executable, "-m", "pip_audit", "--requirement", wanted, "--require-hashes", "--disable-pip"),
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


def main(arguments: list[str] | None = None) -> int:
    """Write the list, ask, print what is known; returns 1 where something is unsafe."""
    parser = argparse.ArgumentParser(prog="python -m tools.audit", description="Say what of this is unsafe.")
    parser.add_argument(
        "--pin", action="store_true", help="write requirements/hashed.txt anew, and nothing else"
    )
    if parser.parse_args(arguments).pin:
        why = pin()
        print(
            f"{HASHED.name}: COULD NOT BE WRITTEN, {why}"
            if why
            else f"{HASHED.name}: {len(hashed())} packages"
        )
        return 1 if why else 0
    packages = pins()
    SBOM.parent.mkdir(exist_ok=True)
    SBOM.write_text(json.dumps(sbom(packages), indent=1) + "\n", encoding="utf-8")
    print(f"{SBOM.relative_to(ROOT)}: {len(packages)} packages")
    blocks = hashed()
    lines = [blocks[named(*pair)].rstrip() for pair in packages]
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
