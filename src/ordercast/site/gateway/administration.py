"""What a site answers its operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ordercast.core import plans
from ordercast.core.administration import (
    AnswerBody,
    AskLinks,
    AskMetrics,
    AskStatus,
    ChangeOrdering,
    Cut,
    Emulate,
    Heal,
    LeaveSites,
    Link,
    Links,
    Metrics,
    Ok,
    Question,
    Status,
    Trace,
)
from ordercast.core.errors import WrongUse
from ordercast.core.events import FromAbove
from ordercast.core.ids import SiteId
from ordercast.core.mistakes import unknown
from ordercast.core.stack import Stack
from ordercast.protocols.groups.site_group import SiteGroup
from ordercast.protocols.links.reliable import Reliable
from ordercast.protocols.membership.view_synchrony import ViewSynchrony
from ordercast.protocols.ordering.options import check_options, check_protocol_name, with_ids
from ordercast.site.transport.emulation import EmulatedNetwork, Way

if TYPE_CHECKING:
    from ordercast.site.daemon import Site


class SiteAdministration:
    """Answers for one site."""

    def __init__(self, site: Site, leave: Callable[[], None] | None = None) -> None:
        """`leave` begins the orderly end of the site."""
        self._site = site
        self._leave = leave

    async def answer(self, question: Question) -> AnswerBody:
        """Do what is asked; a `WrongUse` says why it cannot be done."""
        match question:
            case AskStatus():
                return self._status()
            case AskLinks():
                return self._links()
            case AskMetrics():
                return Metrics(self._site.metrics.text())
            case Emulate(to=to, delay_ms=delay_ms, jitter_ms=jitter_ms, loss=loss):
                way = Way(round(delay_ms * 1000), round(jitter_ms * 1000), loss, self._emulated().way(self._id(to)).cut)
                self._emulated().set_way(self._id(to), way)
            case Cut(to=names):
                self._emulated()
                for site in tuple(map(self._id, names)):
                    self._set_cut(site, True)
            case Heal():
                self._emulated()
                for site in self._others():
                    self._set_cut(site, False)
            case ChangeOrdering():
                await self._change_ordering(question)
            case Trace(on=on):
                self._site.set_tracing(on)
            case LeaveSites() if self._leave is not None:
                self._leave()
            case _:
                raise WrongUse("this site cannot do that")
        return Ok()

    # --- how it is ---

    def _status(self) -> Status:
        site = self._site
        gateway, view, waiting = site.gateway, site.view, site.stack.waiting_for()
        return Status(
            cluster=site.cluster,
            site=site.name,
            incarnation=site.incarnation,
            state=self._state(),
            view=0 if view is None else view.id,
            members=() if view is None else tuple(map(gateway.name_of, view.members)),
            ordering=self._ordering(),
            position=gateway.recent.end,
            final=gateway.recent.final,
            log=str(site.log.state),
            participants=len(gateway.connections),
            outstanding_bytes=gateway.pressure.outstanding_bytes,
            waiting_for=None if waiting is None else f"{waiting.what} {gateway.name_of(waiting.site)}",
        )

    def _ordering(self) -> str:
        """What the newest change in the order says, or else the file."""
        plan = layer_of(self._site.stack, SiteGroup).log.roles.plan
        return plan.change.protocol if plan.number else self._site.configuration.group.ordering

    def _state(self) -> str:
        site = self._site
        if site.leaving:
            return "leaving"
        if site.blocked:
            return "blocked"
        return "in" if site.view is not None and site.me in site.view.members else "starting"

    def _links(self) -> Links:
        return Links(tuple(map(self._link, self._others())))

    def _link(self, other: SiteId) -> Link:
        site = self._site
        views = layer_of(site.stack, ViewSynchrony)
        peer = views.suspector.peers.get(other)
        mean_us = None if peer is None else peer.round_trip.mean_us
        channel = layer_of(site.stack, Reliable).channels.get(other)
        links = site.links
        way = Way() if links is None else links.emulated.way(other)
        return Link(
            site=site.names[other],
            connected=links is not None and links.is_connected(other),
            round_trip_ms=None if mean_us is None else mean_us / 1000,
            full=channel is not None and channel.full,
            delay_ms=way.delay_us / 1000,
            loss=way.loss,
            cut=way.cut,
        )

    async def _change_ordering(self, wanted: ChangeOrdering) -> None:
        """Until the change has come up at this site."""
        site = self._site
        check_protocol_name("ordering", wanted.protocol)
        check_options("options", wanted.protocol, wanted.options, site.names)
        options = with_ids(wanted.protocol, wanted.options, site.names)
        changed = site.gateway.questions.changed_ordering(wanted.protocol)
        site.handle(FromAbove(plans.ChangeOrdering(wanted.protocol, options)))
        await changed

    # --- what is emulated ---

    def _emulated(self) -> EmulatedNetwork:
        site = self._site
        if site.links is None or not site.configuration.tables.emulate:
            raise WrongUse("only a site whose cluster file has an [[emulate]] table emulates a network")
        return site.links.emulated

    def _set_cut(self, other: SiteId, cut: bool) -> None:
        emulated = self._emulated()
        way = emulated.way(other)
        emulated.set_way(other, Way(way.delay_us, way.jitter_us, way.loss, cut))

    def _others(self) -> tuple[SiteId, ...]:
        return tuple(other for other in self._site.configuration.sites if other != self._site.me)

    def _id(self, name: str) -> SiteId:
        names = tuple(self._site.names[other] for other in self._others())
        if name not in names:
            raise WrongUse(unknown("other site", name, names))
        return SiteId(self._site.names.index(name))


Kind = TypeVar("Kind")


def layer_of(stack: Stack, kind: type[Kind]) -> Kind:
    """The layer of this kind."""
    return next(layer for layer in stack.layers if isinstance(layer, kind))
