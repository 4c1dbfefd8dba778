"""How a member that does not hold the whole order comes to it.

It asks one member after the other for the entries from its last final position to the beginning of the view. What
it has beyond that position it compares, and retracts what the majority has ordered otherwise. They come in portions,
and what is final is taken at once. Older ones than a member keeps in memory it has from its host's log; where that
does not reach, the asker gets a snapshot of the participants' state instead. `group` is the `SiteGroup` whose state
this reads and changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ordercast.core.deliveries import (
    Diverged,
    Finalized,
    History,
    HistoryWanted,
    Logged,
    Retracted,
    Snapshot,
    SnapshotWanted,
    Truncated,
)
from ordercast.core.effects import Out
from ordercast.core.entries import Entry
from ordercast.core.events import Now
from ordercast.core.ids import SiteId, incarnation_of
from ordercast.core.messages import Bundle
from ordercast.protocols.groups import showing, view_changes
from ordercast.protocols.groups.log import Base, Log, Sessions, first_difference
from ordercast.protocols.groups.messages import Beginning, Fetch, Supplement

if TYPE_CHECKING:
    from ordercast.protocols.groups.site_group import SiteGroup

    Group = SiteGroup[Any]

FETCH_US = 1_000_000
"""How long to wait for one donor before asking another."""

PORTION_ENTRIES_MAX = 4096
PORTION_BYTES_MAX = 1 << 20
"""Of messages; one entry may be more."""


# --- the member that lacks something ---


def fetch(group: Group, out: Out) -> None:
    """Ask a member for what is missing; later, if it does not answer, another."""
    if group.aligned or group.me not in group.view.members:
        return
    start = group.fetched[-1].end if group.fetched else group.log.final
    digest = group.fetched[-1].digest if group.fetched else group.log.digest_at(start)
    donor = group.donor.next()
    if donor is not None:
        out.send(donor, Fetch(start, -1 if digest is None else digest))
    out.set_timer("fetch", FETCH_US)


def on_supplement(group: Group, supplement: Supplement, now: Now, out: Out) -> None:
    """Some of what is missing, or the last of it."""
    if group.aligned:
        return
    if supplement.begin is not None:
        if supplement.begin.snapshot.position <= group.log.final:
            return  # of a donor asked before, and too late
        take_snapshot(group, supplement.begin, out)
    start = group.fetched[-1].end if group.fetched else group.log.final
    if supplement.entries and supplement.entries[0].position == start:
        group.fetched.extend(supplement.entries)
    reached = group.fetched[-1].end if group.fetched else group.log.final
    if reached >= supplement.end:
        take_fetched(group, out)
        whole, begin = group.log.whole, supplement.begin
        begins = begin.start_of_view if begin is not None and reached > supplement.end else whole
        align(group, begins, supplement.sessions, now, out)
    elif supplement.entries:
        take_final(group, supplement.final, out)
        fetch(group, out)


def take_final(group: Group, below: int, out: Out) -> None:
    """What is final elsewhere is so here: only the rest has to be kept until all is there."""
    certain = [entry for entry in group.fetched if entry.end <= below]
    if certain:
        reached, rest = certain[-1].end, group.fetched[len(certain) :]
        group.fetched = certain
        take_fetched(group, out, whole=False)
        group.fetched = rest
        make_final(group, reached, out)
        showing.show_certain(group, out)


def make_final(group: Group, below: int, out: Out) -> None:
    """Everything below a position is final. Once old entries are forgotten, a new life need not have them.

    Nobody relies on that: a new life can as well begin with what was saved before, and more entries.
    """
    base = group.log.base
    group.log.finalize(below)
    group.taken_back.settle(below)
    if group.log.base is not base:
        view_changes.save(group, out, binding=False)
    out.deliver(group.me, Finalized(below))


def take_fetched(group: Group, out: Out, *, whole: bool = True) -> None:
    """Keep what we have in common with the order, retract the rest, and go on with the order.

    If that is not the whole of it, more of what we have may turn out to be the same.
    """
    log = group.log
    mine = log.slice(log.final, log.length if whole else group.fetched[-1].end)
    different = first_difference(mine, group.fetched)
    if different is not None:
        retract(group, different, out)
    for entry in group.fetched:
        if entry.position >= log.length:
            log.add(entry)
            out.deliver(group.me, Logged(entry))
            if isinstance(entry.content, Bundle):
                group.outstanding.pop(entry.content.id, None)
            showing.show(group, entry, out)
    group.fetched.clear()


def is_mine(group: Group, bundle: Bundle) -> bool:
    """Whether a participant of this very life of the site has multicast the bundle."""
    return bundle.origin == group.me and incarnation_of(bundle.id) == group.view.incarnation(group.me)


def retract(group: Group, position: int, out: Out) -> None:
    """Take back what is tentative from a position on. Own bundles are outstanding again, each in its place."""
    others: list[tuple[int, Bundle]] = []
    for entry in group.log.slice(position, group.log.length):
        if isinstance(entry.content, Bundle) and is_mine(group, entry.content):
            group.outstanding[entry.content.id] = entry.content
        elif isinstance(entry.content, Bundle):
            others.append((entry.position, entry.content))
    group.taken_back.add(others, position, group.log.final)
    group.log.truncate(position)
    group.cautious = [entry for entry in group.cautious if entry.position < position]
    out.deliver(group.me, Truncated(position))
    out.deliver(group.me, Retracted(position))


def take_snapshot(group: Group, begin: Beginning, out: Out) -> None:
    """Begin with others' state. Saved at once: a new life must not take what follows for what follows the old log."""
    if group.log.length > group.log.final:
        retract(group, group.log.final, out)
    group.cautious.clear()
    group.fetched.clear()
    delivered = group.log.sessions.unordered
    group.log.restart_at(Base(begin.snapshot.position, begin.digest, begin.roles), begin.sessions.copy())
    group.log.sessions.unordered = delivered  # what has been delivered here stays so; `align` adds what others have
    out.deliver(group.me, begin.snapshot)
    view_changes.save(group, out)


def align(group: Group, start: Base, sessions: Sessions, now: Now, out: Out) -> None:
    """The log holds the whole order up to this view; what was ordered since waits for that."""
    log = group.log
    mine = log.sessions.unordered
    if log.length == start.position:
        log.sessions = sessions.copy()
    else:
        group.replayed = Log(start, sessions=sessions.copy())
    for _, bundle in group.unstable:
        if sessions.is_new(bundle, ordered=False):
            group.outstanding[bundle.id] = bundle
    group.unstable.clear()
    for life, seq in (*sessions.unordered.items(), *mine.items()):
        log.sessions.unordered[life] = max(log.sessions.unordered.get(life, 0), seq)
    group.aligned = True
    view_changes.begin_view(group, start, sessions, now, out)


def count_off(group: Group, replayed: Log) -> None:
    """The ordering protocol begins with the view; what comes up before the end of a snapshot is only counted.

    It goes through all that entries of the log go through, so each position gets what it has at the others.
    """
    replayed.forget_entries()
    if replayed.length >= group.log.length:
        assert replayed.whole == group.log.whole, "a snapshot is of the order that all come to"
        group.replayed = None


# --- the member that has it ---


def on_fetch(group: Group, asker: SiteId, wanted: Fetch, out: Out) -> None:
    """Give the next entries, if what the asker has as final is what we have."""
    if not group.aligned:
        return
    log, end = group.log, group.start_of_view
    mine = end.digest if wanted.start == end.position else log.digest_at(wanted.start)
    if mine is not None and wanted.digest >= 0 and mine != wanted.digest:
        out.deliver(group.me, Diverged(wanted.start, asker))
    elif log.base.position <= wanted.start or wanted.start == end.position:
        supply(group, asker, log.slice(wanted.start, end.position), out)
    else:
        group.history_for[asker] = wanted
        out.deliver(group.me, HistoryWanted(asker, wanted.start, wanted.digest))


def supply(group: Group, asker: SiteId, entries: Sequence[Entry], out: Out) -> None:
    """Give the first of these entries; with the last of them who had sent what."""
    given, end = portion(entries), group.start_of_view.position
    if given and given[-1].end < end:
        out.send(asker, Supplement(given, end, Sessions(), final=group.log.final))
    else:
        out.send(asker, Supplement(given, end, group.sessions_at_start))


def portion(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """So many of the first of these entries as go into one message."""
    size, count = 0, 0
    for entry in entries[:PORTION_ENTRIES_MAX]:
        if isinstance(entry.content, Bundle):
            size += sum(map(len, entry.content.bodies))
        if count and size > PORTION_BYTES_MAX:
            break
        count += 1
    return tuple(entries[:count])


def on_history(group: Group, history: History, out: Out) -> None:
    """The host's log has the entries that somebody asked for, or has them no more."""
    asker = history.asker
    wanted = group.history_for.get(asker)
    if wanted is None or wanted.start != history.start or not group.aligned:
        return  # of a view before
    del group.history_for[asker]
    if not history.entries:
        want_snapshot(group, asker, out)
    elif wanted.digest >= 0 and history.digest_before != wanted.digest:
        out.deliver(group.me, Diverged(wanted.start, asker))
    else:
        end = group.start_of_view.position
        supply(group, asker, [entry for entry in history.entries if entry.end <= end], out)


def want_snapshot(group: Group, asker: SiteId, out: Out) -> None:
    """Too far behind for entries alone. A snapshot is taken of what is final, and tentative entries come with it."""
    group.snapshot_for.append(asker)
    out.deliver(group.me, SnapshotWanted(group.log.final))


def send_snapshot(group: Group, snapshot: Snapshot, out: Out) -> None:
    """The participants have answered."""
    digest = group.log.digest_at(snapshot.position)
    askers, group.snapshot_for = group.snapshot_for, []
    if digest is None:
        return
    end = group.start_of_view.position
    entries = portion(group.log.slice(snapshot.position, end))
    roles = group.log.roles_at(snapshot.position)
    begin = Beginning(snapshot, digest, roles, sessions_at(group, snapshot.position), group.start_of_view)
    for asker in askers:
        out.send(asker, Supplement(entries, end, group.sessions_at_start, begin))


def sessions_at(group: Group, position: int) -> Sessions:
    """Who had sent what at a position that the log still reaches."""
    log = group.log
    at_base = log.sessions_at_base.copy()
    sessions = Sessions(at_base.ordered, dict(group.sessions_at_start.unordered), at_base.authors)
    for entry in log.slice(log.base.position, position):
        if isinstance(entry.content, Bundle):
            sessions.place(entry.content, entry.position)
    return sessions
