#!/usr/bin/env bash
# Lints the External API's documents, as the golden files have them, by the
# rules of tools/apidocs/redocly.yaml. `make build` installs what this needs.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
redocly=$root/tools/apidocs/node_modules/.bin/redocly
least=20.19.0

if ! command -v node >/dev/null; then
	echo "lint: the OpenAPI documents are linted by a Node program, and there is no Node; install $least or newer" >&2
	exit 1
fi
version=$(node --version)
if [ "$(printf '%s\n' "$least" "${version#v}" | sort -V | head -n 1)" != "$least" ]; then
	echo "lint: Node $version is too old to lint the OpenAPI documents; it takes $least or newer" >&2
	exit 1
fi
if [ ! -x "$redocly" ]; then
	echo "lint: tools/apidocs has no node_modules; make build installs them" >&2
	exit 1
fi

# It reports use to its makers unless told not to, and says that Node 20 is old.
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
cd "$root"
if ! out=$("$redocly" lint --config tools/apidocs/redocly.yaml --max-problems 1000 \
	api/testdata/openapi-v1.json api/testdata/openapi-v1-3.0.json 2>&1) || grep -q 'Warning was generated' <<<"$out"; then
	printf '%s\n' "$out" >&2
	exit 1
fi
