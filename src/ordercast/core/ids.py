"""Identifiers. Each is an integer, so that comparing and hashing them costs nothing."""

from __future__ import annotations

from typing import NewType

SiteId = NewType("SiteId", int)
"""0 to 16383: the order of appearance in the cluster or scenario file. Never reused."""

ViewId = NewType("ViewId", int)
"""Number of a view; views of the primary partition are numbered in the order they are installed."""

Ticket = NewType("Ticket", int)
"""An order number issued by one site. Unique together with its issuer (hybrid report, section 5)."""

MessageId = NewType("MessageId", int)
"""A message's identity (origin site, incarnation, sequence number) packed into a positive 64-bit integer."""

SITE_BITS = 14
INCARNATION_BITS = 12
SEQ_BITS = 37

SITES_MAX = 1 << SITE_BITS
INCARNATIONS_MAX = 1 << INCARNATION_BITS
SEQS_MAX = 1 << SEQ_BITS

ORIGIN_SHIFT = INCARNATION_BITS + SEQ_BITS
"""`message >> ORIGIN_SHIFT` is the message's origin; hot paths write it out."""


def pack_message_id(origin: SiteId, incarnation: int, seq: int) -> MessageId:
    """The id of the `seq`-th message (from 0) of one incarnation of a site."""
    assert 0 <= origin < SITES_MAX, f"site id {origin} does not fit into {SITE_BITS} bits"
    assert 0 <= incarnation < INCARNATIONS_MAX, f"incarnation {incarnation} does not fit"
    assert 0 <= seq < SEQS_MAX, f"sequence number {seq} does not fit: a new incarnation must begin"
    return MessageId(origin << ORIGIN_SHIFT | incarnation << SEQ_BITS | seq)


def origin_of(message: MessageId) -> SiteId:
    """The site that multicast the message."""
    return SiteId(message >> ORIGIN_SHIFT)


def incarnation_of(message: MessageId) -> int:
    """The life of the origin site in which it multicast the message."""
    return message >> SEQ_BITS & INCARNATIONS_MAX - 1


def seq_of(message: MessageId) -> int:
    """The message's place, from 0, among those of its origin's incarnation."""
    return message & SEQS_MAX - 1
