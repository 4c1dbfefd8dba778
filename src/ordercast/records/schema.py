"""Arrow schemas, derived from the annotations of a record such as `core.trace.TraceRecord`: no second list.

An `int` or a `float` is 64 bits wide, a text or an enumeration a string, bytes are binary, a tuple is a list; `X |
None` may be null, all else may not.
"""

from __future__ import annotations

import enum
import types
import typing
from functools import cache
from typing import Any

from msgspec import Struct

from ordercast.core.trace import TraceRecord


@cache
def trace_schema() -> Any:
    """The `pyarrow.Schema` of a trace file."""
    return schema_of(TraceRecord)


def schema_of(record: type[Struct]) -> Any:
    """The `pyarrow.Schema` with one column for each field of a flat record."""
    import pyarrow as pa

    return pa.schema([_field(name, annotation) for name, annotation in typing.get_type_hints(record).items()])


def mismatch(found: Any, expected: Any, what: str) -> str | None:
    """In words, the first column in which a table is not what it should be; None if it is `what`."""
    for field in expected:
        if field.name not in found.names:
            return f"is no {what}: it has no column {field.name!r}"
        if not found.field(field.name).equals(field):
            return f"column {field.name!r} is {found.field(field.name)}, expected {field}"
    foreign = next((name for name in found.names if name not in expected.names), None)
    return None if foreign is None else f"has a column {foreign!r} that no {what} has"


def _field(name: str, annotation: Any) -> Any:
    import pyarrow as pa

    nullable = False
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        (annotation,) = (part for part in typing.get_args(annotation) if part is not types.NoneType)
        nullable = True
    return pa.field(name, _type(annotation), nullable)


def _type(annotation: Any) -> Any:
    import pyarrow as pa

    if typing.get_origin(annotation) is tuple:
        return pa.list_(_field("element", typing.get_args(annotation)[0]))
    if issubclass(annotation, enum.StrEnum):
        return pa.string()
    return {bool: pa.bool_(), bytes: pa.binary(), float: pa.float64(), int: pa.int64(), str: pa.string()}[annotation]
