"""Hypothesis strategies for whatever msgspec can encode, derived from the types themselves."""

from __future__ import annotations

import typing
from typing import Any

import msgspec.inspect as inspect
from hypothesis import strategies as st

INT64 = st.integers(-(1 << 63), (1 << 63) - 1)


def values_of(annotation: Any) -> st.SearchStrategy[Any]:
    """Any value of a type, a generic one with its parameters filled in included."""
    return _values(inspect.type_info(annotation))


def _values(info: inspect.Type) -> st.SearchStrategy[Any]:
    match info:
        case inspect.StructType():
            return st.fixed_dictionaries({field.name: _values(field.type) for field in info.fields}).map(
                lambda fields: info.cls(**fields)
            )
        case inspect.UnionType():
            return st.one_of([_values(each) for each in info.types])
        case inspect.VarTupleType():
            return st.lists(_values(info.item_type), max_size=4).map(tuple)
        case inspect.TupleType():
            return st.tuples(*(_values(each) for each in info.item_types))
        case inspect.ListType():
            return st.lists(_values(info.item_type), max_size=4)
        case inspect.DictType():
            return st.dictionaries(_values(info.key_type), _values(info.value_type), max_size=4)
        case inspect.EnumType():
            return st.sampled_from(info.cls)
        case inspect.LiteralType():
            return st.sampled_from(info.values)
        case _:
            return _SCALARS[type(info)]


_SCALARS: dict[type[inspect.Type], st.SearchStrategy[Any]] = {
    inspect.IntType: INT64,
    inspect.FloatType: st.floats(allow_nan=False),
    inspect.BoolType: st.booleans(),
    inspect.BytesType: st.binary(max_size=40),
    inspect.StrType: st.text(max_size=20),
    inspect.NoneType: st.none(),
    inspect.AnyType: INT64 | st.binary(max_size=40),
}


def struct_types_in(annotation: Any) -> tuple[type, ...]:
    """The message types that a `WIRE` names."""
    info = inspect.type_info(annotation)
    parts = info.types if isinstance(info, inspect.UnionType) else (info,)
    return tuple(typing.get_origin(part.cls) or part.cls for part in parts if isinstance(part, inspect.StructType))
