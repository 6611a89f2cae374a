import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { act, cleanup, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { consoleAPI, Refused } from '@/testing/claimPage';
import { ConfirmDialogs } from '@/ui/ConfirmDialog';
import { Restore } from './VersionsPage';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

let save: (revision: number) => void;
function Page() {
  const [revision, setRevision] = useState(5);
  save = setRevision;
  return (
    <>
      <ConfirmDialogs />
      <p>Revision {revision}</p>
      <Restore id={3} v={{ number: 1 }} draft={{ revision }} disabled={false} />
    </>
  );
}

test('a draft that was saved while the question stood is not replaced', async () => {
  const sent = vi.fn();
  consoleAPI({
    'POST /pipelines/3/versions/1/restore': (body) => {
      sent(body);
      throw new Refused(409, 'the draft was saved by Ben');
    },
  });
  const router = createRouter({
    routeTree: createRootRoute({ component: Page }),
    history: createMemoryHistory({ initialEntries: ['/'] }),
  });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>
    </MantineProvider>,
  );
  await userEvent.click(await screen.findByRole('button', { name: 'Restore version 1 into the draft' }));
  const yes = await screen.findByRole('button', { name: 'Restore' });
  act(() => save(6));
  await screen.findByText('Revision 6');
  await userEvent.click(yes);
  await waitFor(() => expect(sent).toHaveBeenCalledExactlyOnceWith({ revision: 5 }));
});
