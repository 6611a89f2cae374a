import { MantineProvider } from '@mantine/core';
import { Notifications, notifications } from '@mantine/notifications';
import { act, cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { consoleAPI, Refused, sampleWork, showClaim } from '@/testing/claimPage';

beforeEach(() => localStorage.clear());
afterEach(() => {
  act(() => notifications.clean());
  cleanup();
  vi.unstubAllGlobals();
});

/** A task that was handed in and may be undone. These answer that, one after the other. */
async function submitted(...answers: (() => unknown)[]) {
  const undo = vi.fn((): unknown => answers.shift()?.());
  consoleAPI({
    'GET /claims/c1': () => sampleWork(),
    'GET /claims/c2': () => sampleWork({ claim_id: 'c2' }),
    'POST /claims/c1/submit': () => ({
      claim_id: 'c1',
      task_id: 12,
      node: 'solve',
      undo_until: new Date(Date.now() + 60_000).toISOString(),
      next: null,
    }),
    'POST /claims/c1/undo': undo,
  });
  render(
    <MantineProvider env="test">
      <Notifications />
    </MantineProvider>,
  );
  const { router } = showClaim();
  await userEvent.click(await screen.findByRole('button', { name: /^Submit/ }));
  await waitFor(() => expect(router.state.location.pathname).toBe('/pipelines/3/work'));
  await screen.findByText('Task 12 is submitted');
  return { undo, router };
}

const again = () => sampleWork({ claim_id: 'c2' });
const refuse = (status: number, message: string) => () => {
  throw new Refused(status, message);
};
const press = () => userEvent.keyboard('{Control>}z{/Control}');
const offer = () => screen.queryByText('Task 12 is submitted');

test('an undo that a server on its way down turned away is sent again without a click', async () => {
  const { undo, router } = await submitted(refuse(503, 'not now'), again);
  await press();
  await waitFor(() => expect(router.state.location.pathname).toBe('/claims/c2'));
  expect(undo).toHaveBeenCalledTimes(2);
  await waitFor(() => expect(offer()).toBeNull());
});

test('an undo that failed for now stays on offer', async () => {
  const { undo, router } = await submitted(refuse(500, 'the server failed'), again);
  await press();
  await screen.findByText('the server failed');
  expect(offer()).not.toBeNull();
  await press();
  await waitFor(() => expect(router.state.location.pathname).toBe('/claims/c2'));
  expect(undo).toHaveBeenCalledTimes(2);
});

test('one that is refused says why, and is no longer offered', async () => {
  const { undo, router } = await submitted(refuse(409, 'a reviewer was quicker'));
  await press();
  await screen.findByText('a reviewer was quicker');
  await waitFor(() => expect(offer()).toBeNull());
  await press();
  expect(undo).toHaveBeenCalledOnce();
  expect(router.state.location.pathname).toBe('/pipelines/3/work');
});

test('who went elsewhere before it was undone stays there and is offered the task', async () => {
  let answer = (_: unknown) => {};
  const late = new Promise((resolve) => {
    answer = resolve;
  });
  const { undo, router } = await submitted(() => late);
  await press();
  await waitFor(() => expect(undo).toHaveBeenCalledOnce());
  act(() => router.history.push('/'));
  await screen.findByText('Home');
  answer(again());
  await screen.findByText('Task 12 is yours again.');
  expect(router.state.location.pathname).toBe('/');
  fireEvent.click(screen.getByText('Open it'));
  await waitFor(() => expect(router.state.location.pathname).toBe('/claims/c2'));
});
