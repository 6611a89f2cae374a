import type { Lookup, Place } from '../place';

/** The rules of one field type, compiled from one definition. */
export interface Kind {
  /** Reports what is wrong with a value that is not empty. */
  check(v: unknown, at: Place): void;
  /** The field cannot be answered, since its source is empty. */
  pointless?(find: Lookup): boolean;
}
