import { ActionIcon, Badge, Group, Paper, Text } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { Markdown } from '@/ui/Markdown';

interface Props {
  text: string;
  changed: boolean;
  onClose: () => void;
}

/** What to do, as the pipeline's author wrote it. */
export function Instructions({ text, changed, onClose }: Props) {
  return (
    <Paper withBorder p="md" component="section" aria-label="Instructions" id="instructions">
      <Group justify="space-between" mb="xs" wrap="nowrap">
        <Group gap="xs">
          <Text fw={600}>Instructions</Text>
          {changed && <Badge variant="light">changed since you last worked here</Badge>}
        </Group>
        <ActionIcon variant="subtle" color="gray" onClick={onClose} aria-label="Close the instructions">
          <IconX size={16} />
        </ActionIcon>
      </Group>
      <Markdown>{text}</Markdown>
    </Paper>
  );
}
