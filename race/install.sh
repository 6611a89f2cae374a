#!/usr/bin/env bash
# Installs the systems that make race lets Taskloom compete with, at their
# pinned versions, into .cache/race: install.sh RACE… (all races when none is
# named). Nothing is installed outside that directory: programs of the system that
# a race needs are asked for by name. What is there already stays; a changed
# lockfile or list of requirements installs anew.
#   js/    pg-boss, graphile-worker, Restate: race/js/package-lock.json
#   venv/  Label Studio, gunicorn: race/labelstudio/requirements.txt
# River, DBOS and Temporal's SDK are Go modules of race/go.mod.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
here=$root/race
cache=${RACE_CACHE:-$root/.cache/race}
mkdir -p "$cache"

need() {
	command -v "$1" >/dev/null || { echo "race: $1 is not installed: $2" >&2; exit 1; }
}

# changed STAMP FILE…: whether the files differ from those of the last time.
changed() {
	local stamp=$1
	shift
	[ ! -e "$stamp" ] || [ "$(cat "$@" | sha256sum)" != "$(cat "$stamp")" ]
}

wanted() {
	local race=$1
	shift
	[ $# -eq 0 ] && return 0
	for r in "$@"; do [ "$r" = "$race" ] && return 0; done
	return 1
}

install_js() {
	need node "the queues on Node need Node.js 20 or newer"
	need npm "it comes with Node.js"
	mkdir -p "$cache/js"
	if changed "$cache/js.stamp" "$here/js/package-lock.json" || [ ! -d "$cache/js/node_modules" ]; then
		echo "race: installing pg-boss, graphile-worker and Restate (npm ci)"
		cp "$here/js/package.json" "$here/js/package-lock.json" "$cache/js/"
		# Scripts of packages are never run: Restate's server is a package with a binary in it.
		(cd "$cache/js" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
		sha256sum <"$here/js/package-lock.json" >"$cache/js.stamp"
	fi
	# The drivers run beside the packages that they import.
	cp "$here"/js/*.mjs "$cache/js/"
}

install_venv() {
	need python3 "Label Studio needs Python 3.11 or newer with venv"
	python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
		echo "race: python3 is $(python3 --version), the versions of labelstudio/requirements.txt need 3.11 or newer" >&2
		exit 1
	}
	local list=$here/labelstudio/requirements.txt
	if changed "$cache/venv.stamp" "$list" || [ ! -x "$cache/venv/bin/gunicorn" ]; then
		echo "race: installing Label Studio from PyPI (1 GB, some minutes)"
		python3 -m venv "$cache/venv" || { echo "race: python3 has no venv: apt-get install python3-venv" >&2; exit 1; }
		"$cache/venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$list"
		sha256sum <"$list" >"$cache/venv.stamp"
	fi
}

js=
for race in claims held create flow chaos; do
	if wanted "$race" "$@"; then js=yes; fi
done
if [ -n "$js" ]; then install_js; fi
if wanted labelstudio "$@"; then install_venv; fi
if wanted ingest "$@"; then
	need unzip "the script of ingest needs it: apt-get install unzip"
	need rclone "the script of ingest needs it: apt-get install rclone"
	need psql "the script of ingest needs it: apt-get install postgresql-client"
fi
