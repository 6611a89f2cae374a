#!/usr/bin/env bash
# Runs `taskloom conformance` with the arguments. Without --url or --target it is
# given a stack that lives as long as the run, with everything that the checks
# need, so that none is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

own_stack() {
	local dir
	dir=$(mktemp -d)
	# More attempts than the checks before the last ones need; the last ones
	# look for the limit.
	export RATE_LIMIT_FAILED_AUTH=${RATE_LIMIT_FAILED_AUTH:-120-M}
	bin/taskloom migrate >"$dir/migrate.log" 2>&1 || { cat "$dir/migrate.log" >&2; return 1; }
	bin/taskloom serve >"$dir/serve.log" 2>&1 &
	local serve=$!
	METRICS_ADDR=$WORKER_METRICS_ADDR bin/taskloom worker >"$dir/worker.log" 2>&1 &
	local worker=$!
	# shellcheck disable=SC2064 # these processes, now
	trap "kill $serve $worker 2>/dev/null || true; wait $serve $worker || true; rm -rf '$dir'" EXIT
	for ((tries = 0; ; tries++)); do
		bin/taskloom healthcheck 2>/dev/null && break
		if ! kill -0 "$serve" "$worker" 2>/dev/null || [ "$tries" -ge 120 ]; then
			echo "conformance: the stack did not become ready" >&2
			tail -n 20 "$dir/serve.log" "$dir/worker.log" >&2
			return 1
		fi
		sleep 0.5
	done
	bin/taskloom conformance prepare >"$dir/target.json"
	bin/taskloom conformance --target "$dir/target.json" --no-skips "$@"
}

case " $* " in
*" --inside "*) own_stack "${@:2}" ;;
*" --url"* | *" --target"*) exec bin/taskloom conformance "$@" ;;
*)
	echo "conformance: on a Postgres, Temporal and S3 of its own" >&2
	exec bin/taskloom-dev exec -- tools/conformance.sh --inside "$@"
	;;
esac
