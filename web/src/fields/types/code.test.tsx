import { MantineProvider } from '@mantine/core';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { Code } from './code';

const { gate, arrive } = vi.hoisted(() => {
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { gate, arrive: () => open() };
});
vi.mock('@/lib/chunk', () => ({
  chunk: () => async () => {
    await gate;
    return { default: ({ label }: { label: string }) => <p>editor of {label}</p> };
  },
}));
afterEach(cleanup);

function Box({ label }: { label: string }) {
  const [value, setValue] = useState('');
  return <Code label={label} value={value} onChange={setValue} />;
}

test('the editor that comes late leaves the box in which somebody writes', async () => {
  render(
    <MantineProvider env="test">
      <Box label="Mine" />
      <Box label="Other" />
    </MantineProvider>,
  );
  const box = screen.getByLabelText('Mine');
  await userEvent.type(box, 'a');
  arrive();
  await screen.findByText('editor of Other');
  await userEvent.keyboard('b');
  expect(document.activeElement).toBe(box);
  expect(box).toHaveProperty('value', 'ab');
});
