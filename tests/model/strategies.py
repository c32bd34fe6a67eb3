"""What the calls by chance are made of: few values, so that they meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

kinds = st.sampled_from(["mail", "post", "mail.dead"])
keys = st.sampled_from("abcde")
counts = st.integers(1, 4)
holds = st.sampled_from([1, 10, 60])
delays = st.sampled_from([0, 1, 10, 60, 3600])
headers = st.sampled_from([None, {"h": 1}])
forms = st.sampled_from(["object", "object", "number", "bytes"])
on_duplicate = st.sampled_from(["ignore", "replace", "keep_time", "push_back"])


def options(**some: SearchStrategy[Any]) -> SearchStrategy[dict[str, Any]]:
    """Options of a call: some of these."""
    return st.fixed_dictionaries({}, optional=some)


PUSH: dict[str, SearchStrategy[Any]] = {
    "delay_seconds": delays,
    "priority": st.integers(-1, 2),
    "headers": headers,
    "attempts": st.integers(0, 2),
    "max_attempts": st.integers(1, 3),
}
push_defaults = options(**PUSH)
push_options = options(**PUSH, on_duplicate=on_duplicate)
nack_options = options(
    delay_seconds=delays,
    error=st.just("broken"),
    payload=st.sampled_from(["new", {"n": 0}]),
    final=st.booleans(),
    count=st.booleans(),
)
move_options = options(
    delay_seconds=delays,
    priority=st.integers(-1, 2),
    payload=st.sampled_from(["moved", {"n": 0}]),
    headers=headers,
    key=keys,
    on_duplicate=on_duplicate,
)
settings_of_a_kind = options(
    timeout_seconds=holds,
    max_attempts=st.none() | st.integers(1, 3),
    backoff_seconds=st.sampled_from([0, 5]),
    backoff_factor=st.sampled_from([1, 3]),
    backoff_max_seconds=st.sampled_from([7, 3600]),
    dead_letter_kind=st.none() | kinds,
    dedup_seconds=st.sampled_from([0, 10, 400]),
    history_seconds=st.sampled_from([0, 10**8]),
    payload_shape=st.sampled_from([None, None, {"n": "integer"}]),
)
