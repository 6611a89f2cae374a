import { expect, test } from '../fixtures';
import { control, createTasks, pipeline } from '../world';
import { claimNext, openTask, saved } from './work';

test('a lease that ran out hands the task on, refuses the late submit and keeps the draft', async ({ as }) => {
  const id = pipeline('Leases');
  const [task] = await createTasks(id, [{ question: 'What is 10 - 1?' }]);
  const first = await as('ada');
  first.watched.expect(/409/);
  expect(await claimNext(first.page, id)).toBe(task);
  await first.page.getByLabel('Final answer').fill('nine');
  await saved(first.page);

  await control(`/tasks/${task}/lapse`);
  const second = await as('ben');
  expect(await claimNext(second.page, id)).toBe(task);
  await expect(second.page.getByLabel('Final answer')).toHaveValue(''); // a draft is its writer's

  // Either the page has found out by itself, or the submit is refused.
  const submit = first.page.getByRole('button', { name: /^Submit/ });
  if (await submit.isVisible()) await submit.click();
  await expect(first.page.getByRole('alert').filter({ hasText: /claim/i }).first()).toBeVisible();
  await expect(first.page.getByLabel('Final answer')).toHaveValue('nine');

  await second.page.getByRole('button', { name: 'More about this task' }).click();
  await second.page.getByRole('menuitem', { name: 'Release with a reason…' }).click();
  await second.page.getByLabel('Reason').fill('It is hers.');
  await second.page.getByRole('button', { name: 'Release', exact: true }).click();
  await expect(second.page).toHaveURL(/\/work/);

  await claimNext(first.page, id);
  expect(await openTask(first.page)).toBe(task);
  await expect(first.page.getByLabel('Final answer')).toHaveValue('nine');
});
