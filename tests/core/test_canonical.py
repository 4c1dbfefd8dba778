"""One canonical byte form of a state."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from ordercast.core import canonical
from ordercast.core.layer import Layer
from ordercast.core.stack import stacked
from ordercast.protocols.links.fifo import Fifo
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from tests.layers import layer_of, sites
from tests.strategies import INT64, values_of

scalars = st.none() | st.booleans() | INT64 | st.floats(allow_nan=False) | st.text(max_size=8) | st.binary(max_size=8)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(INT64, inner, max_size=4), max_leaves=12
)


class Pair(Struct):
    first: Any = None
    second: Any = None


def in_reverse(value: Any) -> Any:
    """Equal, with every dictionary filled in the opposite order."""
    if isinstance(value, dict):
        return {key: in_reverse(value[key]) for key in reversed(list(value))}
    if isinstance(value, list):
        return [in_reverse(item) for item in value]
    return value


@given(values)
def test_the_order_in_which_a_dict_was_filled_does_not_count(value: Any) -> None:
    assert canonical.encode(Pair(value)) == canonical.encode(Pair(in_reverse(value)))
    assert canonical.digest(Pair(value)) == canonical.digest(Pair(in_reverse(value)))


@given(st.dictionaries(st.tuples(INT64, INT64), INT64, min_size=2, max_size=4))
def test_keys_may_be_tuples(value: dict[tuple[int, int], int]) -> None:
    assert canonical.encode(value) == canonical.encode(in_reverse(value))


@given(values, values)
def test_different_values_have_different_forms(one: Any, other: Any) -> None:
    if repr(one) != repr(in_reverse(other)) and one != other:
        assert canonical.encode(one) != canonical.encode(other)


@pytest.mark.parametrize("value", [{1, 2}, frozenset((1,)), [({"a": {1}},)], Pair({3: {1}}), Pair(second=set())])
def test_a_set_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="a set has no order"):
        canonical.encode(value)


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_a_layer_survives_freezing_in_any_state(protocol: str) -> None:
    layer = layer_of(protocol, online=True)

    @given(values_of(type(layer)))
    def freeze_and_thaw(state: Layer) -> None:
        frozen = canonical.freeze(state)
        thawed = canonical.thaw(frozen, layer)
        assert thawed == state
        assert thawed is not state
        assert canonical.freeze(thawed) == frozen

    freeze_and_thaw()


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_a_stack_survives_freezing(protocol: str) -> None:
    def stack(me: int) -> Layer:
        return stacked((layer_of(protocol, me), Fifo(sites(3)[me], sites(3))))

    frozen = canonical.freeze(stack(1))
    assert len(frozen) == 2
    thawed = canonical.thaw(frozen, stack(2))
    assert canonical.freeze(thawed) == frozen
    assert canonical.freeze(stack(2)) != frozen
