#!/usr/bin/env bash
# Runs every fuzz target of both modules for a while, one after the other:
# fuzz.sh DURATION. What go finds it keeps under testdata/fuzz: commit that, it
# then is a test.
set -euo pipefail

duration=${1:-10s}
root=$(cd "$(dirname "$0")/.." && pwd)

found=0
for module in . dev; do
	cd "$root/$module"
	while IFS=: read -r file _ line; do
		target=$(sed -E 's/^func (Fuzz[A-Za-z0-9_]+).*/\1/' <<<"$line")
		found=$((found + 1))
		echo "fuzz: $target in $(dirname "$file") for $duration"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$duration" "./$(dirname "$file")" </dev/null
	done < <(git ls-files --cached --others --exclude-standard -- '*_test.go' ':(exclude)dev/' |
		xargs -r grep -nE '^func Fuzz[A-Za-z0-9_]+\(' /dev/null)
done
echo "fuzz: $found targets, nothing found"
