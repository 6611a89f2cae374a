// The walk of the quickstart with a generated client: ../../clients.md.

import { randomUUID } from "node:crypto";
import { openAsBlob } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import {
  confirmUpload,
  createTasks,
  getTask,
  getUpload,
  getWorkflow,
  getWorkflowSchema,
  initUpload,
  type ItemError,
  listTasks,
} from "./taskloom";
import { client } from "./taskloom/client.gen";

// The retry loop, below the client: a broken connection and what is worth another
// try are waited out. A request can be sent once, so every attempt sends a copy.
const retrying: typeof fetch = async (input, init) => {
  const attempts = 6;
  for (let attempt = 1, delay = 1000; ; attempt++, delay = Math.min(2 * delay, 30_000)) {
    let wait = delay;
    try {
      const answer = await fetch(input instanceof Request ? input.clone() : input, init);
      if (!again(answer) || attempt === attempts) return answer;
      wait = Math.max(retryAfter(answer.headers) ?? delay, delay);
      await answer.body?.cancel();
    } catch (error) {
      if (attempt === attempts) throw error;
    }
    await sleep(wait * (1 + Math.random() / 2));
  }
};

// Whether an answer is worth another try: 429, an error of the service or of a proxy
// before it, and a 409 that says when, as the first call with this Idempotency-Key
// is still running then.
function again({ status, headers }: Response): boolean {
  return status === 429 || status >= 500 || (status === 409 && headers.has("Retry-After"));
}

function retryAfter(headers: Headers): number | undefined {
  const seconds = headers.get("Retry-After") ?? "";
  return /^[0-9]{1,5}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`set ${name}`);
  return value;
}

client.setConfig({
  baseUrl: setting("BASE_URL"),
  // Asked for each way to send the key; one is enough.
  auth: (way) => (way.scheme === "bearer" ? setting("API_KEY") : undefined),
  fetch: retrying,
});
const throwOnError = true; // what is no success is thrown: { error, message }
const path = { workflow_id: Number(setting("WORKFLOW_ID")) };

// A key is drawn once for a call; below it, the retry loop may send it often.
const once = () => ({ "Idempotency-Key": randomUUID() });

function show(what: string, errors: ItemError[]): void {
  for (const error of errors) console.log(`${what} ${error.index}: ${error.field_name}: ${error.message}`);
}

async function find(ids: number[]): Promise<void> {
  const missing = new Set(ids);
  let pages = 0;
  for (let cursor: string | null | undefined; missing.size > 0 && cursor !== null; pages++) {
    const { data: page } = await listTasks({ path, query: { limit: 2, cursor }, throwOnError });
    for (const task of page.tasks) missing.delete(task.id);
    cursor = page.next_cursor;
  }
  console.log(`found ${ids.length - missing.size} of ${ids.length} tasks on ${pages} pages`);
}

async function upload(workflow_id: number, archive: string): Promise<void> {
  const zip = await openAsBlob(archive, { type: "application/zip" });
  const { data: begun } = await initUpload({
    path: { workflow_id },
    headers: once(),
    body: { file_size_bytes: zip.size },
    throwOnError,
  });
  // Straight to storage, without the key.
  const put = await retrying(begun.upload_url, {
    method: "PUT",
    headers: { "Content-Type": "application/zip" },
    body: zip,
  });
  if (!put.ok) throw new Error(`the storage answered ${put.status}: ${await put.text()}`);
  const there = { workflow_id, upload_id: begun.upload_id };
  const { data: confirmed } = await confirmUpload({ path: there, headers: once(), throwOnError });
  console.log("confirmed:", confirmed.status);

  for (let delay = 1000; ; delay = Math.min(2 * delay, 30_000)) {
    const { data: state, response } = await getUpload({ path: there, throwOnError });
    if (state.status === "pending" || state.status === "processing") {
      await sleep(retryAfter(response.headers) ?? delay);
      continue;
    }
    if (state.status !== "completed") throw new Error(`upload ${state.status}: ${state.message}`);
    console.log(`upload completed: ${state.success_count} tasks, ${state.error_count} errors`);
    show("row", state.errors ?? []);
    console.log("task_ids:", ...(state.task_ids ?? []));
    return;
  }
}

const { data: workflow } = await getWorkflow({ path, throwOnError });
console.log(`workflow ${workflow.workflow_id}: ${workflow.name}, ${workflow.status}`);
const { data: schema } = await getWorkflowSchema({ path, throwOnError });
const fields = Object.fromEntries(schema.fields.filter((field) => field.required).map((field) => [field.name, field.example]));

const { data: one } = await createTasks({ path, headers: once(), body: { tasks: [{ fields }] }, throwOnError });
const { data: task } = await getTask({ path: { ...path, task_id: one.task_ids[0] }, throwOnError });
const nodes = task.node_summary;
console.log(`task ${task.id}: ${task.status}, ${nodes.finished} of ${nodes.total} nodes finished`);

const tasks = [{ fields }, { fields: { ...fields, no_such_field: 1 } }, { fields }];
const { data: many } = await createTasks({ path, headers: once(), body: { tasks }, throwOnError });
console.log(`created ${many.success_count} of ${tasks.length} tasks`);
show("item", many.errors);
await find([task.id, ...many.task_ids]);
if (process.env.FILE_WORKFLOW_ID) {
  await upload(Number(process.env.FILE_WORKFLOW_ID), process.env.ARCHIVE ?? "../../quickstart/sample.zip");
}
