import type { TaskDetail } from '@/api';
import type { Names } from './journal';

/** How a task's own people and nodes are called. */
export function namesIn(t: Pick<TaskDetail, 'people' | 'forms'>): Names {
  const people = new Map(t.people.map((p) => [p.id, p.name || p.email]));
  const nodes = new Map(t.forms.map((f) => [f.node, f.title || f.node]));
  return {
    person: (id) => people.get(id) ?? `Person ${id}`,
    node: (key) => nodes.get(key) ?? key,
  };
}
