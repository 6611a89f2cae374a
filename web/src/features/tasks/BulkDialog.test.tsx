import { cleanup, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { showAt } from '@/testing/browser';
import { consoleAPI } from '@/testing/claimPage';
import { BulkDialog } from './BulkDialog';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('refused tasks that the same keeps are one line, which names the first of them and the others when asked', async () => {
  const ids = Array.from({ length: 97 }, (_, i) => i + 1);
  const over = 12;
  const failed = ids.map((id) => ({
    task_id: id,
    message: id === over ? `task ${id} is finished` : `nobody holds anything on task ${id}`,
  }));
  consoleAPI({ 'POST /pipelines/3/tasks/bulk': () => ({ done: [], failed, left: [] }) });
  showAt('/tasks', () => <BulkDialog pipelineId={3} action="release" seen={new Map()} ids={ids} close={() => {}} />);
  await userEvent.click(await screen.findByRole('button', { name: 'Release: 97 tasks' }));
  const list = within(await screen.findByRole('region', { name: 'Refused' }));
  const links = () => list.getAllByRole('link').map((a) => a.textContent);
  expect(list.getAllByRole('listitem')).toHaveLength(2);
  expect(list.getByText('96 tasks: nobody holds anything on the task')).toBeDefined();
  expect(list.getByText('1 task: the task is finished')).toBeDefined();
  expect(links()).toEqual(['Task 1', 'Task 2', 'Task 3', 'Task 4', 'Task 5', 'Task 12']);
  await userEvent.click(list.getByRole('button', { name: 'Show all 96' }));
  expect(new Set(links())).toEqual(new Set(ids.map((id) => `Task ${id}`)));
  await userEvent.click(list.getByRole('button', { name: 'Show fewer' }));
  expect(links()).toHaveLength(6);
});
