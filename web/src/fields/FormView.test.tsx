import { MantineProvider } from '@mantine/core';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import type { File } from '@/api';
import type { Field } from './engine/types';
import { FormView } from './FormView';

afterEach(cleanup);

/** A form that compares two media, which both are to be played or read to their end. */
function compared(type: 'audio' | 'pdf', played?: ReadonlySet<string>) {
  const onPlayed = vi.fn();
  const rules = { played_fully: true };
  const fields: Field[] = [
    { name: 'a', title: 'First', type, input: 'seeded', rules },
    { name: 'b', title: 'Second', type, input: 'seeded', rules },
    { name: 'better', type: 'pairwise', input: 'contributor', sources: ['a', 'b'], required: true },
  ];
  const files = ['f1', 'f2'].map((id) => ({ file_id: id, name: id, url: `https://store.test/${id}` })) as File[];
  render(
    <MantineProvider env="test">
      <FormView
        fields={fields}
        values={{ a: { file_id: 'f1' }, b: { file_id: 'f2' } }}
        answers={{}}
        onChange={() => {}}
        files={files}
        onPlayed={onPlayed}
        played={played}
      />
    </MantineProvider>,
  );
  return onPlayed;
}

test('media that is compared side by side can be played to its end there', () => {
  const onPlayed = compared('audio', new Set(['b']));
  const media = screen.getByLabelText('First', { selector: 'audio' });
  Object.defineProperties(media, {
    duration: { value: 10 },
    played: { value: { length: 1, start: () => 0, end: () => 10 } },
  });
  expect(onPlayed).not.toHaveBeenCalled();
  fireEvent.timeUpdate(media);
  expect(onPlayed).toHaveBeenCalledExactlyOnceWith('a');
  expect(screen.getAllByText('Played to its end')).toHaveLength(2);
});

test('a document that is compared side by side can be said to be read', () => {
  const onPlayed = compared('pdf', new Set(['a']));
  const [first, second] = screen.getAllByLabelText('I have read it to its end');
  expect(first).toHaveProperty('checked', true);
  expect(second).toHaveProperty('checked', false);
  if (second) fireEvent.click(second);
  expect(onPlayed).toHaveBeenCalledExactlyOnceWith('b');
});

test('an arrow in the strength of a comparison changes that, not which one is better', () => {
  const onChange = vi.fn();
  const scale = { min: 1, max: 3 };
  render(
    <MantineProvider env="test">
      <FormView
        fields={[{ name: 'better', type: 'pairwise', input: 'contributor', scale }]}
        values={{}}
        answers={{ better: { choice: 'b', strength: 2 } }}
        onChange={onChange}
        keys
      />
    </MantineProvider>,
  );
  const left = (el: Element) => fireEvent.keyDown(el, { key: 'ArrowLeft' });
  expect(left(screen.getByRole('radio', { name: '2' }))).toBe(true); // the browser moves it
  expect(onChange).not.toHaveBeenCalled();
  for (const el of [screen.getByRole('radio', { name: /^B is/ }), document.body]) {
    onChange.mockClear();
    expect(left(el)).toBe(false);
    expect(onChange).toHaveBeenCalledExactlyOnceWith('better', { choice: 'a', strength: 2 });
  }
});
