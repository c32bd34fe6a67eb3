"""The languages of examples/clients: what runs their programs, and where it is from.

What isn't installed comes out of Debian's packages, unpacked in the user's cache; nothing is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.clients import npm
from tests.sample import LARGE
from tests.servers.binaries import UnavailableError, filled
from tests.servers.cache import cache
from tests.servers.plugin import REQUIRE, required

if TYPE_CHECKING:
    import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "clients"
ALL = re.compile(r"\./(usr/)?(s?bin|lib(32|64|x32)?|share)/")


@dataclass
class Program:
    """An example that can be run."""

    command: list[str]
    environment: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Language:
    """One way to the queue."""

    name: str
    servers: tuple[str, ...]
    make: Callable[[str, Path, pytest.Config], Program]
    """Of a URL and a folder for this test alone; raises UnavailableError where what it needs isn't there."""
    listens: bool = True
    """Whether it waits for events on PostgreSQL."""


def run_by(name: str, program: str) -> tuple[list[str], Path]:
    """Return the command of a program out of packages, and the folder that they are unpacked in."""
    folder = filled(name, needed=ALL)
    loader = next(one for one in folder.rglob("ld-linux*.so.*") if one.is_file())
    libraries = sorted({str(one.parent) for one in folder.rglob("*.so.*")})
    [found] = folder.glob(program)
    return [str(loader), "--library-path", ":".join(libraries), str(found)], folder


def psql(url: str, _folder: Path, _config: pytest.Config) -> Program:
    found = shutil.which("psql")
    if found is None:
        raise UnavailableError("there is no psql on PATH: apt-get install postgresql-client")
    part = urlsplit(url)
    given = {"HOST": part.hostname, "PORT": part.port, "USER": part.username, "PASSWORD": part.password}
    variables = {f"PG{name}": str(value) for name, value in given.items() if value is not None}
    return Program(
        [str(EXAMPLES / "psql" / "example.sh")], {**variables, "PGDATABASE": part.path.removeprefix("/")}
    )


def mysql(client: str, package: str) -> Callable[[str, Path, pytest.Config], Program]:
    def make(url: str, folder: Path, _config: pytest.Config) -> Program:
        found = shutil.which(client)
        if found is None:
            command, packages = run_by(package, f"usr/bin/{client}")
            plugins = next(packages.glob("usr/lib/**/*sha2_password.so"), packages).parent
            found = str(folder / client)
            Path(found).write_text(f'#!/bin/sh\nexec {" ".join(command)} "$@" --plugin-dir={plugins}\n')
            Path(found).chmod(0o700)
        part = urlsplit(url)
        options = folder / "options.cnf"
        options.touch(0o600)
        options.write_text(
            f"[client]\nhost={part.hostname}\nport={part.port}\nuser={part.username}\n"
            f"password={part.password}\n[mysql]\ndatabase={part.path.removeprefix('/')}\n"
        )
        return Program([str(EXAMPLES / "mysql" / "example.sh")], {"CLIENT": found, "OPTIONS": str(options)})

    return make


def java(url: str, folder: Path, config: pytest.Config) -> Program:
    from pyqueue_sql.spark.jars import NotFound, check_java
    from tests.spark.drivers import find_drivers

    try:
        found = check_java()
    except NotFound as error:
        raise UnavailableError(str(error)) from None
    compiler = found.with_name("javac") if found.with_name("javac").exists() else shutil.which("javac")
    if compiler is None:
        raise UnavailableError("there is no javac: apt-get install openjdk-17-jdk-headless")
    drivers = find_drivers(config)
    if drivers.missing:
        raise UnavailableError("; ".join(drivers.missing.values()))
    compiled = folder.parent / "java"  # the three servers have it
    classes = os.pathsep.join([*drivers.jars, str(compiled)])
    if not (compiled / "Example.class").exists():
        source = EXAMPLES / "java" / "Example.java"
        run([str(compiler), "-cp", classes, "-d", str(compiled), str(source)], {})
    return Program([str(found), "-cp", classes, "Example"], {"PYQUEUE_URL": url})


def node(url: str, folder: Path, _config: pytest.Config) -> Program:
    try:
        program, packages = npm.install(Path(__file__).parent / "node", "test-node")
    except npm.MissingError as error:
        raise UnavailableError(str(error)) from None
    # where a module is decides which packages it finds
    shutil.copy(EXAMPLES / "node" / "example.mjs", folder)
    (folder / "node_modules").symlink_to(packages / "node_modules")
    return Program([program, str(folder / "example.mjs")], {"PYQUEUE_URL": url})


def php(url: str, _folder: Path, _config: pytest.Config) -> Program:
    command, folder = run_by("php", "usr/bin/php[0-9]*")
    [extensions] = {one.parent for one in folder.glob("usr/lib/php/*/pdo_mysql.so")}
    command += ["-n", "-d", f"extension_dir={extensions}"]
    for name in ("pdo", "mysqlnd", "pdo_pgsql", "pdo_mysql"):
        command += ["-d", f"extension={name}"]
    return Program([*command, str(EXAMPLES / "php" / "example.php")], {"PYQUEUE_URL": url})


def ruby(url: str, _folder: Path, _config: pytest.Config) -> Program:
    command, folder = run_by("ruby", "usr/bin/ruby[0-9]*")
    places = [*folder.glob("usr/lib/ruby/[0-9]*"), folder / "usr/lib/ruby/vendor_ruby"]
    places += [*folder.glob("usr/lib/*/ruby/[0-9]*"), *folder.glob("usr/lib/*/ruby/vendor_ruby/[0-9]*")]
    path = ":".join(map(str, places))
    plugins = str(next(folder.glob("usr/lib/**/caching_sha2_password.so"), folder).parent)
    return Program(
        [*command, "--disable-gems", str(EXAMPLES / "ruby" / "example.rb")],
        {"PYQUEUE_URL": url, "RUBYLIB": path, "MARIADB_PLUGIN_DIR": plugins},
    )


def go(url: str, folder: Path, _config: pytest.Config) -> Program:
    packages = filled("go", needed=ALL)
    [root] = packages.glob("usr/lib/go-[0-9]*")
    program = folder / "example"
    environment = {
        "CGO_ENABLED": "0",
        "GO111MODULE": "off",
        "GOCACHE": str(cache("go-build")),
        "GOPATH": str(packages / "usr/share/gocode"),
        "GOROOT": str(root),
    }
    run(
        [str(root / "bin" / "go"), "build", "-o", str(program), str(EXAMPLES / "go" / "main.go")], environment
    )
    return Program([str(program)], {"PYQUEUE_URL": url, "PGSSLMODE": "disable"})


def rust(url: str, folder: Path, _config: pytest.Config) -> Program:
    cargo = shutil.which("cargo")
    if cargo is None:
        raise UnavailableError("there is no cargo on PATH: https://rustup.rs has it")
    if not LARGE and "rust" not in required():
        raise UnavailableError(f"its build takes a minute: make test-all, or {REQUIRE}=rust")
    crates = filled("rust", "librust*.deb", ALL) / "usr/share/cargo/registry"
    target = cache("rust-build")
    command = [cargo, "build", "--offline", "--quiet", "--target-dir", str(target)]
    for setting in (
        'source.crates-io.replace-with="debian"',
        f'source.debian.directory="{crates}"',
        "profile.dev.debug=false",
    ):
        command += ["--config", setting]
    shutil.copytree(EXAMPLES / "rust", folder / "rust")  # beside which cargo writes a file
    run([*command, "--manifest-path", str(folder / "rust" / "Cargo.toml")], {})
    return Program([str(target / "debug" / "example")], {"PYQUEUE_URL": url})


def run(command: list[str], environment: dict[str, str]) -> None:
    """Run what builds an example; fails with what it says."""
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


POSTGRESQL, ALL_THREE = ("postgresql",), ("postgresql", "mariadb", "mysql")
LANGUAGES = (
    Language("psql", POSTGRESQL, psql, listens=False),
    Language("mariadb", ("mariadb",), mysql("mariadb", "mariadb-client")),
    Language("mysql", ("mysql",), mysql("mysql", "mysql-client")),
    Language("node", ALL_THREE, node),
    Language("java", ALL_THREE, java),
    Language("php", ALL_THREE, php),
    Language("ruby", ALL_THREE, ruby),
    Language("go", ALL_THREE, go),
    Language("rust", ALL_THREE, rust),
)
