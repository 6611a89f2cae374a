import { Radio, Stack } from '@mantine/core';
import { day } from '@/lib/time';
import { type Expiry, endsAt, expiries } from './expiry';

interface Props {
  label: string;
  value: Expiry;
  onChange: (value: Expiry) => void;
}

/** Expiries with the day that each one leads to, counted from now. */
export function ExpiryChoice({ label, value, onChange }: Props) {
  const now = Date.now();
  return (
    <Radio.Group label={label} value={value} onChange={(v) => onChange(v as Expiry)}>
      <Stack gap={8} mt={6}>
        {expiries.map((e) => {
          const end = endsAt(e.value, now);
          return (
            <Radio
              key={e.value}
              value={e.value}
              label={e.label}
              description={end ? `Until ${day(end.toISOString())}` : 'Works until it is revoked'}
            />
          );
        })}
      </Stack>
    </Radio.Group>
  );
}
