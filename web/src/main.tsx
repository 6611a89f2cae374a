import { chunk } from '@/lib/chunk';
import '@mantine/core/styles.css';
import './app/app.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './app/query';
import { router } from './app/router';
import { theme, variables } from './app/theme';
import { meQuery } from './features/session/me';
import { watchSession } from './features/session/session';
import { ConfirmDialogs } from './ui/ConfirmDialog';
import { Fallback } from './ui/Fallback';

watchSession(
  () => void queryClient.invalidateQueries({ queryKey: meQuery.queryKey }),
  () => router.history.destroy(),
);

// Not part of the first load: what is told before it is there, it shows when it comes.
const News = lazy(chunk(() => import('./app/News')));

const root = document.getElementById('root');
if (!root) throw new Error('the page has no #root');
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <ConfirmDialogs />
        <Fallback show={null}>
          <Suspense>
            <News />
          </Suspense>
        </Fallback>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
