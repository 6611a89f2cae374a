#!/usr/bin/env bash
# Installs the systems that make race lets Taskloom compete with, at their
# pinned versions, into .cache/race: install.sh RACE… (all races when none is
# named). Programs of the system that are missing are Debian's packages, where
# they may be installed; otherwise they are asked for by name. What is there already
# stays; a changed lockfile or list of requirements installs anew.
#   js/    pg-boss, graphile-worker, Restate: race/js/package-lock.json
#   venv/  Label Studio, gunicorn: race/labelstudio/requirements.txt
# River, DBOS and Temporal's SDK are Go modules of race/go.mod.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
here=$root/race
cache=${RACE_CACHE:-$root/.cache/race}
mkdir -p "$cache"

packages=()
# need PACKAGES REASON: notes what is to be installed, and says why.
need() {
	local words
	read -ra words <<<"$1"
	packages+=("${words[@]}")
	echo "race: $1 is missing: $2"
}

# An old Node.js is worse than none, for make build takes any: whether Debian's is new
# enough must be known before it is installed.
debian_has_node() {
	[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update </dev/null >/dev/null 2>&1 || return 1
	[[ $(apt-cache policy nodejs) =~ Candidate:\ ([0-9]+)\. ]] && [ "${BASH_REMATCH[1]}" -ge 20 ]
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
	[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || {
		echo "race: node is $(node --version), the queues on Node need 20 or newer" >&2
		exit 1
	}
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
	python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
		echo "race: python3 is $(python3 --version), the versions of labelstudio/requirements.txt need 3.11 or newer" >&2
		exit 1
	}
	local list=$here/labelstudio/requirements.txt
	if changed "$cache/venv.stamp" "$list" || [ ! -x "$cache/venv/bin/gunicorn" ]; then
		echo "race: installing Label Studio from PyPI (1 GB, some minutes)"
		python3 -m venv "$cache/venv"
		"$cache/venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$list"
		sha256sum <"$list" >"$cache/venv.stamp"
	fi
}

js=
for race in claims held create flow chaos; do
	if wanted "$race" "$@"; then js=yes; fi
done

if [ -n "$js" ] && { ! command -v node || ! command -v npm; } >/dev/null; then
	debian_has_node || {
		echo "race: Node.js is missing: the queues on Node need 20 or newer with npm (Debian has it since 13); install that" >&2
		exit 1
	}
	need "nodejs npm" "there are queues on Node"
fi
if wanted labelstudio "$@" && ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
	need python3-venv "Label Studio runs on Python 3.11 or newer"
fi
if wanted ingest "$@"; then
	for program in unzip rclone psql; do
		if ! command -v "$program" >/dev/null; then
			need "${program/psql/postgresql-client}" "the script of ingest runs $program"
		fi
	done
fi
if [ ${#packages[@]} != 0 ]; then "$root/tools/packages.sh" "These races" "${packages[@]}"; fi

if [ -n "$js" ]; then install_js; fi
if wanted labelstudio "$@"; then install_venv; fi
