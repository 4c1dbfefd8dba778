"""Campaigns: grids of scenarios, run by Spark, with results as Parquet files."""
