import { ActionIcon, Badge, Button, Group, Menu, Tooltip } from '@mantine/core';
import {
  IconArrowBackUp,
  IconArrowForwardUp,
  IconCode,
  IconDots,
  IconEye,
  IconHistory,
  IconListCheck,
  IconRocket,
} from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { ariaKeys } from '@/lib/hotkeys';
import { SaveChip } from './SaveChip';
import { useBuilder } from './state/context';
import type { DraftControl } from './state/useDraft';

interface Props {
  draft: DraftControl;
  onCheck: () => void;
  onPreview: () => void;
  onPublish: () => void;
  onYaml: () => void;
}

/** What the draft as a whole can be told to do. */
export function Toolbar({ draft, onCheck, onPreview, onPublish, onYaml }: Props) {
  const { id, history, dispatch, problems } = useBuilder();
  return (
    <Group gap="xs">
      <SaveChip draft={draft} />
      <Group gap={2}>
        <Icon
          label="Undo"
          keys="mod+z"
          icon={<IconArrowBackUp size={18} />}
          disabled={history.past.length === 0}
          onClick={() => dispatch({ type: 'undo' })}
        />
        <Icon
          label="Redo"
          keys="mod+shift+z"
          icon={<IconArrowForwardUp size={18} />}
          disabled={history.future.length === 0}
          onClick={() => dispatch({ type: 'redo' })}
        />
      </Group>
      <Button
        variant="default"
        size="sm"
        leftSection={<IconListCheck size={16} />}
        onClick={onCheck}
        aria-keyshortcuts="k"
        rightSection={
          problems.length > 0 ? (
            <Badge color="red" variant="filled" size="sm" circle>
              {problems.length}
            </Badge>
          ) : undefined
        }
        aria-label={problems.length > 0 ? `Checklist, ${problems.length} to do` : 'Checklist'}
      >
        Checklist
      </Button>
      <Button variant="default" size="sm" leftSection={<IconEye size={16} />} onClick={onPreview} aria-keyshortcuts="p">
        Preview
      </Button>
      <Button
        size="sm"
        leftSection={<IconRocket size={16} />}
        onClick={onPublish}
        aria-keyshortcuts={ariaKeys('mod+Enter')}
      >
        Publish
      </Button>
      <Menu position="bottom-end" shadow="md">
        <Menu.Target>
          <ActionIcon variant="default" size="lg" aria-label="More of the draft">
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconCode size={16} />} onClick={onYaml}>
            Edit as YAML
          </Menu.Item>
          <Menu.Item component={Link} to={`/pipelines/${id}/versions`} leftSection={<IconHistory size={16} />}>
            Versions
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}

function Icon({
  label,
  keys,
  icon,
  disabled,
  onClick,
}: {
  label: string;
  keys: string;
  icon: React.ReactNode;
  disabled: boolean;
  onClick: () => void;
}) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={label}
        aria-keyshortcuts={ariaKeys(keys)}
        disabled={disabled}
        onClick={onClick}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}
