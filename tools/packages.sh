#!/usr/bin/env bash
# Installs Debian packages, or says that somebody must: packages.sh WHO PACKAGE…,
# where WHO is what needs them ("The tests"). What they are for has been said before.
set -euo pipefail

who=$1
shift

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	cat >&2 <<-END
		$who need $*.
		  install that (Debian, as root: apt-get install $*)
	END
	exit 1
fi

echo "system: installing $* (apt-get install)"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update && apt-get install -y --no-install-recommends "$@"; } </dev/null >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	echo "That did not work. Install $* by hand." >&2
	exit 1
fi
