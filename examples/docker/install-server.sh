#!/bin/bash
# Install pgvector and pg_cron for PostgreSQL 17, as root on Debian.
set -euo pipefail
missing=()
for package in postgresql-17-pgvector postgresql-17-cron; do
    dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
done
if ((${#missing[@]})); then
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
    rm -rf /var/lib/apt/lists/*
fi
