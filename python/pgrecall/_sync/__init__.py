# Made from _async/__init__.py by `make generate`; change that file, not this.
"""The client. `_async` is how it is written, `_sync` is made from it by `make generate`."""
