import type { ListPipelineTasksData } from '@/api';

type Query = NonNullable<ListPipelineTasksData['query']>;
/** What a list of tasks is asked for, wherever its pages begin. */
export type TaskQuery = Omit<Query, 'cursor' | 'limit'>;
export type TaskStatus = NonNullable<Query['status']>;
export type NodeStatus = NonNullable<Query['node_status']>;

/** What the list of tasks is narrowed to. It lives in the URL, so that a view can be sent to somebody else. */
export interface Filters {
  status?: TaskStatus;
  node?: string;
  node_status?: NodeStatus;
  /** Id of who holds a node. */
  person?: number;
  /** Created at most this long ago: `1h`, `24h`, `7d`, `30d`; `older7d` for what is older than seven days. */
  age?: string;
  priority?: number;
  held?: boolean;
  /** One task by its id. */
  id?: number;
}

export const taskStatuses: TaskStatus[] = [
  'pending',
  'in_progress',
  'paused',
  'escalated',
  'quarantined',
  'finished',
  'failed',
];

export const nodeStatuses: NodeStatus[] = [
  'available',
  'claimed',
  'submitted',
  'escalated',
  'quarantined',
  'deferred',
  'pending',
  'finished',
  'na',
];

/** The ages that the list offers, with what they mean in hours; older ones are marked. */
export const ages: { value: string; label: string; hours: number; older: boolean }[] = [
  { value: '1h', label: 'last hour', hours: 1, older: false },
  { value: '24h', label: 'last 24 hours', hours: 24, older: false },
  { value: '7d', label: 'last 7 days', hours: 168, older: false },
  { value: '30d', label: 'last 30 days', hours: 720, older: false },
  { value: 'older1d', label: 'older than a day', hours: 24, older: true },
  { value: 'older7d', label: 'older than 7 days', hours: 168, older: true },
  { value: 'older30d', label: 'older than 30 days', hours: 720, older: true },
];

/** Reads filters from a URL's search or a saved view; what makes no sense is dropped, never an error. */
export function parseFilters(raw: Record<string, unknown>): Filters {
  const f: Filters = {};
  f.status = taskStatuses.find((s) => s === raw.status);
  const node = word(raw.node);
  if (node) f.node = node;
  f.node_status = nodeStatuses.find((s) => s === raw.node_status);
  const person = whole(raw.person);
  if (person && person > 0) f.person = person;
  const age = word(raw.age);
  if (ages.some((a) => a.value === age)) f.age = age;
  const priority = whole(raw.priority);
  if (priority !== undefined && priority >= -100 && priority <= 100) f.priority = priority;
  if (raw.held === true || raw.held === 'true') f.held = true;
  if (raw.held === false || raw.held === 'false') f.held = false;
  const id = whole(raw.id);
  if (id && id > 0) f.id = id;
  return Object.fromEntries(Object.entries(f).filter(([, v]) => v !== undefined));
}

function word(v: unknown): string | undefined {
  return typeof v === 'string' && v !== '' ? v : undefined;
}

function whole(v: unknown): number | undefined {
  const n = typeof v === 'number' ? v : typeof v === 'string' && v.trim() !== '' ? Number(v) : Number.NaN;
  return Number.isSafeInteger(n) ? n : undefined;
}

export function hasFilters(f: Filters): boolean {
  return Object.values(f).some((v) => v !== undefined);
}

export function sameFilters(a: Filters, b: Filters): boolean {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]) as Set<keyof Filters>;
  return [...keys].every((k) => a[k] === b[k]);
}

/** The query of listPipelineTasks. `now` is in milliseconds; ages are rounded to the minute so that pages agree. */
export function toQuery(f: Filters, now: number): TaskQuery {
  const { age, ...rest } = f;
  const span = ages.find((a) => a.value === age);
  if (!span) return rest;
  const minute = 60_000;
  const edge = new Date(Math.floor(now / minute) * minute - span.hours * 60 * minute).toISOString();
  return span.older ? { ...rest, created_before: edge } : { ...rest, created_after: edge };
}

/** The filters in words: for chips and for the name of a view. */
export function filterWords(f: Filters, names: { node: (key: string) => string; person: (id: number) => string }) {
  const words: { key: keyof Filters; text: string }[] = [];
  if (f.id !== undefined) words.push({ key: 'id', text: `task ${f.id}` });
  if (f.status) words.push({ key: 'status', text: `status ${spaced(f.status)}` });
  if (f.node) words.push({ key: 'node', text: `at ${names.node(f.node)}` });
  if (f.node_status) words.push({ key: 'node_status', text: `step ${spaced(f.node_status)}` });
  if (f.person !== undefined) words.push({ key: 'person', text: `held by ${names.person(f.person)}` });
  const age = ages.find((a) => a.value === f.age);
  if (age) words.push({ key: 'age', text: `${age.older ? age.label : `created in the ${age.label}`}` });
  if (f.priority !== undefined) words.push({ key: 'priority', text: `priority ${f.priority}` });
  if (f.held !== undefined) words.push({ key: 'held', text: f.held ? 'on hold' : 'not on hold' });
  return words;
}

export function spaced(status: string): string {
  return status === 'na' ? 'not needed' : status.replaceAll('_', ' ');
}
