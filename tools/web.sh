#!/usr/bin/env bash
# Builds and checks the web app, whose source is in web/:
#
#   web.sh build     installs its packages by npm, each checked against the hash in
#                    package-lock.json, and puts the app where Go embeds it (web/dist);
#                    does nothing when nothing changed, nor without Node
#   web.sh types     writes the client of the console API anew (web/src/api/gen)
#   web.sh check     fails when that client is not what the API's document says
#   web.sh lint      biome, tsc and the budget of what browsers load
#   web.sh test      vitest
#   web.sh fmt       biome formats
#   web.sh dev       vite's server with the API of a running `make dev` (TASKLOOM_URL)
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
project=$root/web
target=$project/dist
built=$root/.cache/web
stamp=$root/.cache/web.stamp

what=${1:?say what to do: build, types, check, lint, test, fmt or dev}

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	if [ "$what" = build ]; then
		cat >&2 <<-END
			web: there is no Node here, so this build has no web app; / says how to get one.
			  install Node 20.19 or newer with npm, and run make build again
		END
		exit 0
	fi
	echo "web: this needs Node 20.19 or newer with npm; without: make $what WEB=" >&2
	exit 1
fi
cd "$project"
PATH=$project/node_modules/.bin:$PATH

# The packages: again when the lock file is another one than they came from.
packages() {
	local wanted log
	wanted=$(cat package-lock.json package.json .npmrc | sha256sum)
	if [ -f node_modules/.taskloom-stamp ] && [ "$(cat node_modules/.taskloom-stamp)" = "$wanted" ]; then
		return
	fi
	echo "web: installing the packages of the web app (npm ci in web)"
	log=$(mktemp)
	if ! npm ci --loglevel=error </dev/null >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		rm -f "$log"
		cat >&2 <<-END
			web: npm could not install what web/package-lock.json names; the reason is above.
			  Without the web app: make build WEB=
		END
		exit 1
	fi
	rm -f "$log"
	echo "$wanted" >node_modules/.taskloom-stamp
}

# What a build follows from, tests left out.
sources() {
	{
		find src public -type f ! -name '*.test.ts' ! -name '*.test.tsx' ! -path 'src/testing/*' -print0
		printf '%s\0' index.html package-lock.json package.json .npmrc tsconfig.json vite.config.ts tools/compress.mjs "$root/tools/web.sh"
	} | LC_ALL=C sort -z | xargs -0 cat | sha256sum
}

build() {
	local wanted
	wanted=$(sources)
	if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && [ -f "$target/index.html" ]; then
		return
	fi
	echo "web: building the web app"
	rm -f "$stamp"
	mkdir -p "$built"
	vite build --outDir "$built" --emptyOutDir --logLevel warn
	node tools/compress.mjs "$built" "$target"
	echo "$wanted" >"$stamp"
}

check() {
	local fresh
	fresh=$(mktemp -d "$project/node_modules/.types-XXXXXX") # beside the packages that it imports
	trap 'rm -rf "$fresh"' RETURN
	openapi-ts --output "$fresh" --silent >/dev/null
	if ! diff -r "$fresh" src/api/gen >/dev/null; then
		diff -rq "$fresh" src/api/gen >&2 || true
		echo "web: web/src/api/gen is not what api/testdata/openapi-console.json says; run make generate" >&2
		return 1
	fi
}

packages
case $what in
build) build ;;
types) openapi-ts --silent >/dev/null ;;
check) check ;;
lint)
	failed=
	biome check --error-on-warnings . || failed=yes
	tsc --noEmit || failed=yes
	build && node tools/budget.mjs "$built" || failed=yes
	[ -z "$failed" ]
	;;
test)
	shift
	vitest run "$@"
	;;
fmt) biome format --write . >/dev/null ;;
dev)
	shift
	exec vite "$@"
	;;
*)
	echo "web: what is $what?" >&2
	exit 2
	;;
esac
