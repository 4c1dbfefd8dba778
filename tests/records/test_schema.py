"""The Arrow schema follows from the record's own annotations."""

from __future__ import annotations

import enum
from typing import Optional, get_type_hints

import pyarrow as pa
import pytest
from msgspec import Struct

from ordercast.core.trace import TraceRecord
from ordercast.records.schema import schema_of, trace_schema


class Colour(enum.StrEnum):
    RED = "red"


class Sample(Struct):
    number: int
    text: str
    colour: Colour
    flag: bool | None
    many: tuple[int, ...] | None
    names: tuple[str, ...]
    other: Optional[int] = None  # noqa: UP045


def test_types_follow_from_annotations() -> None:
    def list_of(kind: pa.DataType) -> pa.DataType:
        return pa.list_(pa.field("element", kind, nullable=False))

    expected = [
        pa.field("number", pa.int64(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("colour", pa.string(), nullable=False),
        pa.field("flag", pa.bool_()),
        pa.field("many", list_of(pa.int64())),
        pa.field("names", list_of(pa.string()), nullable=False),
        pa.field("other", pa.int64()),
    ]
    assert schema_of(Sample).equals(pa.schema(expected))


def test_a_type_without_a_column_type_is_a_bug_and_says_so() -> None:
    class Odd(Struct):
        when: complex

    with pytest.raises(KeyError):
        schema_of(Odd)


def test_the_trace_has_every_field_in_its_place() -> None:
    assert trace_schema().names == list(get_type_hints(TraceRecord))
    assert ", ".join(trace_schema().names) == (
        "run, site, incarnation, index, at_us, kind, group, view, members, message, origin, origin_incarnation, seq, "
        "level, position, delivery_index, final, depends, size, digest, detail"
    )


def test_what_every_record_has_cannot_be_null() -> None:
    required = ["run", "site", "incarnation", "index", "at_us", "kind"]
    assert [field.name for field in trace_schema() if not field.nullable] == required
