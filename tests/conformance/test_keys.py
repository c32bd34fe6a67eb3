"""Keys and kinds are the characters they are: what a sloppy collation takes for the same is different."""

# ruff: noqa: RUF001 -- to be confused is what these characters are for
from __future__ import annotations

import random
import unicodedata
from typing import TYPE_CHECKING, Any

from tests.conformance.steps import drain, keys, outcomes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.conformance.harness import Session

PAIRS = 5000
BATCH = 500
"""Pairs in a push."""

INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u061c\ufe0f\u180e\x01\x7f"

# pieces of texts, told apart by what stands beside them
CONFUSED: dict[str, list[tuple[str, str]]] = {
    "case": [
        ("a", "A"), ("z", "Z"), ("é", "É"), ("я", "Я"), ("ω", "Ω"), ("\u01c6", "\u01c5"),
        ("\u10d0", "\u1c90"),
    ],
    "accents": [
        ("e", "é"), ("o", "ö"), ("o", "ø"), ("n", "ñ"), ("c", "ç"), ("и", "й"),
        ("\u05d1", "\u05d1\u05bc"),
    ],
    "letters of two": [
        ("ß", "ss"), ("ẞ", "ß"), ("æ", "ae"), ("ä", "ae"), ("\ufb01", "fi"), ("\u0133", "ij"),
        ("þ", "th"),
    ],
    "Turkish": [("i", "ı"), ("I", "İ"), ("i", "İ"), ("I", "ı"), ("i\u0307", "i"), ("i\u0307", "İ")],
    "composed": [
        ("é", "e\u0301"), ("Å", "A\u030a"), ("\u212b", "Å"), ("가", "\u1100\u1161"),
        ("\u1e69", "s\u0323\u0307"),
    ],
    "order of marks": [("q\u0323\u0307", "q\u0307\u0323"), ("a\u0301\u0327", "a\u0327\u0301")],
    "width": [
        ("a", "\uff41"), ("1", "\uff11"), ("カ", "\uff76"), ("-", "\uff0d"), ("\u3000", " "),
        ("ガ", "\uff76\uff9e"),
    ],
    "kana": [("か", "カ"), ("は", "ぱ"), ("つ", "っ"), ("ー", "-")],
    "nothing to see": [("", one) for one in INVISIBLE],
    "spaces": [(" ", "  "), (" ", "\u00a0"), (" ", "\t"), ("\n", "\r\n"), (" ", "\u2009"), ("", " ")],
    "compatible": [
        ("\u2126", "Ω"), ("\u212a", "K"), ("2", "²"), ("\u2167", "VIII"), ("\u2460", "1"),
        ("\u00b5", "μ"),
    ],
    "digits": [("1", "١"), ("1", "१"), ("0", "۰"), ("1", "01"), ("1", "1.0"), ("1", "+1")],
    "sigma": [("σ", "ς"), ("Σ", "σ"), ("s", "\u017f")],
    "alike": [("a", "а"), ("o", "ο"), ("p", "р"), ("-", "\u2010"), ("'", "’"), ("/", "\u2215")],
    "emoji": [
        ("😀", "😁"), ("👍", "👍🏽"), ("👩\u200d🔬", "👩🔬"), ("❤", "❤\ufe0f"), ("🇩🇪", "🇫🇷"),
        ("😀", "�"),
    ],
    "beyond the first plane": [
        ("𝒜", "A"), ("𠀀", "𠀁"), ("𐐀", "𐐨"), ("𝟏", "1"), ("𐀀", "\ufffd"),
        ("\U0010fffd", "\U0010fffc"), ("𝒜", "𝒞"),
    ],
    "signs": [
        ("", "'"), ("\\", "\\\\"), ("\\'", "'"), ("%", "_"), ("\\0", "0"), ('"', "''"), ("`", "´"),
        ("?", "�"),
    ],
}  # fmt: skip


def made(count: int) -> list[tuple[str, str]]:
    """Return so many pairs of different texts, all of them different, the same ones in each run.

    Args:
        count: how many; with few of them each kind of confusion is there all the same.
    """
    chance = random.Random(4)
    alphabet = "abcxyzABCXYZ0189 .-_éßжλ中😀"
    groups = list(CONFUSED.values())
    pairs = [("end", "end "), ("end  ", "end   "), (" begin", "begin")]
    seen = {key for pair in pairs for key in pair}
    while len(pairs) < count:
        one, other = chance.choice(groups[len(pairs) % len(groups)])
        word = "".join(chance.choices(alphabet, k=chance.randint(0, 8)))
        # at the beginning, in the middle and at the end; what is at the end may be padding to a server
        place = chance.choice((0, len(word) // 2, len(word), len(word)))
        pair = tuple(word[:place] + piece + word[place:] for piece in (one, other))
        if chance.random() < 0.5:
            pair = pair[::-1]
        if all(pair) and not seen & set(pair):
            seen |= set(pair)
            pairs.append((pair[0], pair[1]))
    return pairs


def confusable(one: str, other: str) -> bool:
    """Whether Unicode's own folding takes them for the same."""
    folded = [unicodedata.normalize("NFKC", text.casefold()).strip() for text in (one, other)]
    return folded[0] == folded[1]


def messages(pairs: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return a batch of both of each pair, each with its key as its payload too."""
    return [{"key": key, "payload": key} for pair in pairs for key in pair]


def test_the_pairs_are_what_they_should_be() -> None:
    pairs = made(PAIRS)
    assert len({key for pair in pairs for key in pair}) == 2 * PAIRS
    assert pairs == made(PAIRS)
    assert sum(confusable(*pair) for pair in pairs) > PAIRS / 4
    assert max(len(key) for pair in pairs for key in pair) < 95


def test_5000_pairs_of_keys_that_look_alike_are_10000_messages(queue: Session) -> None:
    pairs = made(PAIRS)
    for first in range(0, PAIRS, BATCH):
        batch = messages(pairs[first : first + BATCH])
        answers = queue.push_many("mail", batch)
        assert outcomes(answers) == ["created"] * len(batch)
        assert [answer.key for answer in answers] == [message["key"] for message in batch]
    for pair in pairs[::20]:
        for key in pair:
            found = queue.get("mail", key)
            assert found
            assert (found.key, found.payload) == (key, key)
    assert set(outcomes(queue.push_many("mail", messages(pairs[::10])))) == {"ignored"}, "a key is itself"
    everything = drain(queue, "mail", 5000)
    assert [message.payload for message in everything] == keys(everything)
    assert sorted(keys(everything)) == sorted(key for pair in pairs for key in pair)


def test_what_is_done_to_one_of_a_pair_is_not_done_to_the_other(queue: Session) -> None:
    queue.define("mail", dedup_seconds=1000)
    for one, other in made(100):
        assert queue.push("mail", one, 1).outcome == "created"
        assert queue.remove("mail", other) == "absent"
        assert queue.get("mail", other) is None
        assert keys(queue.pop("mail")) == [one]
        assert queue.push("mail", other, 2).outcome == "created", "only the first is remembered"
        assert queue.push("mail", one, 3).outcome == "ignored"
        assert queue.push("mail", other, 3, on_duplicate="replace").outcome == "replaced"
        assert queue.remove("mail", one) == "absent"
        assert queue.remove("mail", other) == "removed"


def test_kinds_that_look_alike_are_different_kinds(queue: Session) -> None:
    pairs = made(60)
    for number, pair in enumerate(pairs):
        for side, kind in enumerate(pair):
            queue.define(kind, timeout_seconds=1 + 2 * number + side)
            assert queue.push(kind, "a", kind).outcome == "created"
    for one, other in pairs:
        queue.pause(one)
        assert queue.reserve(one) == []
        [message] = queue.reserve(other)
        assert (message.kind, message.payload) == (other, other)
        assert queue.purge(other) == 0, "it is held"
        assert queue.resume(one) is True
        assert queue.resume(other) is False
    kinds = [kind for pair in pairs for kind in pair]
    assert [queue.stats(kind)[0].total for kind in kinds] == [1] * len(kinds)
    assert sorted(stats.kind for stats in queue.stats()) == sorted(kinds)
    assert [queue.define(kind).timeout_seconds for kind in kinds] == [*range(1, 2 * len(pairs) + 1)]
