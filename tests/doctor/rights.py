"""Who may do what: the table that every server is asked about, cell by cell."""

from __future__ import annotations

from typing import Final

PRODUCER, CONSUMER, OPERATOR, OBSERVER, ADMIN, NOBODY = (
    *(f"queue_{name}" for name in ("producer", "consumer", "operator", "observer", "admin")),
    "nobody",
)
"""The roles, and a login without any: what that may, PUBLIC may."""

CALLS: Final[dict[tuple[str, ...], str]] = {
    (PRODUCER,): "queue_push queue_push_bytes queue_push_many queue_publish"
    " queue_stage_begin queue_stage_publish queue_stage_abort",
    (CONSUMER,): "queue_reserve queue_pop queue_next queue_extend queue_extend_many queue_ack queue_ack_many"
    " queue_nack queue_nack_many queue_move queue_move_many queue_wait queue_heartbeat"
    " queue_stream_plan queue_stream_ready queue_stream_renew queue_stream_reserve queue_stream_extend"
    " queue_stream_forget queue_stream_done queue_stream_commit",
    (
        OPERATOR,
    ): "queue_get queue_peek queue_remove queue_purge queue_define queue_drop queue_pause queue_resume"
    " queue_redrive queue_subscribe queue_unsubscribe queue_schedule queue_unschedule queue_drain"
    " queue_replay queue_semaphore",
    (CONSUMER, OPERATOR): "queue_tick queue_prune queue_reap queue_read queue_read_ack queue_read_end",
    (PRODUCER, CONSUMER, OPERATOR): "queue_group",
    (PRODUCER, CONSUMER, OPERATOR, OBSERVER): "queue_now queue_time queue_timestamp",
}
"""Roles, and the routines that they may call; ADMIN may call what any of them may, and others nothing."""
ON_POSTGRESQL: Final[dict[tuple[str, ...], str]] = {
    (CONSUMER,): "queue_listen",  # LISTEN; the others have nothing like it
    # what a view calls is checked against who reads it
    (OPERATOR, OBSERVER): "_queue_state _queue_is_alive _queue_session_locks",
}
ON_INNODB: Final[dict[tuple[str, ...], str]] = {
    (PRODUCER,): "queue_push_into",  # a trigger can't call what answers rows
}

OBSERVED: Final = {
    "queue_count",
    "queue_semaphore",
    "queue_semaphore_permit",
    "queue_semaphore_wait",
    "queue_stats",
    "queue_worker",
    "queue_workers",
    "queue_subscriptions",
    "queue_groups",
    "queue_semaphores",
    "queue_readers",
}
"""What operators and observers read with all columns: none of them is somebody's contents."""
OBSERVED_COLUMNS: Final = {
    "delayed_queue": "p_kind p_key entry priority scheduled_at scheduled_at_initially created_at reserved_at"
    " attempts reserved_by ready_kind ready_at due_at max_attempts source_kind source_key member order_key",
    "queue_kind": "p_kind paused draining dead_letter_kind",
    "queue_recurring": "name p_kind rule catch_up paused until_at next_at last_at",
    "queue_group": "group_name then_kind then_key on_dead fail_kind expected closed created_at finished_at"
    " failed",
    "queue_group_member": "member group_name p_kind p_key entry done_at outcome",
    "queue_messages": "p_kind p_key state priority scheduled_at scheduled_at_initially created_at reserved_at"
    " attempts max_attempts reserved_by age source_kind source_key entry",
    "queue_history": "p_kind p_key entry outcome to_kind priority scheduled_at_initially created_at"
    " reserved_at finished_at attempts reserved_by",
    "queue_schedules": "name p_kind rule catch_up paused until next_at last_at",
}
"""What the observer reads of what holds more than it may see; ready_kind is InnoDB's alone."""
OPERATED: Final = {"queue_messages", "queue_history", "queue_schedules", "queue_log", "queue_writes"}
"""What operators read with all columns, besides."""
OPERATED_COLUMNS: Final = {
    "delayed_queue": f"{OBSERVED_COLUMNS['delayed_queue']} payload payload_bytes headers errors",
    "queue_group_member": f"{OBSERVED_COLUMNS['queue_group_member']} error",
    **{name: OBSERVED_COLUMNS[name] for name in ("queue_kind", "queue_recurring", "queue_group")},
}
LANDED: Final = {"queue_inbox", "queue_stage"}
"""Where producers insert, and what they read, since a driver looks at the columns; nothing else is theirs."""


def calls(server: str) -> set[tuple[str, str]]:
    """Return each role and routine that it may call."""
    tables = (CALLS, ON_POSTGRESQL if server == "postgresql" else ON_INNODB)
    return {
        (role, name)
        for table in tables
        for roles, names in table.items()
        for role in (*roles, ADMIN)
        for name in names.split()
    }


def columns(there: set[tuple[str, str]]) -> set[tuple[str, str, str, str]]:
    """Return each role, table, column and right that it has.

    Args:
        there: all tables and views with their columns.
    """
    found = set[tuple[str, str, str, str]]()
    for table, column in there:
        if table in LANDED:
            found |= {
                (role, table, column, right) for role in (PRODUCER, ADMIN) for right in ("select", "insert")
            }
        observed = table in OBSERVED or column in OBSERVED_COLUMNS.get(table, "").split()
        operated = observed or table in OPERATED or column in OPERATED_COLUMNS.get(table, "").split()
        found |= {(OBSERVER, table, column, "select")} if observed else set()
        found |= {(role, table, column, "select") for role in (OPERATOR, ADMIN)} if operated else set()
    return found
