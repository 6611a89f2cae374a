import { Badge, Box, Group, Stack, Text } from '@mantine/core';
import { IconArrowBackUp, IconMessage } from '@tabler/icons-react';
import { equal } from '@/fields/rules';
import { Note } from '@/ui/Note';
import { WordDiff } from '@/ui/WordDiff';
import type { FieldRemark } from './returned';

/** Why the task came back, above the form. */
export function ReturnedNote({ whole, fields }: { whole?: FieldRemark; fields: number }) {
  return (
    <Note color="orange" icon={<IconArrowBackUp />} title="A reviewer sent this back to you" role="note">
      <Stack gap={4}>
        {whole?.texts.map((text) => (
          <Text key={text} size="sm" style={{ whiteSpace: 'pre-wrap' }}>
            {text}
          </Text>
        ))}
        <Text size="sm">
          {fields > 0 ? `There are remarks on ${fields === 1 ? 'one field' : `${fields} fields`} below. ` : ''}
          Your earlier answers are filled in; change what needs it and submit again.
        </Text>
      </Stack>
    </Note>
  );
}

interface Props {
  remark: FieldRemark;
  /** Of the earlier attempt. */
  before: unknown;
  /** What stands there now. */
  now: unknown;
}

/** A reviewer's remark under its field, and what was changed since. */
export function RemarkNote({ remark, before, now }: Props) {
  return (
    <Box mt={8} pl={10} style={{ borderLeft: '3px solid var(--mantine-color-orange-6)' }}>
      <Group gap="xs" align="flex-start" wrap="nowrap">
        <IconMessage size={16} style={{ flex: 'none', marginTop: 3 }} aria-hidden="true" />
        <Stack gap={2}>
          {remark.verdict && (
            <Badge
              variant="light"
              color={remark.verdict === 'ok' ? 'teal' : 'orange'}
              tt="none"
              styles={{ label: { color: 'var(--mantine-color-text)' } }}
            >
              {remark.verdict === 'ok' ? 'Right' : 'To be changed'}
            </Badge>
          )}
          {remark.texts.map((text) => (
            <Text key={text} size="sm" style={{ whiteSpace: 'pre-wrap' }}>
              {text}
            </Text>
          ))}
        </Stack>
      </Group>
      {!equal(before, now) && (
        <Box mt={4}>
          <Text size="xs" c="dimmed">
            Your changes since
          </Text>
          <WordDiff before={before} after={now} label="Changes since the earlier attempt" />
        </Box>
      )}
    </Box>
  );
}
