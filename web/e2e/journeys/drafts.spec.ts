import { expect, test } from '../fixtures';
import { control, createTasks, pipeline, taskStatus } from '../world';
import { claimNext, oneAtATime, saved } from './work';

const lost = /Failed to load resource|ERR_CONNECTION_REFUSED|net::ERR/;

test('a draft survives a reload and kill -9 of the API, and is handed in afterwards', async ({ as }) => {
  const id = pipeline('Drafts');
  const [task] = await createTasks(id, [{ question: 'What is 6 × 7?' }]);
  const { page, watched } = await as('cleo');
  await claimNext(page, id);
  const answer = page.getByLabel('Final answer');
  await answer.fill('41');
  await saved(page);

  await page.reload();
  await expect(answer).toHaveValue('41');

  watched.expect(lost);
  await control('/serve/halt');
  await answer.fill('42');
  await expect(page.getByText('Offline, kept here')).toBeVisible();
  await control('/serve/start');
  await saved(page);
  await page.reload();
  await expect(answer).toHaveValue('42');

  await oneAtATime(page);
  await page.getByRole('button', { name: 'Submit', exact: false }).click();
  await expect(page).toHaveURL(/\/work/);
  await expect.poll(async () => (await taskStatus(id, task as number)).status).toBe('in_progress');
});

test('who goes to the queue by its link and comes back finds what was saved', async ({ as }) => {
  const id = pipeline('Drafts');
  await createTasks(id, [{ question: 'What is 8 + 8?' }]);
  const { page } = await as('cleo');
  const task = await claimNext(page, id);
  const answer = page.getByLabel('Final answer');
  await answer.fill('16');
  await saved(page);
  await page.getByRole('main').getByRole('link', { name: 'Drafts', exact: true }).click();
  await expect(page).toHaveURL(/\/work/);
  await page.getByRole('link', { name: `Go on with task ${task}`, exact: true }).click();
  await expect(page).toHaveURL(/\/claims\//);
  await expect(answer).toHaveValue('16');
});

test('typing goes on while the server is away, and survives a reload of the page', async ({ as }) => {
  const id = pipeline('Drafts');
  await createTasks(id, [{ question: 'What is 2 + 2?' }]);
  const { page, watched } = await as('dan');
  await claimNext(page, id);
  const answer = page.getByLabel('Final answer');
  await answer.fill('3');
  await saved(page);
  // Only this page loses the connection: the others go on.
  watched.expect(lost);
  await page.context().setOffline(true);
  await answer.fill('4');
  await expect(page.getByText('Offline, kept here')).toBeVisible();
  await page.context().setOffline(false);
  await page.reload();
  await expect(answer).toHaveValue('4');
  await saved(page);
});

test('a lost session asks for the login over the page and loses nothing', async ({ as }) => {
  const id = pipeline('Drafts');
  await createTasks(id, [{ question: 'What is 3 × 3?' }]);
  const { page, watched } = await as('ben');
  await claimNext(page, id);
  const url = page.url();
  watched.expect(/401/);
  await control('/sessions/ben@acme.test/end');
  await page.getByLabel('Final answer').fill('9');
  await expect(page.getByRole('dialog', { name: 'You were logged out' })).toBeVisible();
  await page.getByRole('dialog').getByLabel('Password', { exact: true }).fill('correct-horse-7');
  await page.getByRole('dialog').getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
  expect(page.url()).toBe(url);
  await expect(page.getByLabel('Final answer')).toHaveValue('9');
  await saved(page);
});

test('two tabs with the same task do not overwrite each other in silence', async ({ as }) => {
  const id = pipeline('Drafts');
  await createTasks(id, [{ question: 'What is 5 × 5?' }]);
  const { page, watched, context } = await as('ada');
  watched.expect(/409/);
  await claimNext(page, id);
  await page.getByLabel('Final answer').fill('first tab');
  await saved(page);
  const second = await context.newPage();
  await second.goto(page.url());
  await expect(second.getByLabel('Final answer')).toHaveValue('first tab');
  await second.getByLabel('Final answer').fill('second tab');
  await saved(second);
  // The first tab shows what the second wrote, or says that there are two.
  await expect
    .poll(
      async () =>
        (await page.getByLabel('Final answer').inputValue()) === 'second tab' ||
        (await page
          .getByText(/another tab|two versions/i)
          .first()
          .isVisible()),
    )
    .toBe(true);
});

test('an old form on one device is not handed in over what was written on another', async ({ as }) => {
  const id = pipeline('Drafts');
  const [task] = await createTasks(id, [{ question: 'What is 7 × 7?' }]);
  const laptop = await as('dan');
  laptop.watched.expect(/409/);
  await claimNext(laptop.page, id);
  await laptop.page.getByLabel('Final answer').fill('laptop');
  await saved(laptop.page);
  const phone = await as('dan', { width: 400 });
  await phone.page.goto(laptop.page.url());
  await expect(phone.page.getByLabel('Final answer')).toHaveValue('laptop');
  await phone.page.getByLabel('Final answer').fill('phone');
  await saved(phone.page);

  await oneAtATime(laptop.page);
  await laptop.page.getByRole('button', { name: 'Submit', exact: false }).click();
  const choice = laptop.page.getByRole('alert').filter({ hasText: 'This was saved somewhere else, too' });
  await expect(choice).toContainText('phone');
  await expect(laptop.page.getByLabel('Final answer')).toHaveValue('laptop');
  await choice.getByRole('button', { name: 'Take what was saved there' }).click();
  await expect(laptop.page.getByLabel('Final answer')).toHaveValue('phone');
  await laptop.page.getByRole('button', { name: 'Submit', exact: false }).click();
  await expect(laptop.page).toHaveURL(/\/work/);
  await expect.poll(async () => (await taskStatus(id, task as number)).status).toBe('in_progress');
});
