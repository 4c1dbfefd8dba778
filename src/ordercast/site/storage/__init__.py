"""The ordered log on disk: a tail in SQLite, and sealed segments in Parquet.

```
 caller  --append, truncate, finalize, save, restart_at-->  queue --> writer thread --> log.sqlite (WAL)
                                                                          ^  |
                                                   sealed, dropped        |  +--> on_durable, on_state
                                                                       keeper thread --> segments/*.parquet
 readers --read(start, stop)--> tail, or the segment that holds the position
```

What a caller asks for is performed in order, many requests in one transaction. So what is on disk after any crash is
what was asked for up to some point, and `durable` is never beyond that point (`options.Fsync` says what it takes).
"""
