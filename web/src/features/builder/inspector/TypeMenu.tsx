import { Button, Menu, ScrollArea, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { catalogue, groups } from '@/pipeline/catalogue';
import { type FieldType, fieldTypes } from '@/pipeline/definition';

/** The palette of field types, by what they are for. */
export function TypeMenu({ label, onPick }: { label: string; onPick: (type: FieldType) => void }) {
  return (
    <Menu position="bottom-end" width={270} shadow="md">
      <Menu.Target>
        <Button size="compact-sm" variant="light" leftSection={<IconPlus size={14} />}>
          {label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <ScrollArea.Autosize mah={380} type="auto">
          {groups.map((group) => (
            <div key={group}>
              <Menu.Label>{group}</Menu.Label>
              {fieldTypes
                .filter((t) => catalogue[t].group === group)
                .map((t) => (
                  <Menu.Item key={t} onClick={() => onPick(t)}>
                    {catalogue[t].label}{' '}
                    <Text span size="xs" c="dimmed">
                      {catalogue[t].about}
                    </Text>
                  </Menu.Item>
                ))}
            </div>
          ))}
        </ScrollArea.Autosize>
      </Menu.Dropdown>
    </Menu>
  );
}
