import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { consoleAPI, sampleWork, showClaim } from '@/testing/claimPage';

beforeEach(() => localStorage.clear());
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const colours = {
  name: 'colours',
  title: 'Colours',
  type: 'multi_select',
  input: 'contributor',
  allow_other: true,
  options: [{ value: 'red' }, { value: 'blue' }, { value: 'none' }],
  rules: { exclusive: ['none'] },
};

/** What is handed in after the person did this. */
async function handedIn(field: object, act: (person: ReturnType<typeof userEvent.setup>) => Promise<void>) {
  let values: unknown;
  consoleAPI({
    'GET /claims/c1': () => sampleWork({ fields: [field] } as never),
    'PUT /claims/c1/draft': (sent) => ({ revision: (sent as { revision: number }).revision + 1 }),
    'POST /claims/c1/submit': (sent) => {
      ({ values } = sent as { values: unknown });
      return { claim_id: 'c1', task_id: 12, node: 'solve', undo_until: null, next: null };
    },
  });
  showClaim();
  const person = userEvent.setup();
  await act(person);
  await person.keyboard('{Control>}{Enter}{/Control}');
  await waitFor(() => expect(values).toBeDefined());
  return values;
}

const line = () => screen.findByRole('textbox', { name: 'Another answer' });

test('another answer that is still being typed is handed in by keyboard, too', async () => {
  const values = await handedIn(colours, async (person) => {
    await person.type(await line(), ' green{Enter}teal ');
  });
  expect(values).toEqual({ colours: ['green', 'teal'] });
});

test('words on the way to another answer choose and lose nothing', async () => {
  const values = await handedIn(colours, async (person) => {
    await person.type(await line(), 'green{Enter}');
    await person.click(screen.getByRole('checkbox', { name: /blue/ }));
    await person.type(await line(), 'reddish{Enter}bluest{Enter}greenish');
  });
  expect(values).toEqual({ colours: ['green', 'blue', 'reddish', 'bluest', 'greenish'] });
});

test('what is taken out of the line is no answer', async () => {
  const values = await handedIn(colours, async (person) => {
    await person.click(await screen.findByRole('checkbox', { name: /red/ }));
    await person.type(await line(), 'gr{Backspace}{Backspace}');
  });
  expect(values).toEqual({ colours: ['red'] });
});

test('another answer takes the place of an option that stands alone', async () => {
  const values = await handedIn(colours, async (person) => {
    await person.click(await screen.findByRole('checkbox', { name: /none/ }));
    await person.type(await line(), 'green');
  });
  expect(values).toEqual({ colours: ['green'] });
});

test('another answer of a single choice may begin as an option does', async () => {
  const colour = { ...colours, name: 'colour', type: 'select', rules: {} };
  const values = await handedIn(colour, async (person) => {
    await person.click(await screen.findByRole('button', { name: /Another answer/ }));
    await person.type(await line(), 'reddish');
  });
  expect(values).toEqual({ colour: 'reddish' });
});
