"""The client library: what an application sees of its site (docs/client.md).

```
 application   group.multicast(b"...")            async for event in group
 Outbox        one Submit for all of one turn     Group: queue, explodes a Batch into its Deliveries
 Line          the site's Unix socket, or the site itself in the same process
```
"""
