import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react';
import { Markdown } from '@/ui/Markdown';
import { Note } from '@/ui/Note';
import type { DisplayProps } from '../props';
import { asText } from './text';

/** Markdown of the definition: plain, or set off as information or a warning. */
export function StaticContent({ field, value }: DisplayProps) {
  const text = <Markdown>{asText(value)}</Markdown>;
  if (field.style !== 'info' && field.style !== 'warning') return text;
  const warning = field.style === 'warning';
  return (
    <Note
      color={warning ? 'yellow' : 'blue'}
      icon={warning ? <IconAlertTriangle /> : <IconInfoCircle />}
      title={field.title}
      role="note"
    >
      {text}
    </Note>
  );
}
