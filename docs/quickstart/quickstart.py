"""A first integration with Taskloom's External API: README.md beside this file.

Python 3.9 or newer, nothing to install:
    BASE_URL=http://127.0.0.1:8080/api/v1 API_KEY=pk_live_… WORKFLOW_ID=1 FILE_WORKFLOW_ID=2 python3 quickstart.py
"""

import http.client
import json
import os
import random
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

BASE_URL = os.environ["BASE_URL"].rstrip("/")
API_KEY = os.environ["API_KEY"]
WORKFLOW = "/workflows/" + os.environ["WORKFLOW_ID"]
FILE_WORKFLOW_ID = os.environ.get("FILE_WORKFLOW_ID", "")
ARCHIVE = os.environ.get("ARCHIVE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "sample.zip")


# The retry loop. make() builds the request anew for every attempt. A broken
# connection and what is worth another try are waited out: longer every time, at
# least as long as Retry-After says, and by chance up to half as long again, so that
# not all clients come back at once.
def send(make, attempts=6):
    delay = 1.0
    for attempt in range(1, attempts + 1):
        wait = delay
        try:
            try:
                answer = urllib.request.urlopen(make(), timeout=60)
            except urllib.error.HTTPError as e:
                answer = e  # an answer like any other
            with answer:
                status, headers, body = answer.status, answer.headers, answer.read()
            if not again(status, headers) or attempt == attempts:
                return status, headers, body
            wait = max(retry_after(headers, delay), delay)
        except (OSError, http.client.HTTPException):
            if attempt == attempts:
                raise
        time.sleep(wait * random.uniform(1, 1.5))
        delay = min(2 * delay, 30)


def again(status, headers):
    """Whether an answer is worth another try: 429, an error of the service or of a
    proxy before it, and a 409 that says when, as the first call with this
    Idempotency-Key is still running then."""
    return status == 429 or status >= 500 or status == 409 and "Retry-After" in headers


def retry_after(headers, default):
    """What Retry-After says, in seconds; the default when that is no number."""
    says = headers.get("Retry-After", "")
    return float(says) if re.fullmatch("[0-9]{1,5}", says) else default


def call(method, path, body=None, **headers):
    """Calls the API and returns status, headers and the decoded answer."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    headers["Authorization"] = "Bearer " + API_KEY
    if method == "POST":
        # Drawn once, before the first attempt: a repeated call creates nothing twice.
        headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
    data = None
    if body is not None:
        data = json.dumps(body).encode()
        headers["Content-Type"] = "application/json"
    status, answered, raw = send(lambda: urllib.request.Request(BASE_URL + path, data, headers, method=method))
    if status >= 400:
        sys.exit(f"{method} {path}: {status} {said(raw)} (request {answered.get('X-Request-Id')})")
    return status, answered, json.loads(raw) if raw else None


def said(raw):
    """What an error says; all of it when it is none of ours, such as a proxy's page."""
    try:
        error = json.loads(raw)
        return f"{error['error']}: {error['message']}"
    except (ValueError, LookupError, TypeError):
        return raw.decode(errors="replace")


# 1. Is the service there, is the workflow ours, and which fields does it take?
def check():
    _, _, health = call("GET", "/health")  # answers without a key, too
    print("health:", health["status"])
    _, _, workflow = call("GET", WORKFLOW)
    print(f"workflow {workflow['workflow_id']}: {workflow['name']}, {workflow['status']}")
    _, _, schema = call("GET", WORKFLOW + "/schema")
    for field in schema["fields"]:
        print(f"field {field['name']}: {field['type']}, {'required' if field['required'] else 'optional'}")
    # A real integration puts its data here; the examples are values that are accepted.
    return {field["name"]: field["example"] for field in schema["fields"] if field["required"]}


# 2. One task, looked at by its id.
def create_one(fields):
    _, _, result = call("POST", WORKFLOW + "/tasks", {"tasks": [{"fields": fields}]})
    task_id = result["task_ids"][0]
    _, _, task = call("GET", f"{WORKFLOW}/tasks/{task_id}")
    nodes = task["node_summary"]
    print(f"task {task['id']}: {task['status']}, {nodes['finished']} of {nodes['total']} nodes finished")
    return task_id


# 3. Several tasks. One bad item does not spoil the others, so look at
# error_count also when the answer is 200.
def create_many(fields):
    body = {"tasks": [{"fields": fields}, {"fields": {**fields, "no_such_field": 1}}, {"fields": fields}]}
    key = str(uuid.uuid4())
    _, _, result = call("POST", WORKFLOW + "/tasks", body, Idempotency_Key=key)
    print(f"created {result['success_count']} of {len(body['tasks'])} tasks")
    for error in result["errors"]:
        print(f"item {error['index']}: {error['field_name']}: {error['message']}")
    # The same call under the same key, as after a timeout: the first answer again.
    _, headers, again = call("POST", WORKFLOW + "/tasks", body, Idempotency_Key=key)
    print(f"repeated: {'the same answer' if again == result else 'ANOTHER ANSWER'},",
          f"Idempotent-Replayed: {headers['Idempotent-Replayed']}")
    return result["task_ids"]


# 4. Polling. With the ETag of the last answer an unchanged task costs a 304
# without a body; the less happens, the longer we wait. A real integration goes
# on until the task is finished or failed.
def poll_task(task_id, polls=3):
    etag, delay = None, 1
    for poll in range(1, polls + 1):
        status, headers, task = call("GET", f"{WORKFLOW}/tasks/{task_id}", **({"If_None_Match": etag} if etag else {}))
        print(f"poll {poll}: {status}", task["status"] if task else "unchanged")
        if task:
            etag, delay = headers["ETag"], 1
            if task["status"] in ("finished", "failed"):
                return
        if poll < polls:
            time.sleep(retry_after(headers, delay))
            delay = min(2 * delay, 60)


# 5. The list, newest first, page by page until all that we know have come.
def find(task_ids):
    missing, cursor, pages = set(task_ids), None, 0
    while missing:
        query = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        _, _, page = call("GET", f"{WORKFLOW}/tasks?{urllib.parse.urlencode(query)}")
        pages += 1
        missing -= {task["id"] for task in page["tasks"]}
        cursor = page["next_cursor"]
        if not page["has_more"]:
            break
    print(f"found {len(task_ids) - len(missing)} of {len(task_ids)} tasks on {pages} pages")


# 6. Files. The workflow has file upload fields only, so `tasks` is left out and
# every file at the top of the ZIP becomes a task.
def upload(workflow):
    size = os.path.getsize(ARCHIVE)
    _, _, begun = call("POST", workflow + "/tasks/upload", {"file_size_bytes": size})
    print(f"upload {begun['upload_id']}: send until {begun['expires_at']}")

    def put():  # straight to storage, without the key
        headers = {"Content-Type": "application/zip", "Content-Length": str(size)}
        return urllib.request.Request(begun["upload_url"], open(ARCHIVE, "rb"), headers, method="PUT")

    status, _, body = send(put)
    if status >= 300:
        sys.exit(f"the storage answered {status}: {body.decode(errors='replace')}")
    path = f"{workflow}/tasks/upload/{begun['upload_id']}"
    _, _, confirmed = call("POST", path + "/confirm")  # 503 leaves it pending; the retry loop comes back
    print("confirmed:", confirmed["status"])

    delay, headers, state, etag = 1, {}, confirmed, None
    while state["status"] not in ("completed", "failed", "cancelled"):
        time.sleep(retry_after(headers, delay))
        delay = min(2 * delay, 30)
        _, headers, new = call("GET", path, **({"If_None_Match": etag} if etag else {}))
        if new:
            state, etag = new, headers["ETag"]
            print(f"{state['status']}: {state['progress']['rows_done']} of {state['progress']['rows_total']} rows")
    if state["status"] != "completed":
        sys.exit(f"upload {state['status']}: {state.get('message', '')}")
    print(f"upload completed: {state['success_count']} tasks, {state['error_count']} errors")
    for error in state["errors"]:
        print(f"row {error['index']}: {error['field_name']}: {error['message']}")
    print("task_ids:", *state["task_ids"])


example = check()
first = create_one(example)
more = create_many(example)
poll_task(first)
find([first, *more])
if FILE_WORKFLOW_ID:
    upload("/workflows/" + FILE_WORKFLOW_ID)
else:
    print("no FILE_WORKFLOW_ID, so no upload")
