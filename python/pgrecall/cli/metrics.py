"""`pgrecall metrics`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

import click

from pgrecall._plain import escaped
from pgrecall.cli._output import print_rows, say
from pgrecall.cli._target import json_option, opened, target_option
from pgrecall.rows import Metric

__all__ = ["metrics_command", "prometheus_text"]


@click.command("metrics")
@target_option
@json_option
def metrics_command(dsn: str | None, as_json: bool) -> None:
    """Print the gauges of recall.metrics() in Prometheus' text format.

    For a file that node_exporter or another collector reads.
    """
    with opened(dsn, no_embedding=True) as memory:
        metrics = memory.admin.metrics()
    if as_json:
        print_rows(metrics)
    else:
        for line in "".join(prometheus_text(metrics)).splitlines():
            say(line)


def prometheus_text(metrics: Iterable[Metric]) -> Iterator[str]:
    """Yield the lines of the text format; those of a name stand together, as it demands."""
    for name, found in groupby(sorted(metrics, key=lambda m: m.name), key=lambda m: m.name):
        yield f"# TYPE {name} gauge\n"
        for metric in found:
            pairs = ",".join(
                f'{label}="{_escaped(value)}"' for label, value in sorted(metric.labels.items())
            )
            yield f"{name}{{{pairs}}} {metric.value!r}\n" if pairs else f"{name} {metric.value!r}\n"


def _escaped(value: str) -> str:
    return escaped(value).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
