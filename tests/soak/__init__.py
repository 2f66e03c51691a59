"""A long mixed load with kills, failovers and upgrades, and a check of what was acknowledged.

`make soak` runs it; `python -m soak --help` has the options. See tests/soak/README.md.
"""
