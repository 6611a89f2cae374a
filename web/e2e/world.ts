/** What e2e_test.go made, and what a journey may do to it from outside. */

interface Org {
  id: number;
  projects: Record<string, number>;
  pipelines: Record<string, number>;
  key: string;
}

export const world = JSON.parse(process.env.E2E_WORLD ?? '{}') as { orgs: Record<string, Org>; storage: string };
export const password = 'correct-horse-7';

export function org(slug: string): Org {
  const found = world.orgs[slug];
  if (!found) throw new Error(`the world has no organization ${slug}`);
  return found;
}

/** The id of a pipeline of acme. */
export function pipeline(name: string): number {
  const id = org('acme').pipelines[name];
  if (!id) throw new Error(`the world has no pipeline ${name}`);
  return id;
}

/** Makes the product's processes and clocks misbehave. */
export async function control(path: string): Promise<void> {
  const answer = await fetch(`${process.env.CONTROL_URL}${path}`, { method: 'POST' });
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
}

/** Calls the External API as an integrator does. */
export async function v1<T>(method: string, path: string, body?: unknown, key = org('acme').key): Promise<T> {
  const answer = await fetch(`${process.env.BASE_URL}/api/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text) as T;
}

/** Creates tasks with these values and returns their ids. */
export async function createTasks(pipelineId: number, rows: Record<string, unknown>[]): Promise<number[]> {
  const made = await v1<{ task_ids: number[] }>('POST', `/workflows/${pipelineId}/tasks`, {
    tasks: rows.map((fields) => ({ fields })),
  });
  return made.task_ids;
}

export function taskStatus(pipelineId: number, taskId: number): Promise<{ status: string }> {
  return v1('GET', `/workflows/${pipelineId}/tasks/${taskId}`);
}
