"""A web application that shows what an agent remembers and why; `pgrecall inspect` runs it.

It needs the extra `web`. All data come from the public functions of the schema, with the rights of
the DSN's role.
"""

from pgrecall.inspector._app import inspector_app
from pgrecall.inspector._source import Source

__all__ = ["Source", "inspector_app"]
