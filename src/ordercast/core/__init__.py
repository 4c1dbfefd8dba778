"""What every room shares: ids, messages, views, events, effects, the layer, the stack and the trace record.

Depends on the standard library and msgspec only.
"""
