#!/usr/bin/env bash
# Compares the External API's document with that of the last release and fails
# when it breaks a client of that release: compatibility.sh OASDIFF [DOCUMENT].
# Additions pass. `make release-document`, at a release, makes the document that
# is compared with; tools/oasdiff-levels.txt makes errors of what oasdiff by
# itself only mentions.
set -euo pipefail

oasdiff=$1
root=$(cd "$(dirname "$0")/.." && pwd)
released=$root/api/testdata/released/openapi-v1.json
document=${2:-$root/api/testdata/openapi-v1.json}

breaks() {
	! "$oasdiff" breaking --fail-on WARN --color never --severity-levels "$root/tools/oasdiff-levels.txt" "$released" "$1" 2>&1
}

if out=$(breaks "$document"); then
	printf '%s\n' "$out" >&2
	cat >&2 <<-END

		The External API v1 would break clients of the last release (api/testdata/released/openapi-v1.json).
		  Within v1 properties, values of parameters and operations are added only; what has to go is marked
		  deprecated and stays.
	END
	exit 1
fi

# A gate that lets everything through looks the same as one that has nothing to
# say: it must see that operations, a parameter and a property have new names.
worse=$(mktemp --suffix .json)
trap 'rm -f "$worse"' EXIT
for change in 's/"operationId": "/&x/' 's/"name": "limit"/"name": "most"/' 's/"created_at": {/"made_at": {/'; do
	sed "$change" "$released" >"$worse"
	if ! breaks "$worse" >/dev/null; then
		echo "The gate for breaking changes lets one pass ($change): look at what $oasdiff says." >&2
		exit 1
	fi
done
