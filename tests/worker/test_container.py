"""What containers run, without a container: the commands of the image, of compose and of Kubernetes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml

from pyqueue_sql import cli
from tests.rules import every
from tests.worker.helpers import PATIENCE_SECONDS, until
from tests.worker.test_health import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conformance.harness import Harness, Session

ROOT = Path(__file__).parents[2]
IMAGE = (ROOT / "packaging" / "docker" / "Dockerfile").read_text(encoding="utf-8")
MANIFESTS = sorted((ROOT / "packaging" / "kubernetes").glob("*.yaml"))
COMMAND: list[str] = json.loads(re.findall(r"^CMD (\[.*\])$", IMAGE, re.MULTILINE)[-1])
[HEALTH] = re.findall(r"^HEALTHCHECK .*\\\n\s+CMD (\[.*\])$", IMAGE, re.MULTILINE)
PORT = "8080"


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    """Give the pods of the manifests, each with the name of its file."""
    for path in MANIFESTS:
        for one in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            if "template" in one["spec"]:
                yield path.name, one["spec"]["template"]["spec"]


def commands() -> Iterator[tuple[str, list[str]]]:
    """Give each command of ours that a container runs, with the name of who says so."""
    yield "Dockerfile", COMMAND
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    for name, service in services.items():
        if service.get("command", [""])[0] == "pyqueue":
            yield f"docker-compose.yml, {name}", service["command"]
    for name, pod in pods():
        for container in pod["containers"]:
            yield name, container["command"]


@every(list(commands()), name=lambda one: one[0])
def test_a_container_runs_a_command_that_there_is(one: tuple[str, list[str]]) -> None:
    program, name, *arguments = one[1]
    assert program == "pyqueue"
    command = cli.main.get_command(click.Context(cli.main), name)
    assert command is not None
    try:
        command.make_context(name, [*arguments, "--url", "postgresql://localhost/app"])
    except click.ClickException as error:
        raise AssertionError(error.format_message()) from None


@every(list(pods()), name=lambda one: one[0])
def test_a_pod_is_nobody_special_and_takes_its_url_from_a_secret(one: tuple[str, dict[str, Any]]) -> None:
    _, pod = one
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    for container in pod["containers"]:
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert [one["name"] for one in container["env"] if "secretKeyRef" in one["valueFrom"]] == [
            "PYQUEUE_URL"
        ]


def test_who_ends_a_worker_waits_for_longer_than_its_handlers() -> None:
    [worker] = [pod for name, pod in pods() if name == "worker.yaml"]
    grace = option(worker["containers"][0]["command"], "--grace")
    assert worker["terminationGracePeriodSeconds"] > grace
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    assert int(services["worker"]["stop_grace_period"].removesuffix("s")) > option(COMMAND, "--grace")


def option(command: list[str], name: str) -> float:
    """Return the number behind an option."""
    return float(command[command.index(name) + 1])


def test_the_image_runs_as_nobody_special() -> None:
    users = re.findall(r"^USER (\d+):(\d+)$", IMAGE, re.MULTILINE)
    assert len(users) == 1
    assert "0" not in users[0]


def test_the_command_of_the_image_works_answers_its_health_check_and_ends_in_order(
    harness: Harness, queue: Session
) -> None:
    port = free_port()
    script = [sys.executable, "-c", "from pyqueue_sql.cli import main; main()"]
    command = [word.replace(f"0.0.0.0:{PORT}", f"127.0.0.1:{port}") for word in COMMAND[1:]]
    health = [sys.executable, *(word.replace(f":{PORT}/", f":{port}/") for word in json.loads(HEALTH)[1:])]
    queue.push("mail", "m1", {"to": "ann"})
    with subprocess.Popen(
        [*script, *command],
        cwd=ROOT / "examples" / "containers",
        env={**os.environ, "PYQUEUE_URL": harness.url, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            until(lambda: subprocess.run(health, capture_output=True).returncode == 0)
            until(lambda: queue.stats("mail")[0].total == 0)
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=PATIENCE_SECONDS)
        finally:
            process.kill()
    assert process.returncode == 0, said
    assert any("mail for ann" in json.loads(line).get("message", "") for line in said.splitlines()), said
    assert subprocess.run(health, capture_output=True).returncode != 0
