#!/usr/bin/env bash
# Installs the system packages that are missing: what the tests need beside Go.
# (Postgres is found or installed by bin/taskloom-dev, which runs it.)
set -euo pipefail

packages=()
# need PACKAGES REASON: notes what is to be installed, and says why.
need() {
	local words
	read -ra words <<<"$1"
	packages+=("${words[@]}")
	echo "system: $1 is missing: $2"
}

if [ -n "${RACE:-}" ] && ! command -v "${CC:-cc}" >/dev/null && ! command -v gcc >/dev/null; then
	need "gcc libc6-dev" "the race detector links against C (make test RACE= does without)"
fi
if ! command -v redis-server >/dev/null; then
	need redis-server "rate limits are tested against a real Redis"
fi
if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null; then
	need chromium "the pages of the API's documentation are tested in a browser"
fi
if ! command -v curl >/dev/null; then
	need curl "the shell examples of the documentation are run"
fi
# Debian has the module venv without what makes it work: pip's wheel.
if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
	need python3-venv "the Python examples of the documentation are run"
fi
# CHAOS=yes adds what single rows of the fault matrix need (docs/chaos.md).
if [ -n "${CHAOS:-}" ]; then
	if ! command -v ip >/dev/null; then
		need iproute2 "partitions are made with network namespaces"
	fi
	if ! command -v nft >/dev/null; then
		need nftables "partitions drop packets in one direction"
	fi
	if ! compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1' >/dev/null; then
		need faketime "the clock of Postgres is moved"
	fi
fi
[ ${#packages[@]} != 0 ] || exit 0

exec "$(dirname "$0")/packages.sh" "The tests" "${packages[@]}"
