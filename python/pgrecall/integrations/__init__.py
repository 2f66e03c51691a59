"""Adapters for frameworks; each module needs the extra of its name, such as `pgrecall[mcp]`."""
