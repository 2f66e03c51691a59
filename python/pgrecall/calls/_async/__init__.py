"""Recording as the client uses it; `_sync` is generated from `_async` by `make generate`."""
