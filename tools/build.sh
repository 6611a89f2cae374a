#!/usr/bin/env bash
# Builds bin/NAME: build.sh NAME DIRECTORY GO-BUILD-ARGUMENT...
# Says what takes so long when there is no binary yet: in that case the
# dependencies are often not compiled yet either.
set -euo pipefail

name=$1 directory=$2
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
target=$root/bin/$name

first=
if [ ! -x "$target" ]; then
	first=yes
	case $name in
	taskloom-dev) echo "build: bin/$name (Temporal, its Web UI and an S3 gateway are linked in: 4 to 6 minutes on two cores the first time)" ;;
	*) echo "build: bin/$name (a minute or two the first time)" ;;
	esac
fi

# With -v, go names each package that it compiles; they are counted, everything
# else it says is passed on.
cd "$root/$directory"
go build -v -o "$target" "$@" 2>&1 | awk -v first="$first" '
	/^go: downloading / { if (!downloads++) print "  downloading modules"; next }
	/^[a-z0-9][^ :]*$/ { if (first && ++compiled % 200 == 0) print "  " compiled " packages compiled"; next }
	{ print > "/dev/stderr" }
	{ fflush() }'
