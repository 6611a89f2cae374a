#!/usr/bin/env bash
# Installs the system packages that are missing. Only the race detector needs
# one: it links against C. (Postgres is found or installed by bin/taskloom-dev,
# which runs it.)
set -euo pipefail

if [ -z "${RACE:-}" ] || command -v "${CC:-cc}" >/dev/null || command -v gcc >/dev/null; then
	exit 0
fi

packages="gcc libc6-dev"
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	cat >&2 <<-END
		The tests run under the race detector, which needs a C compiler, and there is none.
		  install one (Debian, as root: apt-get install $packages), or do without: make test RACE=
	END
	exit 1
fi

echo "system: installing a C compiler for the race detector (apt-get install $packages)"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list of words
if ! { apt-get update && apt-get install -y --no-install-recommends $packages; } </dev/null >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	echo "That did not work. Install $packages by hand, or do without: make test RACE=" >&2
	exit 1
fi
