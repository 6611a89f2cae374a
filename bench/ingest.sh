#!/bin/sh
# What people write who have no product for it: unpack, copy, load the rows.
# Usage: ingest.sh ARCHIVE RCLONE-TARGET TABLE (with DATABASE_URL, and what
# rclone needs, in the environment)
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

unzip -q "$1" -d "$work/files"
rclone copy --transfers 16 --checkers 16 "$work/files" "$2"
(cd "$work/files" && find . -type f -printf '%P\t%s\n') >"$work/rows.tsv"
psql -q -v ON_ERROR_STOP=1 "$DATABASE_URL" -c "\\copy $3 (name, size) FROM '$work/rows.tsv'"
