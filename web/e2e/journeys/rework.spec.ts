import { expect, test } from '../fixtures';
import { createTasks, pipeline, taskStatus } from '../world';
import { claimNext, oneAtATime, openTask } from './work';

test('two contributors and a reviewer take tasks through a rejection to finished', async ({ as }) => {
  const id = pipeline('Rework');
  const tasks = await createTasks(id, [{ question: 'What is 7 × 8?' }, { question: 'What is 9 × 9?' }]);
  const [ada, ben, rita] = [await as('ada'), await as('ben'), await as('rita')];

  const adasTask = await claimNext(ada.page, id);
  const bensTask = await claimNext(ben.page, id);
  expect(new Set([adasTask, bensTask])).toEqual(new Set(tasks));

  // The form holds people to its rules: hidden, then shown and required to make sense.
  await expect(ada.page.getByLabel('What is unclear?')).toHaveCount(0);
  await oneAtATime(ada.page);
  await ada.page.getByRole('button', { name: /^Submit/ }).click();
  await expect(ada.page.getByLabel('Final answer')).toBeFocused();
  await ada.page.getByLabel('Final answer').fill('54');
  await ada.page.getByRole('button', { name: /^Submit/ }).click();
  await expect(ada.page).toHaveURL(/\/work/);
  await oneAtATime(ben.page);
  await ben.page.getByLabel('Final answer').fill('81');
  await ben.page.getByRole('button', { name: /^Submit/ }).click();
  await expect(ben.page).toHaveURL(/\/work/);

  // The reviewer sends hers back with a word on the field, and accepts his.
  const answers = { [adasTask]: '54', [bensTask]: '81' };
  const waiting = new Set(tasks);
  while (waiting.size > 0) {
    await expect(async () => {
      await claimNext(rita.page, id, 'reviewer');
    }).toPass();
    const task = await openTask(rita.page);
    await expect(rita.page.getByRole('main')).toContainText(answers[task] as string);
    await oneAtATime(rita.page);
    if (task === adasTask) await reject(rita.page, 'Count again: seven times eight.');
    else
      await rita.page
        .getByRole('button', { name: /^Accept/ })
        .first()
        .click();
    await expect(rita.page).toHaveURL(/\/work/);
    waiting.delete(task);
  }
  await expect.poll(async () => (await taskStatus(id, bensTask)).status).toBe('finished');

  await expect(async () => {
    expect(await claimNext(ada.page, id)).toBe(adasTask);
  }).toPass();
  await expect(ada.page.getByText('Count again: seven times eight.').first()).toBeVisible();
  await expect(ada.page.getByLabel('Final answer')).toHaveValue('54');
  await ada.page.getByLabel('Final answer').fill('56');
  await ada.page.getByRole('button', { name: /^Submit/ }).click();

  await expect(async () => {
    await claimNext(rita.page, id, 'reviewer');
  }).toPass();
  await expect(rita.page.getByRole('main')).toContainText('56');
  await expect(rita.page.locator('ins, del').first()).toBeVisible(); // against the earlier attempt
  await rita.page
    .getByRole('button', { name: /^Accept/ })
    .first()
    .click();
  await expect.poll(async () => (await taskStatus(id, adasTask)).status).toBe('finished');

  const admin = await as('pia');
  await admin.page.goto(`/tasks/${adasTask}`);
  await expect(admin.page.getByRole('main')).toContainText('Count again: seven times eight.');
  await expect(admin.page.getByRole('link', { name: /temporal/i })).toHaveAttribute(
    'href',
    new RegExp(`task(%2F|/)${adasTask}`),
  );

  async function reject(page: typeof rita.page, why: string) {
    await page
      .getByRole('button', { name: /^Reject/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill(why);
    await dialog
      .getByRole('button', { name: /reject/i })
      .last()
      .click();
  }
});
