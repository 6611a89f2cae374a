import { NativeSelect } from '@mantine/core';

interface Props<R extends string> {
  /** Whose role. */
  label: string;
  roles: { value: R; label: string }[];
  value: R;
  onChange: (role: R) => void;
  disabled?: boolean;
}

/** The browser's own select: hundreds of them cost nothing. */
export function RoleSelect<R extends string>({ label, roles, value, onChange, disabled }: Props<R>) {
  return (
    <NativeSelect
      size="xs"
      w={150}
      aria-label={label}
      data={roles.map(({ value, label }) => ({ value, label }))}
      value={value}
      disabled={disabled}
      onChange={(e) => onChange(e.currentTarget.value as R)}
    />
  );
}
