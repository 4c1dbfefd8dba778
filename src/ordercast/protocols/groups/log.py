"""The order as one site knows it: entries at positions, which of them are final, and who has sent what.

Positions number messages and control entries 0, 1, 2, ... The tail beyond `final` is tentative.
"""

from __future__ import annotations

from msgspec import Struct, field

from ordercast.core.entries import Content, Entry, RoleChange
from ordercast.core.ids import SEQ_BITS, SEQS_MAX, SiteId
from ordercast.core.messages import Bundle
from ordercast.core.plans import Plan, changes_plan
from ordercast.core.views import View
from ordercast.protocols.groups.authors import Authors
from ordercast.protocols.ordering.configuration import Configuration

RETAINED_POSITIONS = 10_000
"""So much of the final order is kept for members that come back; who is further behind gets a snapshot."""

DIGEST_FACTOR = 1_000_003
DIGEST_MODULUS = (1 << 61) - 1

VIEWS_MAX = 1 << 48
"""Above any view's number: so the digest tells views and role changes apart."""


class Sessions(Struct, array_like=True):
    """For each life of each site, and for each session, which messages have come: what comes twice is recognised."""

    ordered: dict[int, int] = {}
    """By origin and incarnation: the lowest sequence number that is not ordered yet."""
    unordered: dict[int, int] = {}
    """The same for its fifo and causal messages."""
    authors: Authors = field(default_factory=Authors)
    """Of the order. (A fifo or causal message that a participant multicasts again is a new one.)"""

    def is_new(self, bundle: Bundle, ordered: bool) -> bool:
        """Whether the bundle has not been taken before."""
        taken = self.ordered if ordered else self.unordered
        return bundle.id & SEQS_MAX - 1 >= taken.get(bundle.id >> SEQ_BITS, 0)

    def take(self, bundle: Bundle, ordered: bool) -> None:
        """The bundle has been delivered, or ordered; in the order `place` takes it."""
        taken = self.ordered if ordered else self.unordered
        taken[bundle.id >> SEQ_BITS] = (bundle.id & SEQS_MAX - 1) + len(bundle.bodies)

    def place(self, bundle: Bundle, position: int) -> None:
        """The bundle has come up at a position of the order."""
        self.take(bundle, ordered=True)
        if bundle.author is not None:
            self.authors.take(bundle.author, len(bundle.bodies), position)

    def copy(self) -> Sessions:
        """The same, to keep."""
        return Sessions(dict(self.ordered), dict(self.unordered), self.authors.copy())


class Roles(Struct, frozen=True, array_like=True):
    """Who issues tickets at a place of the order, and under which plan, as its control entries tell."""

    members: dict[SiteId, int] = {}
    """The members of the newest view, with their lives."""
    actives: tuple[SiteId, ...] = ()
    plan: Plan = Plan()
    given: tuple[SiteId, ...] = ()
    """By the start rule: who is active where the group starts anew, as far as they are members; empty: everybody."""

    def after(self, content: Content) -> Roles:
        """The roles once this entry has come up."""
        match content:
            case RoleChange(site=site, active=active):
                others = tuple(each for each in self.actives if each != site)
                actives = tuple(sorted((*others, site))) if active else others
                return Roles(self.members, actives, self.plan, self.given)
            case View() as view:
                return self._in_view(view)
            case Bundle() if changes_plan(content):
                return self._under(self.plan.after(content))
            case _:
                return self

    def _under(self, plan: Plan) -> Roles:
        """Another protocol starts, by its own rule."""
        given = tuple(plan.change.options.get("active", ()))
        return Roles(self.members, Configuration.at_start(given, tuple(self.members)), plan, given)

    def _in_view(self, view: View) -> Roles:
        """Members that go on keep their roles, new ones are passive; if no active is left, the highest id takes over.

        Where nobody goes on the group starts anew, by the start rule (report, section 6.3).
        """
        lives = {
            member: view.incarnations[index] if view.incarnations else 0 for index, member in enumerate(view.members)
        }
        staying = [member for member, life in lives.items() if self.members.get(member) == life]
        if staying:
            actives = tuple(site for site in self.actives if site in staying) or (staying[-1],)
        else:
            actives = Configuration.at_start(self.given, view.members)
        return Roles(lives, actives, self.plan, self.given)


class Base(Struct, frozen=True, array_like=True):
    """The order up to where a log begins."""

    position: int = 0
    digest: int = 0
    roles: Roles = Roles()


class Log(Struct):
    """Entries from some base on."""

    base: Base = Base()
    sessions_at_base: Sessions = field(default_factory=Sessions)
    entries: list[Entry] = []
    final: int = 0
    sessions: Sessions = field(default_factory=Sessions)
    retained_positions: int = RETAINED_POSITIONS
    controls: list[Entry] = []
    """Those of the entries that can change roles or plan."""

    @property
    def length(self) -> int:
        """The next position."""
        return self.entries[-1].end if self.entries else self.base.position

    @property
    def digest(self) -> int:
        """Of the whole order."""
        return self.entries[-1].digest if self.entries else self.base.digest

    @property
    def whole(self) -> Base:
        """The whole order, for another log to begin with."""
        return Base(self.length, self.digest, self.roles)

    def admit(self, bundle: Bundle) -> Bundle | None:
        """The bundle as it can be appended; None if it has come up before, under its own id."""
        if not self.sessions.is_new(bundle, ordered=True):
            return None
        return bundle if bundle.author is None else self.sessions.authors.admit(bundle, self.length)

    def append(self, content: Content) -> Entry:
        """Give something the next position."""
        count, position = 1, self.length
        match content:
            case Bundle():
                count, identity = len(content.bodies), int(content.id)
                self.sessions.place(content, position)
            case View():
                identity = -1 - content.id
            case RoleChange(site=site, active=active):
                identity = -1 - (VIEWS_MAX + 2 * site + active)
        digest = (self.digest * DIGEST_FACTOR + identity) % DIGEST_MODULUS
        entry = Entry(position, position + count, content, digest)
        self.add(entry)
        return entry

    def add(self, entry: Entry) -> None:
        """An entry as others have it. Sessions must be given anew."""
        self.entries.append(entry)
        content = entry.content
        if not isinstance(content, Bundle) or changes_plan(content):
            self.controls.append(entry)

    def finalize(self, below: int) -> None:
        """Everything below is final; what is far below need not be kept."""
        self.final = below
        if self.entries and self.entries[0].position < below - 2 * self.retained_positions:
            keep_from = self.index_at(below - self.retained_positions)
            for entry in self.entries[:keep_from]:
                if isinstance(entry.content, Bundle):
                    self.sessions_at_base.place(entry.content, entry.position)
            last = self.entries[keep_from - 1]
            self.base = Base(last.end, last.digest, self.roles_at(last.end))
            del self.entries[:keep_from]
            self.controls = [entry for entry in self.controls if entry.position >= last.end]

    def index_at(self, position: int) -> int:
        """The index of the entry that begins at or after the position."""
        low, high = 0, len(self.entries)
        while low < high:
            middle = (low + high) // 2
            if self.entries[middle].position < position:
                low = middle + 1
            else:
                high = middle
        return low

    def slice(self, start: int, stop: int) -> list[Entry]:
        """The entries from one position up to another."""
        return self.entries[self.index_at(start) : self.index_at(stop)]

    def digest_at(self, position: int) -> int | None:
        """Of the order below a position, if that is known here."""
        if position == self.base.position:
            return self.base.digest
        index = self.index_at(position)
        if index == 0 or index > len(self.entries) or self.entries[index - 1].end != position:
            return None
        return self.entries[index - 1].digest

    @property
    def roles(self) -> Roles:
        """Who issues tickets after the whole order."""
        return self.roles_at(self.length)

    def roles_at(self, position: int) -> Roles:
        """Who issues tickets after everything below a position."""
        roles = self.base.roles
        for entry in self.controls:
            if entry.end > position:
                break
            roles = roles.after(entry.content)
        return roles

    def truncate(self, position: int) -> None:
        """Forget what is tentative from a position on. Sessions must be given anew."""
        assert position >= self.final, "what is final is never truncated"
        del self.entries[self.index_at(position) :]
        self.controls = [entry for entry in self.controls if entry.position < position]

    def forget_entries(self) -> None:
        """Keep where the order stands, and nothing of what it was."""
        self.base, self.entries, self.controls = self.whole, [], []

    def restart_at(self, base: Base, sessions: Sessions) -> None:
        """Begin with somebody else's order up to a position."""
        self.base, self.entries, self.controls, self.final = base, [], [], base.position
        self.sessions_at_base, self.sessions = sessions, sessions.copy()


def first_difference(mine: list[Entry], theirs: list[Entry]) -> int | None:
    """The position of the first entry of `mine` that is not the same in `theirs`; None if all are."""
    for entry, other in zip(mine, theirs, strict=False):
        if entry.digest != other.digest:
            return entry.position
    return mine[len(theirs)].position if len(mine) > len(theirs) else None
