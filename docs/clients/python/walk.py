"""The walk of the quickstart with a generated client: ../../clients.md."""

import os
import random
import re
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import httpx

from taskloom_client import AuthenticatedClient
from taskloom_client.api.tasks import create_tasks, get_task, list_tasks
from taskloom_client.api.uploads import confirm_upload, get_upload, init_upload
from taskloom_client.api.workflows import get_workflow, get_workflow_schema
from taskloom_client.models import (
    CreateItem,
    CreateItemFields,
    CreateRequest,
    ItemError,
    Result,
    Schema,
    Task,
    TaskPage,
    Upload,
    UploadConfirmed,
    UploadRequest,
    UploadStarted,
    Workflow,
)
from taskloom_client.types import UNSET, Response

T = TypeVar("T")


class Retrying(httpx.BaseTransport):
    """The retry loop, below the client: a broken connection and what is worth another try are waited out."""

    def __init__(self) -> None:
        self.inner = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        delay, attempts = 1.0, 6
        for attempt in range(1, attempts + 1):
            wait = delay
            try:
                response = self.inner.handle_request(request)
                response.read()
                if not again(response) or attempt == attempts:
                    return response
                wait = max(retry_after(response.headers, delay), delay)
            except httpx.TransportError:
                if attempt == attempts:
                    raise
            time.sleep(wait * random.uniform(1, 1.5))
            delay = min(2 * delay, 30)
        raise AssertionError("unreachable")


def again(response: httpx.Response) -> bool:
    """Whether an answer is worth another try: 429, an error of the service or of a
    proxy before it, and a 409 that says when, as the first call with this
    Idempotency-Key is still running then."""
    status = response.status_code
    return status == 429 or status >= 500 or status == 409 and "Retry-After" in response.headers


def retry_after(headers: Mapping[str, str], default: float) -> float:
    """What Retry-After says, in seconds; the default when that is no number."""
    says = headers.get("Retry-After", "")
    return float(says) if re.fullmatch("[0-9]{1,5}", says) else default


def ok(kind: type[T], answer: Response[Any]) -> T:
    """Every answer of an operation has a type of its own; this one is wanted."""
    if not isinstance(answer.parsed, kind):
        sys.exit(f"{answer.status_code}: {answer.content.decode(errors='replace')} (request {answer.headers.get('X-Request-Id')})")
    return answer.parsed


def create(fields: Iterable[dict[str, object]]) -> Result:
    body = CreateRequest([CreateItem(CreateItemFields.from_dict(f)) for f in fields])
    # The key is drawn once for a call; below it, the retry loop may send it often.
    return ok(Result, create_tasks.sync_detailed(WORKFLOW, client=client, body=body, idempotency_key=str(uuid4())))


def find(task_ids: list[int]) -> None:
    missing, cursor, pages = set(task_ids), None, 0
    while missing:
        page = ok(TaskPage, list_tasks.sync_detailed(WORKFLOW, client=client, limit=2, cursor=cursor or UNSET))
        pages += 1
        missing -= {task.id for task in page.tasks}
        cursor = page.next_cursor
        if not page.has_more:
            break
    print(f"found {len(task_ids) - len(missing)} of {len(task_ids)} tasks on {pages} pages")


def upload(workflow: int, archive: bytes) -> None:
    asked = UploadRequest(file_size_bytes=len(archive))
    begun = ok(UploadStarted, init_upload.sync_detailed(workflow, client=client, body=asked, idempotency_key=str(uuid4())))
    with httpx.Client(transport=Retrying(), timeout=None) as storage:  # straight to storage, without the key
        storage.put(begun.upload_url, content=archive, headers={"Content-Type": "application/zip"}).raise_for_status()
    confirmed = ok(
        UploadConfirmed,
        confirm_upload.sync_detailed(workflow, begun.upload_id, client=client, idempotency_key=str(uuid4())),
    )
    print("confirmed:", confirmed.status.value)
    delay = 1.0
    while True:
        answer = get_upload.sync_detailed(workflow, begun.upload_id, client=client)
        state = ok(Upload, answer)
        if state.status.value not in ("pending", "processing"):
            break
        time.sleep(retry_after(answer.headers, delay))
        delay = min(2 * delay, 30)
    if state.status.value != "completed":
        sys.exit(f"upload {state.status.value}: {state.message}")
    print(f"upload completed: {state.success_count} tasks, {state.error_count} errors")
    show("row", state.errors or [])
    print("task_ids:", *(state.task_ids or []))


def show(what: str, errors: Iterable[ItemError]) -> None:
    for error in errors:
        print(f"{what} {error.index}: {error.field_name}: {error.message}")


WORKFLOW = int(os.environ["WORKFLOW_ID"])
client = AuthenticatedClient(
    os.environ["BASE_URL"],
    os.environ["API_KEY"],
    timeout=httpx.Timeout(60),
    httpx_args={"transport": Retrying()},
)

workflow = ok(Workflow, get_workflow.sync_detailed(WORKFLOW, client=client))
print(f"workflow {workflow.workflow_id}: {workflow.name}, {workflow.status.value}")
schema = ok(Schema, get_workflow_schema.sync_detailed(WORKFLOW, client=client))
example = {field.name: field.example for field in schema.fields if field.required}

first = create([example]).task_ids[0]
task = ok(Task, get_task.sync_detailed(WORKFLOW, first, client=client))
print(f"task {task.id}: {task.status.value}, {task.node_summary.finished} of {task.node_summary.total} nodes finished")

several = [example, {**example, "no_such_field": 1}, example]
result = create(several)
print(f"created {result.success_count} of {len(several)} tasks")
show("item", result.errors)
find([first, *result.task_ids])
if os.environ.get("FILE_WORKFLOW_ID"):
    archive = Path(os.environ.get("ARCHIVE") or "../../quickstart/sample.zip")
    upload(int(os.environ["FILE_WORKFLOW_ID"]), archive.read_bytes())
