"""From nested tables to typed ones: a key or a type that does not fit becomes a `Mistake` that people understand.

The decoder names the place and, in its own words, the kind of misfit; what the user wrote there and what the type
allows is looked up here.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from ordercast.core.mistakes import Mistake, join, listed, nearest, shown

Typed = TypeVar("Typed")

_PLACE = re.compile(r"(?P<misfit>.*?)(?: - at `\$\.?(?P<place>.*)`)?", re.DOTALL)
_NAMED_FIELD = re.compile(r"Object (?P<what>contains unknown|missing required) field `(?P<name>.*)`", re.DOTALL)
_STEP = re.compile(r"(\w+)|\[(\d+)\]")


def shape(table: Any, kind: type[Typed]) -> Typed:
    """The table as a value of this type."""
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise _explained(str(error), table, kind) from error


def _explained(message: str, table: Any, kind: type) -> Mistake:
    place = _PLACE.fullmatch(message)
    assert place is not None, "the pattern matches any text"
    key = place["place"] or ""
    value, expected = _look_up(key, table, inspect.type_info(kind))
    field = _NAMED_FIELD.fullmatch(place["misfit"])
    if field is not None and isinstance(expected, inspect.StructType):
        return _wrong_key(join(key, field["name"]), field["name"], expected, missing=field["what"].startswith("miss"))
    if isinstance(expected, inspect.LiteralType) and isinstance(value, str):
        return Mistake(key, f"expected {_one_of(expected)}, not {shown(value)}{_meant(value, expected.values)}")
    if place["misfit"] == "Number out of range":
        return Mistake(key, "expected a smaller number")
    words = in_words(expected, key)
    return Mistake(key, f"expected {words}, not {_found(value, expected)}")


def _wrong_key(key: str, name: str, table: inspect.StructType, *, missing: bool) -> Mistake:
    kinds = {field.name: field.type for field in table.fields}
    if missing:
        return Mistake(key, f"missing, expected {in_words(kinds[name], key)}")
    meant = nearest(name, kinds)
    hint = f"did you mean {meant}?" if meant else f"expected one of {listed(list(kinds))}"
    return Mistake(key, f"unknown key, {hint}")


def _look_up(place: str, value: Any, kind: inspect.Type) -> tuple[Any, inspect.Type]:
    """What stands at this place, and the type that belongs there."""
    for name, index in _STEP.findall(place):
        kind = _allowed(kind, value)
        if isinstance(kind, inspect.StructType):
            value = value[name]
            kind = next(field.type for field in kind.fields if field.name == name)
        elif isinstance(kind, inspect.ListType):
            value, kind = value[int(index)], kind.item_type
        elif isinstance(kind, inspect.TupleType):
            value, kind = value[int(index)], kind.item_types[int(index)]
    return value, _allowed(kind, value)


def _allowed(kind: inspect.Type, value: Any) -> inspect.Type:
    """Of several types the one that the value comes nearest to; None, which TOML cannot say, is left out."""
    if not isinstance(kind, inspect.UnionType):
        return kind
    types = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
    lists = [each for each in types if isinstance(each, inspect.ListType)]
    if lists and isinstance(value, list):
        return lists[0]
    return types[0] if len(types) == 1 else inspect.UnionType(tuple(types))


def in_words(kind: inspect.Type, key: str) -> str:
    """What a value of this type looks like in a scenario file."""
    name = key.rsplit(".")[-1]
    match kind:
        case inspect.FloatType():
            return "a number"
        case inspect.IntType():
            return "a whole number"
        case inspect.StrType():
            return "a string"
        case inspect.BoolType():
            return "true or false"
        case inspect.LiteralType():
            return _one_of(kind)
        case inspect.TupleType():
            return "a list of two names"
        case inspect.ListType(item_type=inspect.StructType()):
            return f"[[{name}]] tables"
        case inspect.ListType(item_type=inspect.StrType()):
            return "a list of names"
        case inspect.ListType(item_type=inspect.ListType()):
            return "a list of rows of numbers"
        case inspect.ListType():
            return "a list of numbers"
        case inspect.UnionType(types=types):
            return " or ".join(sorted(in_words(each, key) for each in types))
        case _:
            return f"one [{key}] table" if key else "tables and keys"


def _one_of(kind: inspect.LiteralType) -> str:
    values = [str(value) for value in kind.values]
    return values[0] if len(values) == 1 else f"one of {listed(values)}"


def _meant(value: str, values: Any) -> str:
    meant = nearest(value, values)
    return f"; did you mean {meant}?" if meant else ""


def _found(value: Any, expected: inspect.Type) -> str:
    """What stands there instead."""
    if isinstance(expected, inspect.TupleType) and isinstance(value, list):
        return f"{len(value)} of them"
    if isinstance(value, dict) and isinstance(expected, inspect.ListType):
        return "one table"
    return f"the string {shown(value)}" if isinstance(value, str) else shown(value)
