import type { File } from '@/api';
import type { Field, Problem, Values } from './engine/types';

/** What every type's Input gets. It shows no label and no error of the whole: FormView's frame does. */
export interface InputProps<T = unknown> {
  field: Field;
  /** undefined or null: not answered. Of another shape than the type's when a draft or a model left it so. */
  value: T | undefined | null;
  onChange: (value: T | undefined) => void;
  /** All known values: seeded, static, earlier and current answers. */
  context: Values;
  files?: readonly File[];
  disabled?: boolean;
  /** What is wrong with the value or parts of it. */
  problems?: readonly Problem[];
  /** Id for the control, to which the label belongs, and of the texts that describe it. */
  id: string;
  describedBy?: string;
  /** Names the control where no visible label does. */
  label?: string;
  /** Digits and option keys work on this field now, so it prints them. */
  keys?: boolean;
}

/** What every type's Display gets. */
export interface DisplayProps<T = unknown> {
  field: Field;
  value: T | undefined | null;
  context: Values;
  files?: readonly File[];
  /** The reviewer is asked to look at this one. */
  highlight?: boolean;
  /** Tells that a media was played or read to its end. */
  onPlayed?: () => void;
  /** It was, already. */
  played?: boolean;
}
