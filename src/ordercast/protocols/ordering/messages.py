"""The messages that the ticket protocols exchange."""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import MessageId, SiteId, Ticket
from ordercast.core.messages import Bundle

Issued = tuple[Ticket, MessageId]
"""A ticket without its issuer, who is the sender of the message that carries it."""


class Data(Struct, frozen=True, array_like=True, tag="data", gc=False):
    """A bundle on its way to all members, with the sender's tickets for messages of others.

    `ticket` is the sender's ticket clock. For an issuer it is also the bundle's own ticket. Senders that issue
    none carry it too, so that the total order extends the causal order: whoever issues the ticket for this
    bundle issues one above everything that the sender had delivered.
    """

    bundle: Bundle
    ticket: Ticket
    issued: tuple[Issued, ...] = ()
    sent_us: int = 0
    """The sender's own clock at transmission; only differences between stamps of one sender mean anything."""
    probe: bool = False
    """Asks every receiver for an `Echo`."""


class Tickets(Struct, frozen=True, array_like=True, tag="tickets", gc=False):
    """Tickets that did not wait for the issuer's next bundle.

    `ticket` is the issuer's ticket clock: it will issue no more up to there. With nothing issued this is a mere
    promise, which keeps an idle issuer from holding up the others.
    """

    ticket: Ticket
    issued: tuple[Issued, ...] = ()


class Echo(Struct, frozen=True, array_like=True, tag="echo", gc=False):
    """The null message that answers a probe at once, to measure the round trip (hybrid report, section 4.2)."""

    sent_us: int
    """The time stamp of the message that is answered."""
    delays_us: tuple[tuple[SiteId, int], ...] = ()
    """The delays from the sender to others, as it has measured them, for those who decide on roles."""
