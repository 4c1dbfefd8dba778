"""Entries of the ordered log as rows, and rows as entries again. Whatever is done for each message Arrow does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from ordercast.core.entries import Content, Entry, RoleChange
from ordercast.core.ids import MessageId, incarnation_of, origin_of, seq_of
from ordercast.core.messages import Act, Author, Bundle, Level
from ordercast.core.plans import Plan
from ordercast.core.views import View
from ordercast.records.schema import schema_of

KINDS = {Act.SPEAKS: "message", Act.JOINS: "join", Act.LEAVES: "leave", Act.PLANS: "plan"}
ACTS = {kind: act for act, kind in KINDS.items()}
CONTROL_KINDS: dict[type, str] = {View: "view", RoleChange: "role"}
"""Other control entries are called as their type is."""

COUNTING = ("message", "seq", "number")
"""Given for an entry's first row, and one more on each that follows."""

ON_FIRST_ROW = ("past", "ordered_past", "control", "content")
ON_LAST_ROW = ("digest",)
BY_ROW = ("position", "void", "payload")

_content = msgspec.msgpack.Decoder[Any](Content)


class SegmentRow(Struct, frozen=True, kw_only=True):
    """One position of the order. Columns that a kind does not use are null."""

    position: int
    entry: int
    """The position of the first row of the same entry: a bundle's messages were ordered together."""
    kind: str
    """message, join, leave, plan; view, role, or another control entry."""
    wall_us: int
    """When this site logged it, by its own clock."""
    void: bool
    """Whether the message had come up before, and so is not delivered here."""
    message: int | None
    """Packed origin, incarnation and seq (`core.ids`)."""
    origin: int | None
    """The site that multicast it; of a role, the site that changes it."""
    origin_incarnation: int | None
    seq: int | None
    level: str | None
    group: str | None
    """The participants' group."""
    sender: str | None
    session: int | None
    number: int | None
    """Of the message, within the session."""
    payload: bytes | None
    view: int | None
    members: tuple[int, ...] | None
    role: str | None
    """What the site becomes: active or passive."""
    control: str | None
    """The fields of a view, a role, a plan or another control entry, as JSON."""
    content: bytes | None
    """The same, as the protocols encode it; a plan is a message, and that is its payload."""
    past: tuple[int, ...] | None
    """On the first row of a bundle that waits for fifo and causal ones: how many of each member."""
    ordered_past: tuple[int, ...] | None
    digest: int | None
    """Of the whole order up to here, on the last row of an entry."""


class LoggedEntry(Struct, frozen=True, gc=False):
    """An entry, and when it was logged."""

    entry: Entry
    wall_us: int
    size: int
    """How many bytes the entry takes, encoded."""


@cache
def segment_schema() -> Any:
    """The `pyarrow.Schema` of a segment."""
    return schema_of(SegmentRow)


# --- entries as rows ---


def table_of(logged: Sequence[LoggedEntry]) -> Any:
    """The rows of consecutive entries, as a `pyarrow.Table`."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    counts = np.array([each.entry.end - each.entry.position for each in logged])
    owner = np.repeat(np.arange(len(logged)), counts)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = {
        "first": pa.array(owner, mask=offset != 0),
        "last": pa.array(owner, mask=offset != np.repeat(counts, counts) - 1),
        "every": pa.array(owner),
    }
    facts = [_facts(each) for each in logged]
    schema = segment_schema()
    columns: dict[str, Any] = _columns_by_row(logged, len(owner))
    for name in schema.names:
        if name not in BY_ROW:
            which = "first" if name in ON_FIRST_ROW else "last" if name in ON_LAST_ROW else "every"
            column = pa.array([each.get(name) for each in facts], schema.field(name).type).take(rows[which])
            columns[name] = pc.add(column, pa.array(offset)) if name in COUNTING else column
    return pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)


def _columns_by_row(logged: Sequence[LoggedEntry], count: int) -> dict[str, Any]:
    import numpy as np
    import pyarrow as pa

    begin = logged[0].entry.position
    assert logged[-1].entry.end == begin + count, "entries of a segment follow on each other"
    void = np.zeros(count, dtype=bool)
    payloads: list[bytes | None] = []
    for each in logged:
        content = each.entry.content
        if isinstance(content, Bundle):
            payloads.extend(content.bodies)
            for index in content.void:
                void[each.entry.position - begin + index] = True
        else:
            payloads.append(None)
    position = pa.array(np.arange(begin, begin + count))
    return {"position": position, "void": pa.array(void), "payload": pa.array(payloads, pa.binary())}


def _facts(logged: LoggedEntry) -> dict[str, Any]:
    """What is to be said of an entry, by column."""
    entry = logged.entry
    facts: dict[str, Any] = {"entry": entry.position, "wall_us": logged.wall_us, "digest": entry.digest}
    content = entry.content
    return facts | (_bundle_facts(content) if isinstance(content, Bundle) else _control_facts(content))


def _bundle_facts(bundle: Bundle) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "kind": KINDS[Act.SPEAKS],
        "message": bundle.id,
        "origin": origin_of(bundle.id),
        "origin_incarnation": incarnation_of(bundle.id),
        "seq": seq_of(bundle.id),
        "level": bundle.level.name.lower(),
        "past": bundle.past or None,
        "ordered_past": bundle.ordered_past or None,
    }
    author = bundle.author
    if author is not None:
        facts |= {"kind": KINDS[author.act], "group": author.group, "sender": author.name}
        facts |= {"session": author.session, "number": author.number}
        if author.act is Act.PLANS:
            facts["control"] = _plan_shown(bundle.bodies[0])
    return facts


def _plan_shown(body: bytes) -> str | None:
    try:
        return msgspec.json.encode(Plan(body=body).change).decode()
    except msgspec.DecodeError:
        return None  # the group decides what becomes of it; here it is only shown


def _control_facts(content: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "kind": CONTROL_KINDS.get(type(content), type(content).__name__.lower()),
        "control": msgspec.json.encode(msgspec.structs.asdict(content)).decode(),
        "content": msgspec.msgpack.encode(content),
    }
    match content:
        case View(id=view, members=members):
            facts |= {"view": view, "members": members}
        case RoleChange(site=site, active=active):
            facts |= {"origin": site, "role": "active" if active else "passive"}
    return facts


# --- rows as entries ---


def entries_of(table: Any) -> list[Entry]:
    """The entries of a table that holds all rows of each."""
    import pyarrow.compute as pc

    position = table["position"]
    begin = position[0].as_py()
    payloads = table["payload"].to_pylist()
    digests = table["digest"].drop_null().to_pylist()
    void = _void_of(table)
    rows = table.drop_columns(["payload", "digest"]).filter(pc.equal(position, table["entry"])).to_pylist()
    ends = [row["position"] for row in rows[1:]] + [begin + table.num_rows]
    entries = []
    for row, end, digest in zip(rows, ends, digests, strict=True):
        start = row["position"]
        bodies = payloads[start - begin : end - begin]
        entries.append(Entry(start, end, _content_of(row, bodies, void.get(start, ())), digest))
    return entries


def _void_of(table: Any) -> dict[int, tuple[int, ...]]:
    """By an entry's position the indexes of its bodies that are void."""
    rows = table.select(["position", "entry"]).filter(table["void"]).to_pylist()
    void: dict[int, tuple[int, ...]] = {}
    for row in rows:
        void[row["entry"]] = (*void.get(row["entry"], ()), row["position"] - row["entry"])
    return void


def _content_of(row: dict[str, Any], bodies: list[bytes], void: tuple[int, ...]) -> Content:
    if row["content"] is not None:
        content: Content = _content.decode(row["content"])
        return content
    author = None
    if row["group"] is not None:
        author = Author(row["group"], row["sender"], row["session"], row["number"], ACTS[row["kind"]])
    level = Level[row["level"].upper()]
    past, ordered_past = tuple(row["past"] or ()), tuple(row["ordered_past"] or ())
    return Bundle(MessageId(row["message"]), tuple(bodies), level, past, ordered_past, author, void)
