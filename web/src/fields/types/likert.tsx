import { Box, Stack, Table, Text } from '@mantine/core';
import { scaleOf, stepLabel } from '../engine/kinds/rating';
import { optionLabel } from '../engine/options';
import { isObject, type JSONObject, member } from '../engine/value';
import type { DisplayProps, InputProps } from '../props';
import { ChoiceBar } from './ChoiceBar';
import { stepKeys, useFieldKeys } from './keys';
import { Ends, stepsOf } from './rating';

export function LikertInput(p: InputProps) {
  const scale = scaleOf(p.field);
  const steps = stepsOf({ ...scale, half: false });
  const rows = p.field.rows ?? [];
  const answers: JSONObject = isObject(p.value) ? p.value : {};
  const keys = stepKeys(steps);
  const answer = (row: string, v: unknown) => p.onChange({ ...answers, [row]: v });
  const next = rows.find((row) => (member(answers, row.value) ?? null) === null);
  const choices = steps.map((n, i) => ({ n, keys: keys[i] }));
  useFieldKeys(
    p.keys && !p.disabled && next !== undefined,
    p.field,
    next === undefined
      ? []
      : choices.flatMap(({ n, keys: key }) =>
          key ? [{ keys: key, label: `${n} for the next row`, run: () => answer(next.value, n) }] : [],
        ),
  );
  return (
    <Stack gap="sm">
      {rows.map((row) => {
        const got = member(answers, row.value);
        const active = p.keys && row === next;
        return (
          <Box key={row.value}>
            <Text size="sm" fw={500} mb={4} id={`${p.id}-${row.value}`}>
              {optionLabel(row)}
            </Text>
            {row.description && (
              <Text size="xs" c="dimmed" mb={4}>
                {row.description}
              </Text>
            )}
            <ChoiceBar
              name={`${p.id}-${row.value}-choice`}
              labelledBy={`${p.id}-${row.value}`}
              choices={[
                ...choices.map(({ n, keys: key }) => ({
                  value: String(n),
                  label: scale.labels?.length === steps.length ? `${stepLabel(scale, n)}` : String(n),
                  hint: stepLabel(scale, n) || undefined,
                  keys: active ? key : undefined,
                })),
                ...(scale.allow_na ? [{ value: 'na', label: 'Not applicable' }] : []),
              ]}
              value={got === undefined || got === null ? undefined : String(got)}
              onChange={(v) => answer(row.value, v === 'na' ? v : Number(v))}
              disabled={p.disabled}
            />
          </Box>
        );
      })}
      <Ends scale={scale} />
    </Stack>
  );
}

export function LikertDisplay({ field, value }: DisplayProps) {
  const scale = scaleOf(field);
  const say = (v: unknown) =>
    v === 'na' ? 'Not applicable' : typeof v === 'number' ? [v, stepLabel(scale, v)].filter(Boolean).join(' · ') : '–';
  return (
    <Table withRowBorders={false} verticalSpacing={2} w="fit-content">
      <Table.Tbody>
        {(field.rows ?? []).map((row) => (
          <Table.Tr key={row.value}>
            <Table.Th scope="row" fw={400}>
              {optionLabel(row)}
            </Table.Th>
            <Table.Td>{say(member(value, row.value))}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
