"""Who is a member of which participants' group at some place of the order: it follows from the entries before."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from ordercast.core.entries import Content
from ordercast.core.ids import incarnation_of
from ordercast.core.messages import UNNUMBERED, Act, Author, Bundle
from ordercast.core.participants import Member
from ordercast.core.views import View


class Change(NamedTuple):
    """What an entry has changed in one group. A member that goes on by way of another site has neither come nor
    gone."""

    group: str
    joined: tuple[Member, ...] = ()
    left: tuple[Member, ...] = ()


def concerns_members(content: Content) -> bool:
    """Whether an entry can change who is in."""
    if isinstance(content, Bundle):
        return content.author is not None and content.author.act in (Act.JOINS, Act.LEAVES) and not content.void
    return isinstance(content, View)


class Members(Struct, array_like=True):
    """Of every group that has any, by session."""

    groups: dict[str, dict[int, Member]] = {}

    def of(self, group: str) -> tuple[Member, ...]:
        """The most senior first."""
        return tuple(sorted(self.groups.get(group, {}).values(), key=lambda member: (member.since, member.session)))

    def has(self, group: str, session: int) -> bool:
        """Whether the session is a member of the group."""
        return session in self.groups.get(group, ())

    def copy(self) -> Members:
        """The same, to change."""
        return Members({group: dict(members) for group, members in self.groups.items()})

    def apply(self, content: Content, position: int) -> tuple[Change, ...]:
        """An entry comes up; returns what that changes."""
        match content:
            case Bundle(author=Author(act=Act.JOINS) as author, void=()):
                return self._join(content, author, position)
            case Bundle(author=Author(act=Act.LEAVES) as author, void=()):
                return self._leave(content, author)
            case View():
                return self._enter(content)
            case _:
                return ()

    def _join(self, bundle: Bundle, author: Author, position: int) -> tuple[Change, ...]:
        known = self.groups.get(author.group, {}).get(author.session)
        life = bundle.origin, incarnation_of(bundle.id)
        if known is not None and (author.number == UNNUMBERED or (known.site, known.incarnation) == life):
            return ()
        member = Member(author.session, author.name, *life, position if known is None else known.since)
        self.groups.setdefault(author.group, {})[author.session] = member
        return (Change(author.group, (member,) if known is None else ()),)

    def _leave(self, bundle: Bundle, author: Author) -> tuple[Change, ...]:
        """A site speaks only for those who are members by way of itself; they may have gone on to another."""
        known = self.groups.get(author.group, {}).get(author.session)
        if known is None:
            return ()
        life = bundle.origin, incarnation_of(bundle.id)
        if author.number == UNNUMBERED and (known.site, known.incarnation) != life:
            return ()
        self._remove(author.group, (known,))
        return (Change(author.group, left=(known,)),)

    def _enter(self, view: View) -> tuple[Change, ...]:
        """Members by way of a site that is not in the view, or in another life, are gone."""
        changes = []
        for group in sorted(self.groups):
            left = tuple(each for each in self.of(group) if view.incarnation(each.site) != each.incarnation)
            if left:
                self._remove(group, left)
                changes.append(Change(group, left=left))
        return tuple(changes)

    def _remove(self, group: str, members: tuple[Member, ...]) -> None:
        for member in members:
            del self.groups[group][member.session]
        if not self.groups[group]:
            del self.groups[group]

    def changes_to(self, other: Members) -> tuple[Change, ...]:
        """What makes these members into those."""
        changes = []
        for group in sorted({**self.groups, **other.groups}):
            mine, theirs = self.of(group), other.of(group)
            if mine != theirs:
                joined = tuple(each for each in theirs if not self.has(group, each.session))
                left = tuple(each for each in mine if not other.has(group, each.session))
                changes.append(Change(group, joined, left))
        return tuple(changes)
