import { storeFault } from './storable';
import type { Values } from './types';
import { empty } from './value';

/** Finds values for conditions, sources and equals_field: the first layer that has the name decides. */
export class Env {
  /** Fields that are hidden, hence empty. */
  readonly hidden = new Set<string>();
  private readonly seen = new Map<string, unknown>();

  constructor(private readonly layers: readonly Values[]) {}

  /** undefined when the field is absent, hidden, empty or cannot be stored. */
  field = (name: string): unknown => {
    if (this.hidden.has(name)) return undefined;
    if (this.seen.has(name)) return this.seen.get(name);
    const layer = this.layers.find((values) => Object.hasOwn(values, name));
    const raw = layer?.[name];
    const value = empty(raw) || storeFault(raw) ? undefined : raw;
    this.seen.set(name, value);
    return value;
  };
}
