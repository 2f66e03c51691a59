#!/bin/bash
# Install the driver and the command pgrecall from the sources.
set -euo pipefail
"${PIP:-pip}" install --no-cache-dir "${PGRECALL_SOURCES:-/usr/local/src/pgrecall}"
