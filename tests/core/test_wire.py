"""The wire form of every message of every protocol, and what happens to other people's bytes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordercast.core.layer import Layer
from ordercast.core.stack import Stack, stacked
from ordercast.core.wire import BadBytes, Wire
from ordercast.protocols.full import Life, full_stack
from ordercast.protocols.links.fifo import Fifo
from ordercast.protocols.links.reliable import Reliable
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from tests.layers import layer_of, sites
from tests.strategies import struct_types_in, values_of

members = sites(3)


def over_fifo(layer: Layer) -> Layer:
    return stacked((layer, Fifo(members[0], members)))


def in_a_group(layer: Layer) -> Any:
    """What site groups and view synchrony exchange, wrapped around the messages of an ordering protocol."""
    stack = full_stack(layer, Life(members[0], members), resilience=0)
    return Stack(stack.layers[:3]).WIRE


WIRES: dict[str, Any] = {
    "links": Reliable.WIRE,
    "hybrid in a group": in_a_group(layer_of("hybrid")),
    **{name: layer_of(name).WIRE for name in sorted(PROTOCOLS)},
    **{f"{name} over fifo": over_fifo(layer_of(name)).WIRE for name in sorted(PROTOCOLS)},
}

every_wire = pytest.mark.parametrize("name", sorted(WIRES))


@every_wire
def test_what_is_encoded_can_be_decoded(name: str) -> None:
    wire = Wire(WIRES[name])

    @given(values_of(WIRES[name]))
    def round_trip(message: Any) -> None:
        back = wire.decode(wire.encode(message))
        assert back == message
        assert type(back) is type(message)
        assert wire.encode(back) == wire.encode(message)

    round_trip()


@every_wire
def test_every_message_type_is_drawn(name: str) -> None:
    """Else the round trip could pass by drawing but one of them."""
    drawn = set()

    @settings(max_examples=100 * len(struct_types_in(WIRES[name])), derandomize=True)
    @given(values_of(WIRES[name]))
    def draw(message: Any) -> None:
        drawn.add(type(message))

    draw()
    assert drawn == set(struct_types_in(WIRES[name]))


@every_wire
def test_bytes_from_nowhere_are_bad_bytes_at_worst(name: str) -> None:
    wire = Wire(WIRES[name])

    @given(st.binary(max_size=200))
    def decode(data: bytes) -> None:
        decodes_or_is_bad(wire, data)

    decode()


@every_wire
def test_bytes_damaged_on_the_way_are_bad_bytes_at_worst(name: str) -> None:
    wire = Wire(WIRES[name])

    @given(values_of(WIRES[name]), st.data())
    def decode(message: Any, data: st.DataObject) -> None:
        encoded = wire.encode(message)
        start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(encoded))] * 2)))
        decodes_or_is_bad(wire, encoded[:start] + data.draw(st.binary(max_size=12)) + encoded[end:])

    decode()


def decodes_or_is_bad(wire: Wire, data: bytes) -> None:
    try:
        message = wire.decode(data)
    except BadBytes:
        return
    assert wire.decode(wire.encode(message)) == message


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"\x91" * 100_000,
        b"\xdd\xff\xff\xff\xff",
        b"\xc6\xff\xff\xff\xff",
        b"\x92\xa4data\x00",
        b"\x93\xa7tickets\xcf\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x92\xa4echo\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00",
        b"\x92\xa4ech\xff\x00",
    ],
    ids=["empty", "reserved", "deep", "huge list", "huge bytes", "no bundle", "short", "nan", "not UTF-8"],
)
def test_known_nasty_bytes_are_bad_bytes(data: bytes) -> None:
    with pytest.raises(BadBytes):
        Wire(layer_of("hybrid").WIRE).decode(data)
