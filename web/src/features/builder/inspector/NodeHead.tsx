import { Group, Stack } from '@mantine/core';
import { limits, namePattern, type PipelineNode } from '@/pipeline/definition';
import { setNode } from '@/pipeline/edit';
import { slug, unique } from '@/pipeline/names';
import * as commands from '../state/commands';
import { useBuilder } from '../state/context';
import { CommitPart, TextPart } from './controls';

/** Keys that the builder made up: they follow the title until a person gives another. */
const madeUp = /^(step|review|work)(_\d+)?$/;

/** Title and key of a node. */
export function NodeHead({ node }: { node: PipelineNode }) {
  const { doc, edit, dispatch } = useBuilder();
  const others = doc.definition.nodes.filter((n) => n.key !== node.key).map((n) => n.key);
  const rename = (to: string) =>
    dispatch({ type: 'edit', change: (d) => commands.rename(d, node.key, to), select: { nodes: [to], field: null } });
  return (
    <Stack gap="xs">
      <TextPart
        part="title"
        label="Title"
        maxLength={limits.title}
        value={node.title}
        onChange={(title) => edit((d) => setNode(d, node.key, { title }), `title ${node.key}`)}
        onBlur={() => {
          dispatch({ type: 'pause' });
          if (!node.title || !madeUp.test(node.key)) return;
          const key = unique(slug(node.title, node.key), others);
          if (key !== node.key) rename(key);
        }}
      />
      <Group grow>
        <CommitPart
          part="key"
          label="Key"
          description="In conditions, exports and the API"
          mono
          maxLength={63}
          value={node.key}
          onChange={(to) => to && rename(to)}
          check={(to) => {
            if (!namePattern.test(to)) return 'A lower-case letter, then lower-case letters, digits and _';
            return others.includes(to) ? 'Another step has this key' : null;
          }}
        />
      </Group>
    </Stack>
  );
}
