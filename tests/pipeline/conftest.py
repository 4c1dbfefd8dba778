"""One Spark session for all tests that ask for one; they run in one process (tests/conftest.py)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from ordercast.pipeline.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A small local session, two tasks at a time."""
    settings = {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"}
    with spark_session(master="local[2,4]", settings=settings) as session:
        yield session


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Starting Java takes seconds: `./dev check` does without."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
