"""One Spark session for all tests that ask for one; they run in one process (tests/conftest.py)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from ordercast.pipeline.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "1g",
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1",
}
"""Tables of tests are small, and plans run once: to plan anew after every step, and to make the best machine code of
everything, takes as long as all else together."""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A small local session, two tasks at a time."""
    with spark_session(master="local[2,4]", settings=SETTINGS) as session:
        yield session


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Starting Java takes seconds: `./dev check` does without."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
