"""Groups: once all members are done what follows is pushed, once, with results in the order of the pushes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.model.entries import Member


@dataclass
class Group:
    """A group and its members."""

    name: str
    then_kind: str
    then_payload: dict[str, Any] = field(default_factory=dict[str, Any])
    closed: bool = False
    expected: int | None = None
    on_dead: str = "wait"
    fail_kind: str | None = None
    members: list[Member] = field(default_factory=list["Member"])
    state: str = "open"

    def change(self, options: Mapping[str, Any]) -> None:
        """What isn't given stays as it is."""
        self.closed |= options.get("close", False)
        self.expected = options.get("members", self.expected)
        self.on_dead = options.get("on_dead", self.on_dead)
        self.fail_kind = options.get("fail_kind", self.fail_kind)

    @property
    def done(self) -> list[Member]:
        """Those that are done."""
        return [m for m in self.members if m.outcome]

    def finish(self) -> tuple[str, dict[str, Any]] | None:
        """Finish it if it is time to: where what follows goes, and its payload."""
        failed = self.on_dead == "fail" and any(m.outcome == "dead" for m in self.members)
        known = self.closed or (self.expected is not None and self.expected <= len(self.members))
        if self.state != "open" or not (failed or (known and len(self.done) == len(self.members))):
            return None
        self.state = "failed" if failed else "done"
        to_kind = self.fail_kind if failed else self.then_kind
        return (to_kind, {**self.then_payload, "results": [said(m) for m in self.done]}) if to_kind else None

    def answer(self) -> tuple[str, int, int]:
        """What queue_group says of it."""
        state = "closed" if self.state == "open" and self.closed else self.state
        return state, len(self.members), len(self.done)


def said(member: Member) -> dict[str, Any]:
    """What the results say of a member; of an error just that there is one."""
    about: dict[str, Any] = {"kind": member.kind, "key": member.key, "outcome": member.outcome}
    if member.result:
        about["result"] = member.result[0]
    if member.outcome == "dead":
        about["error"] = "…"
    return about
