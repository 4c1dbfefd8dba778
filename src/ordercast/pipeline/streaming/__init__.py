"""The ordered log as a table and as a stream of Spark's: source, sink, and an auditor that follows several sites."""
