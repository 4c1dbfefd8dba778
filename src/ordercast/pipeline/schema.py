"""Spark schemas, derived from the same records as the Arrow schemas: no second list of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ordercast.core.trace import TraceRecord
from ordercast.records.schema import schema_of
from ordercast.records.segment_tables import SegmentRow

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


def trace_schema() -> StructType:
    """Of traces."""
    return spark_schema_of(TraceRecord)


def segment_schema() -> StructType:
    """Of segments of the ordered log."""
    return spark_schema_of(SegmentRow)


def spark_schema_of(record: type[Struct]) -> StructType:
    """One column for each field of a flat record."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema_of(record))
