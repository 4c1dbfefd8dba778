"""One canonical byte form of a layer's state: to clone it, to compare it, to hash it.

Dictionaries are written in the order of their keys, so that the order of insertion does not count; sets are
refused, since protocols must not hold any. The form can be read back: it is the plain encoding of an equal state.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
from msgspec import Struct

from ordercast.core.layer import Layer
from ordercast.core.stack import Stack

_encoder = msgspec.msgpack.Encoder()
_decoders: dict[Any, msgspec.msgpack.Decoder[Any]] = {}
_SCALARS = (int, bytes, str, bool, float, type(None))

Frozen = tuple[bytes, ...]
"""The canonical form of a layer, or of each layer of a stack."""


def encode(value: object) -> bytes:
    """The canonical bytes of any value made of Structs, tuples, lists, dicts, numbers, strings and bytes."""
    _refuse_sets(value)
    return _encoder.encode(_in_key_order(msgspec.to_builtins(value, builtin_types=(bytes,))))


def digest(value: object) -> bytes:
    """A 16-byte fingerprint of a value's canonical form."""
    return hashlib.blake2b(encode(value), digest_size=16).digest()


def _refuse_sets(value: Any) -> None:
    """Before msgspec turns them into lists in whatever order they have."""
    if type(value) in _SCALARS:
        return
    if isinstance(value, Struct):
        for name in value.__struct_fields__:
            _refuse_sets(getattr(value, name))
    elif isinstance(value, dict):
        for key, item in value.items():
            _refuse_sets(key)
            _refuse_sets(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_sets(item)
    elif isinstance(value, set | frozenset):
        raise TypeError("a set has no order and so no canonical form; keep it out of protocol state")


def _in_key_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _in_key_order(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_in_key_order(item) for item in value]
    return value


def freeze(layer: Layer | Stack) -> Frozen:
    """The canonical form of a layer's whole state."""
    layers = layer.layers if isinstance(layer, Stack) else (layer,)
    return tuple(encode(each) for each in layers)


def thaw(frozen: Frozen, like: Layer | Stack) -> Layer:
    """A layer in the frozen state; `like` is any layer of the same make."""
    if isinstance(like, Stack):
        return Stack(tuple(_decoder(kind).decode(data) for data, kind in zip(frozen, like.kinds(), strict=True)))
    (data,) = frozen
    layer: Layer = _decoder(type(like)).decode(data)
    return layer


def _decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    if kind not in _decoders:
        _decoders[kind] = msgspec.msgpack.Decoder(kind)
    return _decoders[kind]
