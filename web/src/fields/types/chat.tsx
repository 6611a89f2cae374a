import { ActionIcon, Button, Group, NativeSelect, Stack, Text, Textarea } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useRef } from 'react';
import { Markdown } from '@/ui/Markdown';
import { roles } from '../engine/kinds/chat';
import { fieldLabel } from '../engine/options';
import { isObject, itemsOf, member } from '../engine/value';
import type { DisplayProps, InputProps } from '../props';
import classes from './chat.module.css';
import { Amount } from './list';
import { callsOf, nextRole, roleOf, textsOf, withText } from './messages';
import { partProblems } from './parts';

export function ChatInput(p: InputProps) {
  const box = useRef<HTMLDivElement>(null);
  const messages = itemsOf(p.value);
  const set = (next: readonly unknown[]) => p.onChange(next.length > 0 ? next : undefined);
  const put = (i: number, message: unknown) => set(messages.map((m, j) => (j === i ? message : m)));
  const add = () => {
    set([...messages, { role: nextRole(messages), content: '' }]);
    requestAnimationFrame(() => [...(box.current?.querySelectorAll('textarea') ?? [])].at(-1)?.focus());
  };
  return (
    <Stack gap="xs" ref={box}>
      {messages.map((m, i) => {
        const problems = partProblems(p.problems, i);
        const editable = typeof member(m, 'content') === 'string' || (member(m, 'content') ?? null) === null;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages have no identity but their place
          <section key={i} className={classes.message} data-role={roleOf(m)} aria-label={`Message ${i + 1}`}>
            <Group justify="space-between" mb={6} gap="xs">
              <NativeSelect
                size="xs"
                data={roles}
                value={roleOf(m)}
                onChange={(e) => put(i, { ...(isObject(m) ? m : {}), role: e.currentTarget.value })}
                disabled={p.disabled}
                aria-label={`Role of message ${i + 1}`}
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                onClick={() => set(messages.filter((_, j) => j !== i))}
                disabled={p.disabled}
                aria-label={`Remove message ${i + 1}`}
              >
                <IconX size={16} />
              </ActionIcon>
            </Group>
            {editable ? (
              <Textarea
                autosize
                minRows={2}
                maxRows={20}
                value={textsOf(member(m, 'content')).join('\n')}
                onChange={(e) => put(i, withText(m, e.currentTarget.value))}
                disabled={p.disabled}
                error={problems.length > 0}
                aria-label={`${fieldLabel(p.field)}, text of message ${i + 1}`}
              />
            ) : (
              <Parts message={m} />
            )}
            <Extras message={m} />
            {problems.map((problem) => (
              <Text key={problem.path + problem.message} size="xs" c="var(--mantine-color-error)">
                {problem.message}
              </Text>
            ))}
          </section>
        );
      })}
      <Group justify="space-between">
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<IconPlus size={14} />}
          onClick={add}
          disabled={p.disabled}
        >
          Add a message
        </Button>
        <Amount n={messages.length} field={p.field} one="message" many="messages" />
      </Group>
    </Stack>
  );
}

export function ChatDisplay({ value }: DisplayProps) {
  return (
    <Stack gap="xs">
      {itemsOf(value).map((m, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages have no identity but their place
        <div key={i} className={classes.message} data-role={roleOf(m)}>
          <Text size="xs" fw={700} mb={4}>
            {roleOf(m)}
          </Text>
          <Parts message={m} />
          <Extras message={m} />
        </div>
      ))}
    </Stack>
  );
}

function Parts({ message }: { message: unknown }) {
  return textsOf(member(message, 'content')).map((text, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity but their place
    <Markdown key={i}>{text}</Markdown>
  ));
}

/** Thinking and tool calls, each folded behind one line. */
function Extras({ message }: { message: unknown }) {
  const thinking = itemsOf(member(message, 'thinking'));
  return (
    <>
      {thinking.length > 0 && (
        <details>
          <summary>Thinking</summary>
          <pre className={classes.raw}>{thinking.map((block) => thought(block)).join('\n\n')}</pre>
        </details>
      )}
      {callsOf(message).map((call, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls have no identity but their place
        <details key={i}>
          <summary>Calls {call.name}</summary>
          <pre className={classes.raw}>{call.args || '(no arguments)'}</pre>
        </details>
      ))}
    </>
  );
}

function thought(block: unknown): string {
  const text = member(block, 'thinking') ?? member(block, 'text');
  return typeof text === 'string' ? text : JSON.stringify(block, null, 2);
}
