"""Participants' sessions: each message comes up once, however often it is multicast; and who is in which group.

Both are worked out again from the one final order, by plain means.
"""

from __future__ import annotations

from ordercast.core.deliveries import GroupViewChanged
from ordercast.core.entries import Entry
from ordercast.core.ids import SiteId, incarnation_of
from ordercast.core.messages import UNNUMBERED, Act, Author, Bundle
from ordercast.core.participants import Member
from ordercast.core.views import View
from ordercast.verify.group.report import Report

Roll = dict[str, dict[int, Member]]
"""By group and session."""


class SessionChecks:
    """What holds of messages that have an author."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._up: dict[int, dict[int, None]] = {}
        """By session: the numbers that have come up in the final order."""
        self._roll: Roll = {}
        self._rolls: dict[int, dict[str, tuple[Member, ...]]] = {}
        """The members after each final entry that can have changed them, by its position."""
        self._told: list[dict[str, GroupViewChanged]] = [{} for _ in report.names]
        """What each site has told last of each group."""

    # --- the one final order ---

    def on_final(self, site: SiteId, entry: Entry) -> None:
        """The next entry of the final order, seen for the first time."""
        content = entry.content
        if isinstance(content, Bundle) and content.author is not None:
            self._check_void(site, entry, content, content.author)
            if not content.void:
                self._enrol(content, content.author, entry.position)
        elif isinstance(content, View):
            self._strike(content)
        else:
            return
        self._rolls[entry.position] = {group: senior_first(members) for group, members in self._roll.items()}

    def _check_void(self, site: SiteId, entry: Entry, bundle: Bundle, author: Author) -> None:
        """Void is what has come up before, or joins or leaves after something later; and nothing else."""
        if author.number == UNNUMBERED:
            return
        up = self._up.setdefault(author.session, {})
        numbers = range(author.number, author.number + len(bundle.bodies))
        late = author.act is not Act.SPEAKS and any(number > author.number for number in up)
        void = tuple(index for index, number in enumerate(numbers) if number in up or late)
        if bundle.void != void:
            what = f"finalizes {self._report.entry(entry)} with bodies {bundle.void} void, expected are {void}"
            self._report.add("sessions", site, what)
        up.update(dict.fromkeys(numbers))

    def _enrol(self, bundle: Bundle, author: Author, position: int) -> None:
        members = self._roll.setdefault(author.group, {})
        known = members.get(author.session)
        place = (bundle.origin, incarnation_of(bundle.id))
        if author.act is Act.JOINS and (known is None or author.number != UNNUMBERED):
            since = known.since if known is not None else position
            members[author.session] = Member(author.session, author.name, *place, since)
        elif author.act is Act.LEAVES and (author.number != UNNUMBERED or known_at(known) == place):
            members.pop(author.session, None)

    def _strike(self, view: View) -> None:
        for group, members in self._roll.items():
            self._roll[group] = {
                session: member
                for session, member in members.items()
                if view.incarnation(member.site) == member.incarnation
            }

    # --- what sites tell ---

    def on_group_view(self, site: SiteId, told: GroupViewChanged) -> None:
        """A site tells who is in a group now."""
        before = self._told[site].get(told.group)
        known = {} if before is None else {member.session: member for member in before.members}
        now = {member.session: member for member in told.members}
        joined = [session for session in now if session not in known]
        left = [session for session in known if session not in now]
        is_first = before is None and not told.joined
        if not is_first and (
            sorted(joined) != sorted(each.session for each in told.joined)
            or sorted(left) != sorted(each.session for each in told.left)
        ):
            self._report.add("participants", site, f"tells of {told.joined} and {told.left} in {told.group} otherwise")
        self._told[site][told.group] = told

    def on_recover(self, site: SiteId) -> None:
        """A new life has told nothing."""
        self._told[site] = {}

    def apart(self, core: tuple[SiteId, ...], below: int) -> str | None:
        """After convergence, with everything below a position final: whether a site has told other members than the
        final order says."""
        positions = [position for position in self._rolls if position < below]
        roll = self._rolls[max(positions)] if positions else {}
        for site in core:
            told = {group: each.members for group, each in self._told[site].items()}
            for group in sorted({**roll, **told}):
                if told.get(group, ()) != roll.get(group, ()):
                    mine = f"{self._report.names[site]} has told {told.get(group, ())} of {group}"
                    return f"participants: {mine}, by the final order it is {roll.get(group, ())}"
        return None


def known_at(member: Member | None) -> tuple[SiteId, int] | None:
    """By way of which life of which site it is a member."""
    return None if member is None else (member.site, member.incarnation)


def senior_first(members: dict[int, Member]) -> tuple[Member, ...]:
    """In the order in which they became members."""
    return tuple(sorted(members.values(), key=lambda member: (member.since, member.session)))
