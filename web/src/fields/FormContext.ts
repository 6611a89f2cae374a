import { createContext, useContext } from 'react';
import type { Field } from './engine/types';

/** What one field may need of the form around it: how the fields that it compares or marks are shown. */
export interface FormAround {
  field: (name: string) => Field | undefined;
  /** Tells that a field's media was played or read to its end, wherever it is shown. */
  onPlayed?: (name: string) => void;
  played?: ReadonlySet<string>;
}

const Context = createContext<FormAround>({ field: () => undefined });
export const FormAroundProvider = Context.Provider;

export function useFormAround(): FormAround {
  return useContext(Context);
}
