"""A site's door for participants: requests in, the events of their groups out.

```
 participant --Submit, Join, ...--> Connection --Speak, JoinGroup, ...--> the site's stack
 participant <--Done, Happened----- Port <-- Receipts, Feed, Subscription <--Delivered, Finalized, ...-- the stack
                                              ^-- catch-up: the ordered log, then `Recent`, then live
```

Everything on the way is handled by the bundle. `Pressure` decides when participants have to wait.
"""
