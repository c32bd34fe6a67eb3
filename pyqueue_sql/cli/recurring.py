"""Commands for operators, about what happens by itself: subscriptions, schedules, groups, semaphores."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args

import click

from pyqueue_sql import Queue
from pyqueue_sql.cli.common import FLOAT, emit, from_json, given, missing, show, with_queue
from pyqueue_sql.cli.producers import delay_option, headers_option, priority_option, when
from pyqueue_sql.models import CatchUp


@click.command()
@click.argument("name")
@click.option("--then", "then_kind", help="The kind of what follows; needed where the group isn't there.")
@click.option("--payload", "then_payload", type=from_json, help="A JSON object; the results are put into it.")
@click.option("--close", is_flag=True, default=None, help="All members are known.")
@click.option("--members", type=int, help="How many there will be.")
@click.option("--on-dead", type=click.Choice(["wait", "report", "fail"]), help="What a dead member does.")
@click.option("--fail-kind", help="Where what follows goes when the group fails.")
@with_queue
def group(queue: Queue, name: str, then_kind: str | None, then_payload: Any, **options: Any) -> None:
    """Make the group NAME, or change it: once all of its members are done, what follows is pushed.

    \b
      pyqueue group nightly --then report
      pyqueue push check '{"table": 1}' --group nightly
      pyqueue group nightly --close
    """
    emit(**dataclasses.asdict(queue.group(name, then_kind, then_payload, **given(**options))))


@click.command()
@with_queue
def groups(queue: Queue) -> None:
    """Print the groups and how far they are, a line of JSON each.

    \b
      pyqueue groups | jq -r 'select(.state == "closed") | .name'
    """
    for one in queue.groups():
        show(one)


@click.command()
@click.argument("pattern")
@click.argument("kind")
@with_queue
def subscribe(queue: Queue, pattern: str, kind: str) -> None:
    """Have KIND get a copy of what is published to topics of PATTERN: * is one word, # any number of words.

    \b
      pyqueue subscribe 'order.*.paid' billing
    """
    emit(pattern=pattern, kind=kind, changed=queue.subscribe(pattern, kind))


@click.command()
@click.argument("pattern")
@click.argument("kind")
@with_queue
def unsubscribe(queue: Queue, pattern: str, kind: str) -> None:
    """End the subscription of KIND to PATTERN. Exit code 1: there is no such subscription.

    \b
      pyqueue unsubscribe 'order.*.paid' billing
    """
    changed = queue.unsubscribe(pattern, kind)
    emit(pattern=pattern, kind=kind, changed=changed)
    if not changed:
        missing(
            f"Kind {kind} has no subscription to {pattern}",
            pattern,
            lambda: [one.pattern for one in queue.subscriptions() if one.kind == kind],
        )


@click.command()
@with_queue
def subscriptions(queue: Queue) -> None:
    """Print who is subscribed to what, a line of JSON each.

    \b
      pyqueue subscriptions | jq -r .kind
    """
    for row in queue.subscriptions():
        show(row)


@click.command()
@click.argument("name")
@click.argument("kind")
@click.argument("payload", default="null", type=from_json)
@click.option("--every", "every_seconds", type=FLOAT, help="Every so many seconds.")
@click.option("--daily-at", metavar="HH:MM", help="Every day at this time.")
@click.option("--cron", help="Minute, hour, day, month, weekday; perhaps second.")
@click.option("--zone", "time_zone", help="Of these times: an offset, +02:00, or a name; UTC unless given.")
@click.option(
    "--catch-up", type=click.Choice(get_args(CatchUp)), help="What becomes of what is found late; last."
)
@click.option("--until", type=when, metavar="TIME", help="When it ends: ISO 8601 with an offset.")
@click.option("--paused", is_flag=True, default=None, help="Make nothing.")
@delay_option
@priority_option
@headers_option
@click.option("--max-attempts", type=int, help="Deliveries that a message may have.")
@with_queue
def schedule(queue: Queue, name: str, kind: str, payload: Any, **options: Any) -> None:
    """Have PAYLOAD pushed into KIND again and again, by the schedule NAME; a running worker makes it come.

    \b
      pyqueue schedule report reports '{"of": "sales"}' --daily-at 09:30 --zone Europe/Berlin
      pyqueue schedule beat beats --every 60
      pyqueue schedule clean jobs --cron '0 4 * * sun' --catch-up skip
    """
    emit(**dataclasses.asdict(queue.schedule(name, kind, payload, **given(**options))))


@click.command()
@click.argument("name")
@with_queue
def unschedule(queue: Queue, name: str) -> None:
    """End the schedule NAME. Exit code 1: there is no such schedule.

    \b
      pyqueue unschedule report
    """
    changed = queue.unschedule(name)
    emit(name=name, changed=changed)
    if not changed:
        missing(f"There is no schedule {name}", name, lambda: [one.name for one in queue.schedules()])


@click.command()
@with_queue
def schedules(queue: Queue) -> None:
    """Print the schedules and when they are due, a line of JSON each.

    \b
      pyqueue schedules | jq -r '[.name, .next_at] | @tsv'
    """
    for row in queue.schedules():
        show(row)


@click.command()
@with_queue
def tick(queue: Queue) -> None:
    """Push what the schedules are due for; call it every second or so, from as many places as you like.

    \b
      pyqueue tick
    """
    emit(ticked=queue.tick())


@click.command()
@click.argument("name")
@click.argument("capacity", type=int, required=False)
@click.option("--remove", is_flag=True, help="It keeps nobody waiting any more.")
@with_queue
def semaphore(queue: Queue, name: str, capacity: int | None, remove: bool) -> None:
    """Define the semaphore NAME: at most CAPACITY messages that name it are held at once.

    With --remove exit code 1: there is no such semaphore.

    \b
      pyqueue semaphore smtp 5
      pyqueue push mail '{"to": "ann@example.org"}' --semaphore smtp
    """
    if (capacity is None) is not remove:
        raise click.UsageError("give a CAPACITY, or --remove")
    names = [one.name for one in queue.semaphores()] if remove else [name]
    queue.semaphore(name, capacity)
    if name not in names:
        missing(f"There is no semaphore {name}", name, lambda: names)
    emit(name=name, capacity=capacity)


@click.command()
@with_queue
def semaphores(queue: Queue) -> None:
    """Print the semaphores, how many slots are taken and how many messages wait, a line of JSON each.

    \b
      pyqueue semaphores | jq -r 'select(.waiting > 0) | .name'
    """
    for one in queue.semaphores():
        show(one)


COMMANDS = (
    *(group, groups, semaphore, semaphores, subscribe, unsubscribe, subscriptions),
    *(schedule, unschedule, schedules, tick),
)
