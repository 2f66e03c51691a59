"""The client. `_async` is how it is written, `_sync` is made from it by `make generate`."""
