"""What all the jobs' functions need of a trace record, as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.core.ids import INCARNATION_BITS, SEQ_BITS
from ordercast.core.trace import Kind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SUSPECT = ("run", "block", "message")
"""The columns of suspects: a block of positions, or a message without one."""

ORDERED_LEVELS = ("agreed", "safe")


def prepared(records: DataFrame, bits: int) -> DataFrame:
    """Trace records with the columns that the functions of the audit use; blocks have 2 ** bits positions.

    - `life`: site and incarnation, packed; `sender`: the life in which the message was multicast.
    - `place`: where something comes up in the order, else null; without positions, its number.
    - `code`: what comes up there (`verify.audit.life.code_of`).
    - `block`: of its place; for other records that have one, of their position.
    """
    from pyspark.sql import functions as f

    placed = f.col("delivery_index").isNotNull()
    place = f.when(placed, f.coalesce("position", "delivery_index"))
    return records.select(
        "*",
        (f.shiftleft("site", INCARNATION_BITS) + f.col("incarnation")).alias("life"),
        f.shiftright("message", SEQ_BITS).alias("sender"),
        place.alias("place"),
        f.when(placed, code()).alias("code"),
        f.shiftright(f.coalesce(place, "position"), bits).alias("block"),
    )


def code() -> Column:
    """What a record puts at its position: a message's id; for control entries a negative number."""
    from pyspark.sql import functions as f

    role = -1 - 4 * f.coalesce("origin", f.lit(0)) - f.when(f.col("detail") == "active", 2).otherwise(0)
    view = -2 - 2 * f.coalesce("view", f.lit(0))
    return (
        f.when(is_kind(Kind.VIEW), view)
        .when(is_kind(Kind.ROLE), role)
        .otherwise(f.coalesce("message", f.lit(-1)))
        .cast("bigint")
    )


def is_kind(*kinds: Kind) -> Column:
    """Whether a record is of one of these kinds."""
    from pyspark.sql import functions as f

    return f.col("kind").isin(*map(str, kinds))


def is_placed() -> Column:
    """Whether something comes up in the order."""
    from pyspark.sql import functions as f

    return f.col("delivery_index").isNotNull()


def is_unordered() -> Column:
    """Whether a fifo or causal message is delivered."""
    from pyspark.sql import functions as f

    return is_kind(Kind.DELIVER) & f.col("delivery_index").isNull() & f.col("message").isNotNull()


def suspect_blocks(found: DataFrame) -> DataFrame:
    """Rows with `run` and `block`, as suspects."""
    from pyspark.sql import functions as f

    return found.select("run", "block", f.lit(None).cast("bigint").alias("message"))


def suspect_messages(found: DataFrame, column: str = "message") -> DataFrame:
    """Rows with `run` and a message, as suspects."""
    from pyspark.sql import functions as f

    return found.select("run", f.lit(None).cast("bigint").alias("block"), f.col(column).alias("message"))
