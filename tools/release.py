"""A release: `make release` checks the tree and builds what is published, below dist/.

1. Set the version in pyproject.toml, and its day in the heading of CHANGELOG.md: `## 1.0.0 (2027-01-31)`.
2. `python -m tools.release --prepare` notes what is promised from now on: the public surface, and the frozen
   SQL of the newest revision, which nobody edits any more. Commit.
3. `make release` builds the wheel, the sdist, the extension, the bill of materials (CycloneDX) and
   SHA256SUMS.
4. `make release RELEASE_ARGS=--tag` sees that what was built is what is committed, and makes the tag.

What is wrong stops it before anything is built, and all of it is named. `--dry-run` names it and goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any, Final

from alembic.script import ScriptDirectory

from pyqueue_sql.schema import frozen
from tools import extension, freeze, house, surface

ROOT: Final = house.LIVE.parent
PINS: Final = ROOT / "requirements" / "constraints.txt"
SUMS: Final = "SHA256SUMS"
HTMX: Final = "pyqueue_sql/web/static/htmx.min.js"
"""The only thing in the package that others wrote."""


class ReleaseError(Exception):
    """A step failed; says which, and what it printed."""


def run(*command: object, cwd: Path = ROOT, environment: dict[str, str] | None = None) -> str:
    """Run a command and return what it prints.

    Raises:
        ReleaseError: it fails.
    """
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=cwd, env=os.environ | (environment or {}), capture_output=True, text=True
    )
    if done.returncode != 0:
        raise ReleaseError(f"{' '.join(words)}: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout


def complaints(*, tag: bool = True) -> list[str]:
    """Return what stands in the way of a release.

    Args:
        tag: whether there may be no tag of the version yet.
    """
    version = surface.version()
    found: list[str] = []
    if changed := run("git", "status", "--porcelain").splitlines():
        found.append(f"the tree isn't clean: {', '.join(line[3:] for line in changed[:5])}")
    newest = re.search(r"(?m)^## (.*)$", surface.CHANGELOG.read_text(encoding="utf-8"))
    if not newest or not re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", newest[1]):
        heading = newest[1] if newest else "nothing"
        found.append(f"CHANGELOG.md begins with {heading!r}, not with {version} and its day in parentheses")
    kept = surface.kept()
    if kept != surface.present():
        found.append(f"docs/reference/surface.txt isn't that of {version}: python -m tools.release --prepare")
    [head] = ScriptDirectory(str(frozen.MIGRATIONS)).get_heads()
    if freeze.released().get(version, {}).get("revision") != head:
        found.append(f"{freeze.RELEASES.name} has no {version}: python -m tools.release --prepare")
    found += [f"frozen SQL of a release was edited: {name}" for name in freeze.altered()]
    for dialect in frozen.DIALECTS:
        stale = freeze.differing(freeze.LIVE / dialect, freeze.FROZEN / dialect)
        found += [f"{name} is not what is live: python -m tools.freeze" for name in stale]
    if tag and run("git", "tag", "--list", f"v{version}").strip():
        found.append(f"there is a tag v{version} already")
    return found


def prepare() -> None:
    """Note the public surface and the frozen SQL of the version.

    Raises:
        ReleaseError: what has changed since the release before wants a higher version.
    """
    if surface.is_released(surface.kept().version, surface.CHANGELOG.read_text(encoding="utf-8")):
        said = surface.verdict(surface.kept(), surface.present())
        if said is not None:
            raise ReleaseError(said)
    surface.FILE.write_text(surface.present().text(), encoding="utf-8")
    [head] = ScriptDirectory(str(frozen.MIGRATIONS)).get_heads()
    known = freeze.released()
    known[surface.version()] = {"revision": head, "sha256": freeze.sums(head)}
    freeze.RELEASES.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")


def build(source: Path, to: Path, *targets: str, epoch: str) -> list[Path]:
    """Build what is named by hatchling, and return the files.

    Args:
        source: the folder of pyproject.toml.
        to: where they are put.
        *targets: wheel, sdist.
        epoch: the time of every file in what is built, in seconds since 1970: the same makes the same bytes.

    Raises:
        ReleaseError: it fails.
    """
    kinds = [option for target in targets for option in ("--target", target)]
    command = (sys.executable, "-m", "hatchling", "build", "--directory", to, *kinds)
    run(*command, cwd=source, environment={"SOURCE_DATE_EPOCH": epoch})
    return [next(to.glob("*.whl" if target == "wheel" else "*.tar.gz")) for target in targets]


def bill(wheel: Path, to: Path, *, epoch: str) -> Path:
    """Write the bill of materials of what `pip install` of the wheel brings, in the pinned versions.

    Args:
        wheel: the file.
        to: the folder.
        epoch: the time that it says, in seconds since 1970.

    Raises:
        ReleaseError: something can't be fetched.
    """
    path = to / f"{wheel.name.split('-py3')[0]}.cdx.json"
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch) / "environment"
        python = place / "bin" / "python"
        run(sys.executable, "-m", "venv", "--without-pip", place)
        pip = (sys.executable, "-m", "pip", f"--python={python}", "install", "--quiet")
        run(*pip, "--disable-pip-version-check", "--no-compile", f"--constraint={PINS}", wheel)
        command = (sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible")
        options = (f"--pyproject={ROOT / 'pyproject.toml'}", "--mc-type=library", f"--output-file={path}")
        run(*command, *options, python, environment={"SOURCE_DATE_EPOCH": epoch})
    said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    # the package itself is what the bill is of, not a part
    installed = [one["bom-ref"] for one in said["components"] if one["name"] == extension.NAME]
    parts = [one for one in said["components"] if one["bom-ref"] not in installed]
    links = [one for one in said["dependencies"] if one["ref"] not in installed]
    script = _htmx()
    [root] = [one for one in links if one["ref"] == said["metadata"]["component"]["bom-ref"]]
    root["dependsOn"] = sorted([*root.get("dependsOn", ()), script["bom-ref"]])
    said |= {"components": [*parts, script], "dependencies": [*links, {"ref": script["bom-ref"]}]}
    path.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")
    return path


def _htmx() -> dict[str, Any]:
    """Return the entry of the script that the package brings along."""
    content = (ROOT / HTMX).read_bytes()
    [version] = re.findall(rb'version:"([0-9.]+)"', content)
    return {
        "bom-ref": f"htmx.org=={version.decode()}",
        "type": "library",
        "name": "htmx.org",
        "version": version.decode(),
        "purl": f"pkg:npm/htmx.org@{version.decode()}",
        "licenses": [{"license": {"id": "0BSD"}}],
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}],
    }


def sums(files: list[Path]) -> str:
    """Return the checksums of files, as sha256sum reads them."""
    lines = (f"{hashlib.sha256(one.read_bytes()).hexdigest()}  {one.name}\n" for one in sorted(files))
    return "".join(lines)


def committed(to: Path, epoch: str) -> list[Path]:
    """Build wheel, sdist and extension of what is committed, and return the files.

    Args:
        to: the folder, empty.
        epoch: the time of every file in the first two, in seconds since 1970.

    Raises:
        ReleaseError: a step fails.
    """
    with tempfile.TemporaryDirectory() as scratch:
        archive = Path(scratch) / "tree.tar"
        run("git", "archive", "--format=tar", f"--output={archive}", "HEAD")
        with tarfile.open(archive) as tar:
            tar.extractall(Path(scratch) / "tree", filter="data")
        files = build(Path(scratch) / "tree", to, "wheel", "sdist", epoch=epoch)
    return [*files, extension.archive(to, extension.versions())]


def make(to: Path) -> list[Path]:
    """Build all that is published, of what is committed, and return the files.

    Where they are there already, see that they are what is committed.

    Args:
        to: the folder.

    Raises:
        ReleaseError: the folder has something else in it, or a step fails.
    """
    to.mkdir(parents=True, exist_ok=True)
    epoch = run("git", "log", "-1", "--format=%ct").strip()
    there = sorted(one for one in to.iterdir() if one.name != SUMS)
    if not there:
        files = committed(to, epoch)
        files.append(bill(files[0], to, epoch=epoch))
        (to / SUMS).write_text(sums(files), encoding="utf-8")
        return [*files, to / SUMS]
    with tempfile.TemporaryDirectory() as scratch:
        for file in committed(Path(scratch), epoch):
            found = to / file.name
            if not found.exists() or found.read_bytes() != file.read_bytes():
                raise ReleaseError(f"{found} isn't what is committed: empty the folder")
    if not (to / SUMS).exists() or (to / SUMS).read_text(encoding="utf-8") != sums(there):
        raise ReleaseError(f"{to / SUMS} isn't that of the files beside it: empty the folder")
    return [*there, to / SUMS]


def main() -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(description="Check the tree, and build what is published.")
    version = surface.version()
    default = ROOT / "dist" / version
    parser.add_argument(
        "--to", type=Path, default=default, help=f"the empty folder, dist/{version} unless given"
    )
    parser.add_argument("--prepare", action="store_true", help="note what is promised, and build nothing")
    parser.add_argument("--tag", action="store_true", help=f"make the tag v{version} at the end")
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would stop it, and build all the same"
    )
    args = parser.parse_args()
    try:
        if args.prepare:
            prepare()
            return 0
        found = complaints()
        for one in found:
            print(f"{'would stop it' if args.dry_run else 'stopped'}: {one}", file=sys.stderr)
        if found and not args.dry_run:
            return 1
        for file in make(args.to):
            print(file)
        if args.tag and not args.dry_run:
            run("git", "tag", "--annotate", f"v{version}", "--message", f"pyqueue_sql {version}")
            print(f"tag v{version}: git push origin v{version}")
    except ReleaseError as error:
        print(f"stopped: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
