"""What the files of `sql/mysql` leave out because each would repeat it, and what stands for it there.

- `collate exact`: the collation in which a text is itself and no other. Its name differs between the servers,
  and a parameter has to say its character set, too.
- `begin atomic … end atomic;`: a call of a public procedure, whole or not at all. The name is standard SQL's,
  which has a block of that kind; MariaDB and MySQL have none. The block knows `v_own`, see _queue_begin.

No server takes either as it stands, so nothing is installed by mistake without them.
"""

from __future__ import annotations

import re
import textwrap
from typing import Final

COLLATION: Final = "collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */"
_TYPED: Final = re.compile(r"\b((?:long)?text|varchar\(\d+\)) collate exact\b")
_BARE: Final = re.compile(r"\bcollate exact\b")
_ATOMIC: Final = re.compile(r"^( *)begin atomic\n(.*?)^\1end atomic;\n", re.DOTALL | re.MULTILINE)
_DECLARES: Final = re.compile(r"(?:^ *declare\b(?:[^\n]*\n)*?[^\n]*;(?: *--[^\n]*)?\n)*", re.MULTILINE)
# The handlers are of the block that has the cursors: MySQL leaves one open that is further in.
_SHELL: Final = """\
begin declare v_own boolean; declare v_tries int default 0; again: loop begin
{declares}    declare exit handler for 1213, 1020 call _queue_retry(v_own, v_tries);
    declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
    call _queue_begin(v_own);
{body}    call _queue_commit(v_own);
    leave again;
end; end loop; end;
"""


def expand(text: str) -> str:
    """Return the text of a file as the servers take it.

    Args:
        text: as it stands in `sql/mysql`.
    """
    text = _TYPED.sub(rf"\1 character set utf8mb4 {COLLATION}", text)
    return _ATOMIC.sub(_shell, _BARE.sub(COLLATION, text))


def _shell(block: re.Match[str]) -> str:
    before, between, after = (
        textwrap.indent(part, block[1]) for part in re.split("{declares}|{body}", _SHELL)
    )
    declares = _DECLARES.match(block[2])
    at = declares.end() if declares else 0
    return before + block[2][:at] + between + block[2][at:] + after
