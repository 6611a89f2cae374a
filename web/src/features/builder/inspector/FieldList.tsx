import {
  closestCenter,
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
} from '@dnd-kit/core';
import {
  SortableContext,
  sortableKeyboardCoordinates,
  useSortable,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable';
import { ActionIcon, Badge, Group, Paper, Stack, Text, Tooltip, UnstyledButton } from '@mantine/core';
import { IconGripVertical } from '@tabler/icons-react';
import { catalogue, withType } from '@/pipeline/catalogue';
import { type Field, type FieldType, labelOf, type PipelineNode } from '@/pipeline/definition';
import { insertField, moveField, newField } from '@/pipeline/edit';
import { placeOf } from '@/pipeline/problems';
import { useBuilder } from '../state/context';
import { PartBox, Section } from './controls';
import { GridPreview } from './GridPreview';
import classes from './inspector.module.css';
import { TypeMenu } from './TypeMenu';

/** The form of a step: its fields in order, by drag or by the handle's arrow keys. */
export function FieldList({ node }: { node: PipelineNode }) {
  const { doc, edit, problems } = useBuilder();
  const fields = node.fields ?? [];
  const at = doc.definition.nodes.indexOf(node);
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, {
      coordinateGetter: sortableKeyboardCoordinates,
      // Not Enter: with Ctrl it publishes, from everywhere.
      keyboardCodes: { start: ['Space'], cancel: ['Escape'], end: ['Space', 'Enter'] },
    }),
  );
  const ids = fields.map((_, i) => String(i));
  const onDragEnd = ({ active, over }: DragEndEvent) => {
    if (!over || active.id === over.id) return;
    edit((d) => moveField(d, node.key, Number(active.id), Number(over.id)));
    // The focus goes along with the field, not with its old place.
    setTimeout(() => document.querySelector<HTMLElement>(`[data-grip="${over.id}"]`)?.focus(), 50);
  };
  const name = (id: string | number) => {
    const f = fields[Number(id)];
    return f ? labelOf(f) : '';
  };
  const counts = fields.map(
    (_, i) =>
      problems.filter((p) => {
        const place = placeOf(p.path ?? '');
        return place.node === at && place.field === i;
      }).length,
  );
  const add = (type: FieldType) => {
    const field = withType(newField(doc.definition, type, 'field'), type);
    edit((d) => insertField(d, node.key, fields.length, field), undefined, { nodes: [node.key], field: fields.length });
  };
  return (
    <Section title="Form" aside={<TypeMenu label="Add a field" onPick={add} />}>
      <PartBox part="fields">
        <DndContext
          sensors={sensors}
          collisionDetection={closestCenter}
          onDragEnd={onDragEnd}
          accessibility={{
            announcements: {
              onDragStart: ({ active }) => `Picked up ${name(active.id)}.`,
              onDragOver: ({ active, over }) =>
                over ? `${name(active.id)} is at place ${Number(over.id) + 1} of ${fields.length}.` : '',
              onDragEnd: ({ active, over }) =>
                over ? `${name(active.id)} was put at place ${Number(over.id) + 1}.` : '',
              onDragCancel: ({ active }) => `${name(active.id)} stays where it was.`,
            },
          }}
        >
          <SortableContext items={ids} strategy={verticalListSortingStrategy}>
            <Stack gap={6} component="ol" className={classes.list}>
              {fields.map((f, i) => (
                // Names may be missing or stand twice while they are typed: the place is what tells fields apart.
                // biome-ignore lint/suspicious/noArrayIndexKey: see above
                <FieldRow key={i} id={String(i)} field={f} problems={counts[i] ?? 0} node={node.key} />
              ))}
            </Stack>
          </SortableContext>
        </DndContext>
        {fields.length === 0 && (
          <Text size="sm" c="dimmed">
            No fields yet: nobody would have anything to do here.
          </Text>
        )}
      </PartBox>
      {fields.length > 0 && <GridPreview fields={fields} />}
    </Section>
  );
}

function FieldRow({ id, field, problems, node }: { id: string; field: Field; problems: number; node: string }) {
  const { dispatch } = useBuilder();
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, transform, transition, isDragging } = useSortable({
    id,
  });
  return (
    <Paper
      ref={setNodeRef}
      withBorder
      component="li"
      className={classes.row}
      data-dragging={isDragging || undefined}
      style={{ transform: transform ? `translate3d(0, ${transform.y}px, 0)` : undefined, transition }}
    >
      <Tooltip label="Drag, or press Space and use the arrow keys" openDelay={600}>
        <ActionIcon
          ref={setActivatorNodeRef}
          variant="subtle"
          color="gray"
          {...attributes}
          {...listeners}
          data-grip={id}
          aria-label={`Move ${labelOf(field)}`}
          className={classes.grip}
        >
          <IconGripVertical size={16} />
        </ActionIcon>
      </Tooltip>
      <UnstyledButton
        className={classes.open}
        data-part={`fields[${id}]`}
        onClick={() => dispatch({ type: 'select', selection: { nodes: [node], field: Number(id) } })}
      >
        <Text size="sm" fw={500} lineClamp={1}>
          {labelOf(field)}
          {field.required && (
            <Text span c="red" aria-label="required">
              {' '}
              *
            </Text>
          )}
        </Text>
        <Group gap={6}>
          <Text size="xs" c="dimmed">
            {catalogue[field.type]?.label ?? field.type}
          </Text>
          {field.input !== 'contributor' && (
            <Badge size="xs" variant="light" tt="none" color={field.input === 'llm' ? 'grape' : 'gray'}>
              {field.input === 'llm' ? 'model' : field.input}
            </Badge>
          )}
          {field.visible_when && (
            <Badge size="xs" variant="light" tt="none" color="blue">
              conditional
            </Badge>
          )}
        </Group>
      </UnstyledButton>
      {problems > 0 && (
        <Badge color="red" variant="filled" size="sm" circle aria-label={`${problems} problems`}>
          {problems}
        </Badge>
      )}
    </Paper>
  );
}
