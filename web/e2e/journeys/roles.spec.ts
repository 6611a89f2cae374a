import type { Page } from '@playwright/test';
import { expect, test } from '../fixtures';
import { createTasks, org, pipeline } from '../world';

const refused = /40[134]/;

/** Opens an address and expects that it shows nothing of what is there. */
async function closed(page: Page, path: string, secret: RegExp) {
  await page.goto(path);
  await expect(page.getByText(/not for you|nothing here|only|admins|not found/i).first(), path).toBeVisible();
  await expect(page.getByRole('main')).not.toContainText(secret);
}

test("a contributor's hands are off the builder and all that is for admins", async ({ as }) => {
  const id = pipeline('Roles');
  const [task] = await createTasks(id, [{ question: 'sunflower' }]);
  const { page, watched } = await as('dan');
  watched.expect(refused);
  for (const path of [
    `/pipelines/${id}/build`,
    `/pipelines/${id}/versions`,
    `/pipelines/${id}/tasks`,
    `/pipelines/${id}/waiting`,
    `/pipelines/${id}/uploads`,
    `/tasks/${task}`,
    `/orgs/${org('acme').id}/keys`,
    `/orgs/${org('acme').id}/members`,
    `/projects/${org('acme').projects.Journeys}/members`,
  ]) {
    await closed(page, path, /sunflower|olga|pk_live/i);
  }
  await page.goto('/');
  for (const name of ['Members', 'API keys', 'Build']) {
    await expect(page.getByRole('link', { name, exact: true })).toHaveCount(0);
  }
});

test('nothing of an organization is there for another one', async ({ as }) => {
  const id = pipeline('Roles');
  const [task] = await createTasks(id, [{ question: 'sunflower' }]);
  const { page, watched } = await as('boss@rival.test');
  watched.expect(refused);
  for (const path of [
    `/pipelines/${id}`,
    `/pipelines/${id}/build`,
    `/pipelines/${id}/tasks`,
    `/pipelines/${id}/work?role=contributor`,
    `/pipelines/${id}/uploads`,
    `/tasks/${task}`,
    `/orgs/${org('acme').id}/keys`,
    `/orgs/${org('acme').id}/members`,
    `/projects/${org('acme').projects.Journeys}`,
  ]) {
    await closed(page, path, /sunflower|Roles|Journeys|Acme/);
  }
  for (const path of ['/orgs/ID/keys', '/orgs/ID/members', '/orgs/ID/invites']) {
    const answer = await page.request.get(`/api/console${path.replace('ID', String(org('acme').id))}`);
    expect(answer.status(), path).toBe(404);
  }
});

test('an invited person joins with the role of the invitation, once', async ({ as, browser, baseURL }) => {
  const admin = await as('admin');
  await admin.page.goto(`/orgs/${org('acme').id}/members`);
  await admin.page
    .getByRole('button', { name: /^Invite/ })
    .first()
    .click();
  const dialog = admin.page.getByRole('dialog');
  await dialog.getByLabel('Email').fill('nova@acme.test');
  await dialog.getByRole('button', { name: 'Make the link' }).click();
  const link = await admin.page
    .getByText(/\/invite#/)
    .first()
    .textContent();
  const token = /#(\S+)/.exec(link ?? '')?.[1] ?? '';
  expect(token.length).toBeGreaterThan(20);

  const context = await browser.newContext({ baseURL });
  const page = await context.newPage();
  await page.goto(`/invite#${token}`);
  await page.getByLabel('Your name').fill('Nova');
  await page.getByLabel('Choose a password').fill('stellar-window-81');
  await page.getByRole('button', { name: 'Create my account' }).click();
  await expect(page).toHaveURL(/\/$/);
  await page.goto(`/orgs/${org('acme').id}/keys`);
  await expect(page.getByText(/admins/i).first()).toBeVisible();

  const again = await browser.newContext({ baseURL });
  const late = await again.newPage(); // a browser of its own: nobody is logged in
  await late.goto(`/invite#${token}`);
  await expect(late.getByRole('heading', { name: 'This invite does not work' })).toBeVisible();
  await context.close();
  await again.close();
});
