"""Trace records in Parquet files. pyarrow is imported only once a file is written or read."""
