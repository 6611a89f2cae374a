#!/usr/bin/env bash
# Builds the pages that describe the External API, as far as others wrote them:
# installs Swagger UI and Redoc by npm, each package checked against the hash in
# package-lock.json, and puts them where Go embeds them. Does nothing when
# nothing changed. apidocs.sh --omit=dev leaves out what only tests and lint
# need.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
project=$root/tools/apidocs
target=$root/api/edge/apidocs/dist
stamp=$root/.cache/apidocs.stamp

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	cat >&2 <<-END
		apidocs: there is no Node here, so /api/v1/docs stays the page without scripts and /api/v1/redoc is missing.
		  install Node 20.19 or newer with npm, and run make build again
	END
	exit 0
fi

# What is built follows from these alone.
wanted="$* $(cat "$project"/{package-lock.json,package.json,.npmrc,build.mjs} "$0" | sha256sum)"
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && [ -f "$target/NOTICE.txt" ] && [ -d "$project/node_modules" ]; then
	exit 0
fi

echo "apidocs: installing Swagger UI and Redoc (npm ci in tools/apidocs)"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! npm ci --prefix "$project" --loglevel=error "$@" </dev/null >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	cat >&2 <<-END
		apidocs: npm could not install what tools/apidocs/package-lock.json names; the reason is above.
		  Without it: make build APIDOCS= (/api/v1/docs is then the page without scripts, and its tests fail)
	END
	exit 1
fi
node "$project/build.mjs" "$target"
mkdir -p "$(dirname "$stamp")"
echo "$wanted" >"$stamp"
