import { expect, test } from '../fixtures';
import { createTasks, pipeline } from '../world';

test('a list of 1,000 tasks is scrolled to its end, with a window of rows in the page', async ({ as }) => {
  const id = pipeline('Rows');
  const ids = await createTasks(
    id,
    Array.from({ length: 1000 }, (_, n) => ({ question: `Question ${n}` })),
  );
  const { page } = await as('pia');
  await page.goto(`/pipelines/${id}/tasks`);
  const region = page.getByRole('region', { name: /tasks/i });
  await expect(region.getByRole('link', { name: String(ids.at(-1)) })).toBeVisible();
  const first = region.getByRole('link', { name: String(ids[0]), exact: true });
  await expect(async () => {
    await region.evaluate((el) => {
      el.scrollTop = el.scrollHeight;
    });
    await expect(first).toBeVisible({ timeout: 500 });
  }).toPass({ timeout: 60_000 });
  expect(await region.getByRole('row').count()).toBeLessThan(150);

  // No frame of a long scroll waits for the list: a rule of the virtual window, seen by what is drawn.
  for (const part of [0.5, 0.1, 0.9, 0]) {
    await region.evaluate((el, p) => {
      el.scrollTop = el.scrollHeight * p;
    }, part);
    await expect.poll(() => region.getByRole('row').count()).toBeGreaterThan(5);
  }
});

test('a filter is in the address, and a bulk action reaches what is selected', async ({ as }) => {
  const id = pipeline('Rows');
  const ids = await createTasks(id, [{ question: 'a' }, { question: 'b' }]);
  const { page } = await as('pia');
  await page.goto(`/pipelines/${id}/tasks`);
  for (const task of ids) {
    await page
      .getByRole('row')
      .filter({ hasText: String(task) })
      .getByRole('checkbox')
      .check();
  }
  await page.getByRole('button', { name: 'Hold…', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/reason/i).fill('Checked by hand first');
  await dialog.getByRole('button', { name: /^Hold/ }).click();
  await dialog.getByText('Close', { exact: true }).click();
  await expect(page.getByRole('row').filter({ hasText: String(ids[0]) })).toContainText('paused');
  await page.goto(`/pipelines/${id}/tasks?held=true`);
  await expect(page.getByRole('row').filter({ hasText: String(ids[1]) })).toBeVisible();
  await expect(page.getByRole('checkbox')).toHaveCount(3); // two rows and all of them
});
