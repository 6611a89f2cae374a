// A first integration with Taskloom's External API: README.md beside this file.
//
//     npm ci
//     BASE_URL=http://127.0.0.1:8080/api/v1 API_KEY=pk_live_… WORKFLOW_ID=1 FILE_WORKFLOW_ID=2 npx tsx quickstart.ts

import { randomUUID } from "node:crypto";
import { openAsBlob } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const baseUrl = setting("BASE_URL").replace(/\/$/, "");
const apiKey = setting("API_KEY");
const workflow = `/workflows/${setting("WORKFLOW_ID")}`;
const fileWorkflowId = process.env.FILE_WORKFLOW_ID;
const archive = process.env.ARCHIVE ?? fileURLToPath(new URL("sample.zip", import.meta.url));

function setting(name: string): string {
  return process.env[name] ?? fail(`set ${name}`);
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

// The retry loop. A broken connection and what is worth another try are waited
// out: longer every time, at least as long as Retry-After says, and by chance up to
// half as long again, so that not all clients come back at once.
async function send(url: string, init: RequestInit, attempts = 6) {
  for (let attempt = 1, delay = 1000; ; attempt++, delay = Math.min(2 * delay, 30_000)) {
    let wait = delay;
    try {
      const answer = await fetch(url, init);
      const text = await answer.text();
      if (!again(answer) || attempt === attempts) {
        return { status: answer.status, headers: answer.headers, text };
      }
      wait = Math.max(retryAfter(answer.headers) ?? delay, delay);
    } catch (error) {
      if (attempt === attempts) throw error;
    }
    await sleep(wait * (1 + Math.random() / 2));
  }
}

// Whether an answer is worth another try: 429, an error of the service or of a proxy
// before it, and a 409 that says when, as the first call with this Idempotency-Key
// is still running then.
function again({ status, headers }: Response): boolean {
  return status === 429 || status >= 500 || (status === 409 && headers.has("Retry-After"));
}

// What Retry-After says, in milliseconds; nothing when that is no number.
function retryAfter(headers?: Headers): number | undefined {
  const seconds = headers?.get("Retry-After") ?? "";
  return /^[0-9]{1,5}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}

// Calls the API and decodes the answer; undefined for a 304. A POST gets an
// Idempotency-Key, drawn once, before the first attempt: a repeated call creates
// nothing twice.
async function call<T>(method: string, path: string, body?: unknown, more: Record<string, string> = {}) {
  const headers: Record<string, string> = { Authorization: `Bearer ${apiKey}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (method === "POST") headers["Idempotency-Key"] = randomUUID();
  const init = { method, headers: { ...headers, ...more }, body: body === undefined ? undefined : JSON.stringify(body) };
  const answer = await send(baseUrl + path, init);
  if (answer.status >= 400) {
    fail(`${method} ${path}: ${answer.status} ${said(answer.text)} (request ${answer.headers.get("X-Request-Id")})`);
  }
  return { status: answer.status, headers: answer.headers, data: (answer.text ? JSON.parse(answer.text) : undefined) as T };
}

// What an error says; all of it when it is none of ours, such as a proxy's page.
function said(text: string): string {
  try {
    const { error, message } = JSON.parse(text);
    return `${error}: ${message}`;
  } catch {
    return text;
  }
}

type Fields = Record<string, unknown>;
type Task = { id: number; status: string; node_summary: { total: number; finished: number } };
type Result = {
  success_count: number;
  error_count: number;
  errors: { index: number; field_name: string; message: string }[];
  task_ids: number[];
};

// 1. Is the service there, is the workflow ours, and which fields does it take?
async function check(): Promise<Fields> {
  const { data: health } = await call<{ status: string }>("GET", "/health"); // answers without a key, too
  console.log("health:", health.status);
  const { data: found } = await call<{ workflow_id: number; name: string; status: string }>("GET", workflow);
  console.log(`workflow ${found.workflow_id}: ${found.name}, ${found.status}`);
  const { data: schema } = await call<{ fields: { name: string; type: string; required: boolean; example: unknown }[] }>(
    "GET",
    `${workflow}/schema`,
  );
  for (const field of schema.fields) {
    console.log(`field ${field.name}: ${field.type}, ${field.required ? "required" : "optional"}`);
  }
  // A real integration puts its data here; the examples are values that are accepted.
  return Object.fromEntries(schema.fields.filter((field) => field.required).map((field) => [field.name, field.example]));
}

// 2. One task, looked at by its id.
async function createOne(fields: Fields): Promise<number> {
  const { data: result } = await call<Result>("POST", `${workflow}/tasks`, { tasks: [{ fields }] });
  const { data: task } = await call<Task>("GET", `${workflow}/tasks/${result.task_ids[0]}`);
  console.log(`task ${task.id}: ${task.status}, ${task.node_summary.finished} of ${task.node_summary.total} nodes finished`);
  return task.id;
}

// 3. Several tasks. One bad item does not spoil the others, so look at
// error_count also when the answer is 200.
async function createMany(fields: Fields): Promise<number[]> {
  const body = { tasks: [{ fields }, { fields: { ...fields, no_such_field: 1 } }, { fields }] };
  const key = { "Idempotency-Key": randomUUID() };
  const { data: result } = await call<Result>("POST", `${workflow}/tasks`, body, key);
  console.log(`created ${result.success_count} of ${body.tasks.length} tasks`);
  for (const error of result.errors) console.log(`item ${error.index}: ${error.field_name}: ${error.message}`);
  // The same call under the same key, as after a timeout: the first answer again.
  const again = await call<Result>("POST", `${workflow}/tasks`, body, key);
  const same = JSON.stringify(again.data) === JSON.stringify(result) ? "the same answer" : "ANOTHER ANSWER";
  console.log(`repeated: ${same}, Idempotent-Replayed: ${again.headers.get("Idempotent-Replayed")}`);
  return result.task_ids;
}

// 4. Polling. With the ETag of the last answer an unchanged task costs a 304
// without a body; the less happens, the longer we wait. A real integration goes
// on until the task is finished or failed.
async function pollTask(id: number, polls = 3): Promise<void> {
  let known: Record<string, string> = {};
  for (let poll = 1, delay = 1000; poll <= polls; poll++, delay = Math.min(2 * delay, 60_000)) {
    const { status, headers, data: task } = await call<Task | undefined>("GET", `${workflow}/tasks/${id}`, undefined, known);
    console.log(`poll ${poll}: ${status} ${task?.status ?? "unchanged"}`);
    if (task) [known, delay] = [{ "If-None-Match": headers.get("ETag") ?? "" }, 1000];
    if (task?.status === "finished" || task?.status === "failed" || poll === polls) return;
    await sleep(retryAfter(headers) ?? delay);
  }
}

// 5. The list, newest first, page by page until all that we know have come.
async function find(ids: number[]): Promise<void> {
  const missing = new Set(ids);
  const query = new URLSearchParams({ limit: "2" });
  let pages = 0;
  while (missing.size > 0) {
    const { data: page } = await call<{ tasks: Task[]; next_cursor: string | null; has_more: boolean }>(
      "GET",
      `${workflow}/tasks?${query}`,
    );
    pages++;
    for (const task of page.tasks) missing.delete(task.id);
    if (page.next_cursor === null) break;
    query.set("cursor", page.next_cursor);
  }
  console.log(`found ${ids.length - missing.size} of ${ids.length} tasks on ${pages} pages`);
}

// 6. Files. The workflow has file upload fields only, so `tasks` is left out and
// every file at the top of the ZIP becomes a task.
async function upload(workflow: string): Promise<void> {
  const zip = await openAsBlob(archive, { type: "application/zip" }); // read while it is sent
  type Begun = { upload_id: string; upload_url: string; expires_at: string };
  const { data: begun } = await call<Begun>("POST", `${workflow}/tasks/upload`, { file_size_bytes: zip.size });
  console.log(`upload ${begun.upload_id}: send until ${begun.expires_at}`);

  // Straight to storage, without the key.
  const put = await send(begun.upload_url, { method: "PUT", headers: { "Content-Type": "application/zip" }, body: zip });
  if (put.status >= 300) fail(`the storage answered ${put.status}: ${put.text}`);

  type State = Result & { status: string; message?: string; progress?: { rows_total: number; rows_done: number } };
  const path = `${workflow}/tasks/upload/${begun.upload_id}`;
  // 503 leaves the upload pending; the retry loop comes back.
  let { headers, data: state } = await call<State>("POST", `${path}/confirm`);
  console.log("confirmed:", state.status);

  let known: Record<string, string> = {};
  for (let delay = 1000; !["completed", "failed", "cancelled"].includes(state.status); delay = Math.min(2 * delay, 30_000)) {
    await sleep(retryAfter(headers) ?? delay);
    const polled = await call<State | undefined>("GET", path, undefined, known);
    headers = polled.headers;
    if (polled.data) {
      [state, known] = [polled.data, { "If-None-Match": headers.get("ETag") ?? "" }];
      console.log(`${state.status}: ${state.progress?.rows_done} of ${state.progress?.rows_total} rows`);
    }
  }
  if (state.status !== "completed") fail(`upload ${state.status}: ${state.message}`);
  console.log(`upload completed: ${state.success_count} tasks, ${state.error_count} errors`);
  for (const error of state.errors) console.log(`row ${error.index}: ${error.field_name}: ${error.message}`);
  console.log("task_ids:", ...state.task_ids);
}

const example = await check();
const first = await createOne(example);
const more = await createMany(example);
await pollTask(first);
await find([first, ...more]);
if (fileWorkflowId) await upload(`/workflows/${fileWorkflowId}`);
else console.log("no FILE_WORKFLOW_ID, so no upload");
