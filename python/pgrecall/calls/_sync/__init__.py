# Made from _async/__init__.py by `make generate`; change that file, not this.
"""Recording as the client uses it; `_sync` is generated from `_async` by `make generate`."""
