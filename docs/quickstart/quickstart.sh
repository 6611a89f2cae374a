#!/usr/bin/env bash
# A first integration with Taskloom's External API: README.md beside this file.
# It needs bash and curl. JSON is read with sed, as far as this walk needs it;
# in scripts of your own, jq does it better.
#
#   BASE_URL=http://127.0.0.1:8080/api/v1 API_KEY=pk_live_… WORKFLOW_ID=1 FILE_WORKFLOW_ID=2 ./quickstart.sh
set -euo pipefail

WORKFLOW=/workflows/$WORKFLOW_ID
ARCHIVE=${ARCHIVE:-$(dirname "$0")/sample.zip}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# The retry loop: send CURL-ARGUMENT… leaves the answer in $status, $body and
# $tmp/headers. A broken connection (000) and what is worth another try are waited
# out: longer every time, at least as long as Retry-After says, and by chance up to
# half as long again, so that not all clients come back at once. (`curl --retry 5
# --retry-all-errors` does much the same, but without the chance, and forgets the
# answers in between.)
send() {
	local attempt delay=1
	for attempt in 1 2 3 4 5 6; do
		: >"$tmp/headers"
		: >"$tmp/body"
		status=$(curl -sS --max-time "${MAX_TIME:-60}" -o "$tmp/body" -D "$tmp/headers" -w '%{http_code}' "$@") || status=000
		body=$(cat "$tmp/body")
		again || return 0
		[ "$attempt" = 6 ] || sleep "$(by_chance "$(retry_after "$delay")" "$delay")"
		delay=$((delay * 2))
	done
}

# Whether $status is worth another try: 429, an error of the service or of a proxy
# before it, and a 409 that says when, as the first call with this Idempotency-Key
# is still running then.
again() { case $status in 000 | 429 | 5??) ;; 409) [ -n "$(header Retry-After)" ] ;; *) false ;; esac; }

header() { tr -d '\r' <"$tmp/headers" | awk -v name="$1:" 'tolower($1) == tolower(name) { $1 = ""; v = substr($0, 2) } END { print v }'; }

# What Retry-After says, else the default. It comes from elsewhere: digits are taken,
# and nothing else.
retry_after() {
	local seconds
	seconds=$(header Retry-After)
	case $seconds in '' | *[!0-9]* | ??????*) seconds=$1 ;; esac
	echo "$seconds"
}

# by_chance SECONDS LEAST: so many seconds, at least that many, and up to half as long again.
by_chance() {
	local ms=$((10#$1))
	ms=$(((ms > $2 ? ms : $2) * (1000 + RANDOM % 501)))
	printf '%d.%03d' $((ms / 1000)) $((ms % 1000))
}

# call METHOD PATH [CURL-ARGUMENT…] calls the API.
call() {
	local method=$1 path=$2
	shift 2
	send -X "$method" "$BASE_URL$path" -H "Authorization: Bearer $API_KEY" "$@"
	if [ "$status" = 000 ] || [ "$status" -ge 400 ]; then
		echo "$method $path: $status $(text error): $(text message) (request $(header X-Request-Id))" >&2
		exit 1
	fi
}

# create BODY KEY creates tasks. The key is drawn once for a body, so that a
# repeated call creates nothing twice.
create() { call POST "$WORKFLOW/tasks" -H 'Content-Type: application/json' -H "Idempotency-Key: $2" -d "$1"; }

new_key() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

# What is under a name in $body: text NAME, number NAME, numbers NAME.
text() { printf '%s' "$body" | sed -nE 's/.*"'"$1"'":"(([^"\\]|\\.)*)".*/\1/p' | sed 's/\\"/"/g; s/\\u0026/\&/g'; }
number() { printf '%s' "$body" | sed -nE 's/.*"'"$1"'":([0-9]+).*/\1/p'; }
numbers() { printf '%s' "$body" | sed -nE 's/.*"'"$1"'":\[([0-9,]*)\].*/\1/p' | tr ',' ' '; }

# The errors of $body, one a line.
errors() {
	printf '%s' "$body" | grep -oE '\{"index":[0-9]+,"field_name":"[^"]*","message":"([^"\\]|\\.)*"\}' |
		sed -E 's/\{"index":([0-9]+),"field_name":"([^"]*)","message":"(.*)"\}/'"$1"' \1: \2: \3/; s/\\"/"/g' || true
}

# 1. Is the service there, is the workflow ours, and which fields does it take?
call GET /health # answers without a key, too
echo "health: $(text status)"
call GET "$WORKFLOW"
echo "workflow $(number workflow_id): $(text name), $(text status)"
call GET "$WORKFLOW/schema"
entries=$(printf '%s' "$body" | awk '{ gsub(/\{"name":/, "\n&"); print }' | grep '^{"name":')
printf '%s\n' "$entries" | sed -E 's/^\{"name":"([^"]*)".*"type":"([^"]*)","required":(true|false).*/field \1: \2, \3/; s/true$/required/; s/false$/optional/'
# A real integration puts its data here; the examples are values that are accepted.
fields=$(printf '%s\n' "$entries" | sed -nE 's/^\{"name":("[^"]*"),.*"required":true,.*,"example":(.*)\}(,|\].*)$/\1:\2/p' | paste -sd , -)

# 2. One task, looked at by its id.
create "{\"tasks\":[{\"fields\":{$fields}}]}" "$(new_key)"
first=$(numbers task_ids)
call GET "$WORKFLOW/tasks/$first"
echo "task $(number id): $(text status), $(number finished) of $(number total) nodes finished"

# 3. Several tasks. One bad item does not spoil the others, so look at
# error_count also when the answer is 200.
several="{\"tasks\":[{\"fields\":{$fields}},{\"fields\":{$fields,\"no_such_field\":1}},{\"fields\":{$fields}}]}"
key=$(new_key)
create "$several" "$key"
echo "created $(number success_count) of 3 tasks"
errors item
more=$(numbers task_ids) answer=$body
# The same call under the same key, as after a timeout: the first answer again.
create "$several" "$key"
[ "$body" = "$answer" ] && same='the same answer' || same='ANOTHER ANSWER'
echo "repeated: $same, Idempotent-Replayed: $(header Idempotent-Replayed)"

# 4. Polling. With the ETag of the last answer an unchanged task costs a 304
# without a body; the less happens, the longer we wait. A real integration goes
# on until the task is finished or failed.
etag='' delay=1
for poll in 1 2 3; do
	call GET "$WORKFLOW/tasks/$first" -H "If-None-Match: $etag"
	if [ "$status" = 304 ]; then
		echo "poll $poll: 304 unchanged"
	else
		echo "poll $poll: $status $(text status)"
		etag=$(header ETag) delay=1
		case $(text status) in finished | failed) break ;; esac
	fi
	[ "$poll" = 3 ] || sleep "$(retry_after "$delay")"
	delay=$((delay * 2))
done

# 5. The list, newest first, page by page until all that we know have come.
missing=" $first $more " cursor='' pages=0 all=0 found=0
for _ in $missing; do all=$((all + 1)); done
while [ "$found" -lt "$all" ]; do
	call GET "$WORKFLOW/tasks?limit=2${cursor:+&cursor=$cursor}"
	pages=$((pages + 1))
	for id in $(printf '%s' "$body" | grep -oE '"id":[0-9]+' | cut -d : -f 2); do
		case $missing in *" $id "*) found=$((found + 1)) ;; esac
	done
	cursor=$(text next_cursor)
	[ -n "$cursor" ] || break # null: this was the last page
done
echo "found $found of $all tasks on $pages pages"

# 6. Files. The workflow has file upload fields only, so `tasks` is left out and
# every file at the top of the ZIP becomes a task.
if [ -z "${FILE_WORKFLOW_ID:-}" ]; then
	echo "no FILE_WORKFLOW_ID, so no upload"
	exit
fi
size=$(($(wc -c <"$ARCHIVE")))
call POST "/workflows/$FILE_WORKFLOW_ID/tasks/upload" -H 'Content-Type: application/json' -H "Idempotency-Key: $(new_key)" \
	-d "{\"file_size_bytes\":$size}"
upload=$(text upload_id) url=$(text upload_url)
echo "upload $upload: send until $(text expires_at)"
# Straight to storage, without the key.
MAX_TIME=0 send -T "$ARCHIVE" -H 'Content-Type: application/zip' "$url"
[ "$status" = 200 ] || { echo "the storage answered $status: $body" >&2; exit 1; }
path=/workflows/$FILE_WORKFLOW_ID/tasks/upload/$upload
call POST "$path/confirm" -H "Idempotency-Key: $(new_key)" # 503 leaves it pending; the retry loop comes back
echo "confirmed: $(text status)"
etag='' delay=1 state=$(text status)
while [ "$state" = pending ] || [ "$state" = processing ]; do
	sleep "$(retry_after "$delay")"
	delay=$((delay < 16 ? delay * 2 : 30))
	call GET "$path" -H "If-None-Match: $etag"
	[ "$status" != 304 ] || continue
	state=$(text status) etag=$(header ETag)
	echo "$state: $(number rows_done) of $(number rows_total) rows"
done
[ "$state" = completed ] || { echo "upload $state: $(text message)" >&2; exit 1; }
echo "upload completed: $(number success_count) tasks, $(number error_count) errors"
errors row
echo "task_ids: $(numbers task_ids)"
