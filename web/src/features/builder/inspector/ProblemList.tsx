import { Alert, Anchor, List } from '@mantine/core';
import { useBuilder } from '../state/context';

/** Everything that is wrong with what the panel shows; each leads to its control. */
export function ProblemList({ found }: { found: readonly { part: string; message: string }[] }) {
  const { focusPart } = useBuilder();
  if (found.length === 0) return null;
  return (
    <Alert color="red" variant="light" p="xs" title={found.length === 1 ? 'One problem' : `${found.length} problems`}>
      <List size="sm" spacing={2}>
        {found.map((p) => (
          <List.Item key={`${p.part} ${p.message}`}>
            {p.part ? (
              <Anchor
                component="button"
                type="button"
                size="sm"
                c="inherit"
                ta="start"
                underline="always"
                onClick={() => focusPart(p.part)}
              >
                {p.message}
              </Anchor>
            ) : (
              p.message
            )}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
