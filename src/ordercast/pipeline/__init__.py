"""The data pipeline on Spark: campaigns, audit, telemetry, streaming. pyspark is imported only once a job runs."""
