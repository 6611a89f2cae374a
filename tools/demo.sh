#!/usr/bin/env bash
# Runs `taskloom demo` on the stack of DEV_DIR; if none is running there, on one
# that lives as long as the demo.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=${DEV_DIR:-.dev}

# ready succeeds when the product answers at the address in the stack's env file.
ready() {
	[ -f "$dir/env" ] || return 1
	local address status
	# shellcheck source=/dev/null
	address=$(set -a && . "$dir/env" && echo "$ADDR")
	{
		exec 3<>"/dev/tcp/${address%:*}/${address##*:}" || return 1
		printf 'GET /readyz HTTP/1.0\r\nHost: %s\r\n\r\n' "$address" >&3
		read -r _ status _ <&3
		exec 3>&-
	} 2>/dev/null
	[ "$status" = 200 ]
}

demo() (
	set -a
	# shellcheck source=/dev/null
	. "$dir/env"
	set +a
	bin/taskloom demo "$@"
)

if ready; then
	demo "$@"
	exit
fi

echo "demo: no stack is running in $dir, so one is started for the demo (make dev keeps one)"
# Nobody else uses that stack, and the demo polls faster than strangers may.
RATE_LIMIT_KEY=${RATE_LIMIT_KEY:-off} bin/taskloom-dev up &
stack=$!
trap 'kill -TERM "$stack" 2>/dev/null || true; wait "$stack" || true' EXIT
until ready; do
	kill -0 "$stack" 2>/dev/null || exit 1 # it said why
	sleep 0.5
done
demo "$@"
