import { Stack, Text, Title } from '@mantine/core';
import { useMemo } from 'react';
import type { Field, TaskDetail } from '@/api';
import { FormAroundProvider } from '@/fields/FormContext';
import { FieldDisplay } from '@/fields/registry';
import { Form, type Field as FormField } from '@/fields/rules';
import { currentValues, shownValue } from './values';

interface Props {
  task: TaskDetail;
  /** Answers only, without what they were asked about. */
  compact?: boolean;
}

/** The fields of every form with what they hold now. */
export function Answers({ task: t, compact }: Props) {
  const values = currentValues(t);
  const forms = t.forms.filter((f) => f.kind === 'subtask' && f.fields.length > 0);
  const whole = useWhole(t.forms);
  const shown = whole.visible(values);
  const around = useMemo(() => ({ field: (name: string) => whole.fields.find((f) => f.name === name) }), [whole]);
  return (
    <FormAroundProvider value={around}>
      <Stack gap="lg">
        {forms.map((form) => (
          <section key={form.node} aria-label={form.title || form.node}>
            <Title order={3} size="h5" mb={6}>
              {form.title || form.node}
            </Title>
            <Stack gap="sm">
              {form.fields
                .filter((f) => shown[f.name] !== false && (!compact || f.input !== 'static'))
                .map((f) => (
                  <FieldRow key={f.name} field={f} value={shownValue(f, values)} context={values} files={t.files} />
                ))}
            </Stack>
          </section>
        ))}
      </Stack>
    </FormAroundProvider>
  );
}

/** All forms of a task as one, for what fields have to do with each other. */
function useWhole(forms: TaskDetail['forms']): Form {
  // Polled answers are new objects: the definition of a task never changes.
  const key = forms.map((f) => f.node).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  return useMemo(() => new Form(forms.flatMap((f) => f.fields) as unknown as FormField[]), [key]);
}

const sources: Record<Field['input'], string> = {
  contributor: '',
  seeded: 'given',
  static: 'fixed',
  llm: 'generated',
};

/** A field's name and what it holds. */
export function FieldRow({
  field,
  value,
  context,
  files,
}: {
  field: Field;
  value: unknown;
  context: Record<string, unknown>;
  files: TaskDetail['files'];
}) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {field.title || field.name}
        {sources[field.input] && ` · ${sources[field.input]}`}
      </Text>
      <FieldDisplay field={field} value={value} context={context} files={files} />
    </div>
  );
}
