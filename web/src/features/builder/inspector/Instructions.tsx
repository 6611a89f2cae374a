import { Paper, SegmentedControl, Stack } from '@mantine/core';
import { useState } from 'react';
import { limits } from '@/pipeline/definition';
import { Markdown } from '@/ui/Markdown';
import { AreaPart } from './controls';

interface Props {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** Markdown with a preview of what people will read. */
export function Instructions({ value, onChange }: Props) {
  const [mode, setMode] = useState('write');
  return (
    <Stack gap={6}>
      <SegmentedControl
        size="xs"
        aria-label="Instructions"
        value={mode}
        onChange={setMode}
        data={[
          { value: 'write', label: 'Write' },
          { value: 'preview', label: 'Preview' },
        ]}
        style={{ alignSelf: 'flex-end' }}
      />
      {mode === 'write' ? (
        <AreaPart
          part="instructions"
          aria-label="Instructions in Markdown"
          placeholder="What to do, in Markdown"
          minRows={4}
          maxLength={limits.instructions}
          value={value}
          onChange={onChange}
        />
      ) : (
        <Paper withBorder p="sm" mih={90}>
          {value ? <Markdown>{value}</Markdown> : 'Nothing written yet.'}
        </Paper>
      )}
    </Stack>
  );
}
