import { Button, Grid, Group, Modal, Paper, SegmentedControl, Select, Stack, Text, Title } from '@mantine/core';
import { useEffect, useMemo, useState } from 'react';
import { FormView } from '@/fields/FormView';
import { FieldInput } from '@/fields/registry';
import { Form, loadPatterns, type Problem, type Values } from '@/fields/rules';
import { type Definition, type Field, labelOf, type PipelineNode } from '@/pipeline/definition';
import { above, inOrder } from '@/pipeline/graph';
import { sampleOf, samplesOf } from '@/pipeline/sample';
import { Markdown } from '@/ui/Markdown';
import { Notice } from './Notice';

interface Props {
  definition: Definition;
  /** The node that was selected in the builder. */
  start: string | null;
  opened: boolean;
  onClose: () => void;
}

/** The draft as people will meet it, with made-up data that can be changed. Nothing is saved. */
export default function Preview({ definition, start, opened, onClose }: Props) {
  const nodes = inOrder(definition).filter((n) => n.kind === 'subtask' || n.kind === 'review');
  const [key, setKey] = useState(() => nodes.find((n) => n.key === start)?.key ?? nodes[0]?.key ?? null);
  const node = nodes.find((n) => n.key === key);
  const review = nodes.find((n) => n.kind === 'review' && (n.key === key || n.reviews?.some((t) => t.node === key)));
  const subtask = node?.kind === 'subtask' ? node : nodes.find((n) => n.key === node?.reviews?.[0]?.node);
  const as = node?.kind === 'review' ? 'reviewer' : 'contributor';
  return (
    <Modal opened={opened} onClose={onClose} fullScreen title="Preview">
      <Stack maw={1200} mx="auto">
        <Group align="flex-end">
          <SegmentedControl
            aria-label="See it as"
            value={as}
            onChange={(v) => setKey((v === 'reviewer' ? review?.key : subtask?.key) ?? key)}
            data={[
              { value: 'contributor', label: 'As contributor', disabled: !subtask },
              { value: 'reviewer', label: 'As reviewer', disabled: !review },
            ]}
          />
          <Select
            label="Step"
            allowDeselect={false}
            data={nodes.map((n) => ({ value: n.key, label: labelOf(n) }))}
            value={key}
            onChange={setKey}
          />
        </Group>
        {!node && <Notice color="yellow">There is no step to preview yet.</Notice>}
        {node?.kind === 'subtask' && <AsContributor key={node.key} definition={definition} node={node} />}
        {node?.kind === 'review' && <AsReviewer key={node.key} definition={definition} node={node} />}
      </Stack>
    </Modal>
  );
}

function AsContributor({ definition, node }: { definition: Definition; node: PipelineNode }) {
  const fields = node.fields ?? [];
  const [values, setValues] = useState<Values>(() => samplesOf(definition, above(definition, node.key), node.key));
  const [answers, setAnswers] = useState<Values>(() => startsOf(fields));
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const [passed, setPassed] = useState(false);
  const patterns = usePatterns(fields);
  const change = (name: string, value: unknown) => {
    setAnswers((a) => ({ ...a, [name]: value }));
    setProblems((p) => p.filter((x) => x.field !== name));
    setPassed(false);
  };
  const check = () => {
    const found = new Form(fields).checkSubmission(answers, values);
    const wrong = 'problems' in found ? (found.problems ?? []) : [];
    setProblems(wrong);
    setPassed(wrong.length === 0);
  };
  const given = givenTo(definition, node);
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: given.length > 0 ? 8 : 12 }}>
        <Paper withBorder p="md">
          <Stack>
            <Title order={2} size="h4">
              {labelOf(node)}
            </Title>
            {node.instructions && <Markdown>{node.instructions}</Markdown>}
            <FormView fields={fields} values={values} answers={answers} onChange={change} problems={problems} />
            <Group>
              <Button onClick={check} disabled={!patterns}>
                Try to submit
              </Button>
              {passed && (
                <Text c="teal" size="sm" role="status">
                  These answers would be accepted.
                </Text>
              )}
              {problems.length > 0 && (
                <Text c="red" size="sm" role="status">
                  {problems.length} {problems.length === 1 ? 'problem' : 'problems'}
                </Text>
              )}
            </Group>
          </Stack>
        </Paper>
      </Grid.Col>
      {given.length > 0 && (
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Samples fields={given} values={values} onChange={(name, v) => setValues((s) => ({ ...s, [name]: v }))} />
        </Grid.Col>
      )}
    </Grid>
  );
}

function AsReviewer({ definition, node }: { definition: Definition; node: PipelineNode }) {
  const up = above(definition, node.key);
  const [values, setValues] = useState<Values>(() => ({ ...samplesOf(definition, up, node.key) }));
  const targets = (node.reviews ?? []).flatMap((t) => {
    const of = definition.nodes.find((n) => n.key === t.node);
    return of ? [{ of, fields: t.fields ?? [] }] : [];
  });
  const given = targets.flatMap(({ of }) => [...givenTo(definition, of), ...answered(of)]);
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 8 }}>
        <Stack>
          {node.instructions && (
            <Paper withBorder p="md">
              <Markdown>{node.instructions}</Markdown>
            </Paper>
          )}
          {targets.length === 0 && <Notice color="yellow">This review checks nothing yet.</Notice>}
          {targets.map(({ of, fields }) => (
            <Paper key={of.key} withBorder p="md">
              <Stack>
                <Title order={2} size="h4">
                  {labelOf(of)}
                </Title>
                <Text size="sm" c="dimmed">
                  {fields.length > 0 ? 'The fields to look at stand out.' : 'All answers are to be looked at.'}
                </Text>
                <FormView
                  fields={of.fields ?? []}
                  values={values}
                  answers={values}
                  highlight={fields.length > 0 ? fields : answered(of).map((f) => f.name)}
                />
              </Stack>
            </Paper>
          ))}
          <Group>
            <Button disabled>Accept</Button>
            <Button variant="default" disabled>
              Fix and accept
            </Button>
            <Button variant="default" disabled>
              Reject
            </Button>
            <Text size="sm" c="dimmed">
              {node.max_rework === 0
                ? 'A rejection goes to the project’s admins.'
                : `After ${node.max_rework ?? 3} rejections it goes to the project’s admins.`}
              {node.four_eyes ? ' Nobody reviews their own work.' : ''}
            </Text>
          </Group>
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4 }}>
        <Samples fields={given} values={values} onChange={(name, v) => setValues((s) => ({ ...s, [name]: v }))} />
      </Grid.Col>
    </Grid>
  );
}

/** The made-up data, in the controls of its types. */
function Samples({
  fields,
  values,
  onChange,
}: {
  fields: readonly Field[];
  values: Values;
  onChange: (name: string, value: unknown) => void;
}) {
  return (
    <Paper withBorder p="md" component="section" aria-label="Sample data">
      <Stack>
        <Title order={2} size="h5">
          Sample data
        </Title>
        <Text size="sm" c="dimmed">
          What a task would bring along. Change it to see what the form does.
        </Text>
        {fields.map((f) => (
          <Stack key={f.name} gap={4} component="fieldset" style={{ border: 0, padding: 0, margin: 0 }}>
            <Text component="legend" size="sm" fw={500} pb={4}>
              {labelOf(f)}
            </Text>
            <Sample field={f} value={values[f.name]} context={values} onChange={(v) => onChange(f.name, v)} />
          </Stack>
        ))}
      </Stack>
    </Paper>
  );
}

function Sample({
  field,
  value,
  context,
  onChange,
}: {
  field: Field;
  value: unknown;
  context: Values;
  onChange: (v: unknown) => void;
}) {
  if (['image', 'audio', 'video', 'pdf', 'file_upload'].includes(field.type)) {
    return (
      <Group gap="xs">
        <Button size="compact-xs" variant="default" disabled={value === undefined} onClick={() => onChange(undefined)}>
          Leave it out
        </Button>
        {sampleOf(field) !== undefined && (
          <Button
            size="compact-xs"
            variant="default"
            disabled={value !== undefined}
            onClick={() => onChange(sampleOf(field))}
          >
            Show a sample
          </Button>
        )}
        {sampleOf(field) === undefined && (
          <Text size="xs" c="dimmed">
            A real task brings the file.
          </Text>
        )}
      </Group>
    );
  }
  return <FieldInput field={{ ...field, input: 'contributor' }} value={value} onChange={onChange} context={context} />;
}

function answered(n: PipelineNode): Field[] {
  return (n.fields ?? []).filter((f) => f.input === 'contributor');
}

/** What a task or earlier steps bring along: seeded and generated fields, and earlier answers that the form refers to. */
function givenTo(d: Definition, node: PipelineNode): Field[] {
  const up = above(d, node.key);
  const used = JSON.stringify(node.fields ?? []);
  const own = (node.fields ?? []).filter((f) => f.input === 'seeded' || f.input === 'llm');
  const earlier = inOrder(d)
    .filter((n) => up.has(n.key))
    .flatMap((n) => n.fields ?? [])
    .filter((f) => f.input !== 'static' && new RegExp(`"${f.name}(\\.|")`).test(used));
  return [...own, ...earlier];
}

function startsOf(fields: readonly Field[]): Values {
  return Object.fromEntries(
    fields.flatMap((f) => (f.input === 'contributor' && f.value !== undefined ? [[f.name, f.value]] : [])),
  );
}

/** Whether the patterns of the form can be tried already. */
function usePatterns(fields: readonly Field[]): boolean {
  const key = useMemo(() => JSON.stringify(fields.map((f) => f.rules?.pattern)), [fields]);
  const [loaded, setLoaded] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    const done = () => current && setLoaded(key);
    loadPatterns(fields).then(done, done);
    return () => {
      current = false;
    };
  }, [fields, key]);
  return loaded === key;
}
