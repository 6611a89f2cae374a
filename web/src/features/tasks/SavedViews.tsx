import { Button, Group, Menu, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconBookmark, IconChevronDown, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { ErrorNote } from '@/ui/ErrorNote';
import { type Filters, hasFilters, sameFilters } from './filters';
import { useViews } from './views';

interface Props {
  pipelineId: number;
  filters: Filters;
  onChoose: (filters: Filters) => void;
}

/** Filters under names of one's own. */
export function SavedViews({ pipelineId, filters, onChoose }: Props) {
  const { views, add, remove, error, busy } = useViews(pipelineId);
  const [naming, dialog] = useDisclosure(false);
  const [name, setName] = useState('');
  const current = views.find((v) => sameFilters(v.filters, filters));
  const save = async () => {
    try {
      await add({ name: name.trim(), filters });
      setName('');
      dialog.close();
    } catch {
      // The dialog shows it.
    }
  };
  return (
    <>
      <Modal opened={naming} onClose={dialog.close} title="Save these filters as a view">
        <form
          onSubmit={(e) => {
            e.preventDefault();
            if (name.trim()) void save();
          }}
        >
          <Stack>
            <TextInput
              label="Name"
              description="A view of the same name is replaced. Only you see your views."
              value={name}
              maxLength={60}
              onChange={(e) => setName(e.currentTarget.value)}
              data-autofocus
            />
            {error && <ErrorNote error={error} doing="save the view" />}
            <Group justify="flex-end">
              <Button variant="default" onClick={dialog.close}>
                Cancel
              </Button>
              <Button type="submit" loading={busy} disabled={!name.trim()}>
                Save view
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
      <Menu position="bottom-end" width={260}>
        <Menu.Target>
          <Button
            variant="default"
            leftSection={<IconBookmark size={16} />}
            rightSection={<IconChevronDown size={14} />}
            maw={240}
          >
            {current?.name ?? 'Views'}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {views.length === 0 && <Menu.Label>No saved views yet</Menu.Label>}
          {views.map((v) => (
            <Menu.Item key={v.name} onClick={() => onChoose(v.filters)} fw={v === current ? 600 : undefined}>
              <Text size="sm" truncate>
                {v.name}
              </Text>
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item disabled={!hasFilters(filters)} onClick={dialog.open}>
            Save these filters…
          </Menu.Item>
          {current && (
            <Menu.Item color="red" leftSection={<IconTrash size={14} />} onClick={() => void remove(current.name)}>
              Delete the view “{current.name}”
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
