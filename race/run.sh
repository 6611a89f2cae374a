#!/usr/bin/env bash
# Installs what the races need and runs them on a Postgres, Temporal and S3 of
# their own: run.sh RACES FLAG…, where RACES is a list with commas, or empty for
# all. `make race` calls it.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
races=${1:-}
shift || true
IFS=, read -r -a names <<<"$races"
"$here/install.sh" ${names[@]+"${names[@]}"}
mkdir -p "$root/.cache/race"
cd "$here"
echo "race: building (River, DBOS and Temporal's SDK: some minutes the first time)"
CGO_ENABLED=0 go build -o "$root/.cache/race/race" .
# The race of polls has its floor server and its loops from there.
(cd "$root" && CGO_ENABLED=0 go build -o "$root/.cache/race/bench" ./bench)
# Parts that are killed on purpose come back: --restart. Idle connections of the
# chaos race need room: --connections.
exec "$root/bin/taskloom-dev" exec --restart --connections 400 -- "$root/.cache/race/race" ${races:+-only "$races"} "$@"
