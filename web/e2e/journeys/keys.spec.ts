import { execFileSync } from 'node:child_process';
import { expect, test } from '../fixtures';
import { org, pipeline } from '../world';

/** The status that curl gets for a pipeline with a key. */
function curl(key: string): string {
  const url = `${process.env.BASE_URL}/api/v1/workflows/${pipeline('Keys')}`;
  return execFileSync('curl', [
    '-s',
    '-o',
    '/dev/null',
    '-w',
    '%{http_code}',
    '-H',
    `Authorization: Bearer ${key}`,
    url,
  ]).toString();
}

test('a key is created, used with curl, revoked, and refused', async ({ as }) => {
  const { page } = await as('admin');
  await page.goto(`/orgs/${org('acme').id}/keys`);
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Name').fill('nightly import');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();

  const key = (await page.getByTestId('key').textContent()) ?? '';
  expect(key).toMatch(/^pk_live_[0-9a-f]{40}$/);
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('button', { name: 'Close' })).toBeDisabled();
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  await expect(dialog).toBeVisible();
  await expect(dialog).toContainText(`Authorization: Bearer ${key}`);
  await dialog.getByLabel('I stored it').check();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect(dialog).toBeHidden();

  expect(curl(key)).toBe('200');
  const row = page.getByRole('row').filter({ hasText: 'nightly import' });
  await expect(row).toContainText(`pk_live_…${key.slice(-4)}`);
  await expect(page.locator('body')).not.toContainText(key);
  await expect(row).not.toContainText('Never'); // Last Used moved, without a reload

  await page.getByRole('button', { name: 'Change the expiry of nightly import' }).click();
  await page.getByRole('dialog').getByText('30 days').click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^(Change|Set|Save)/ })
    .click();
  await expect(page.getByRole('dialog')).toBeHidden();

  await page.getByRole('button', { name: 'Revoke nightly import' }).click();
  const confirm = page.getByRole('dialog').getByRole('button', { name: 'Revoke key' });
  await expect(confirm).toBeDisabled();
  await page.getByRole('dialog').getByRole('textbox').fill('revoke');
  await confirm.click();
  await expect(row).toContainText('revoked');
  expect(curl(key)).toBe('401');
  await expect(page.getByRole('row').last()).toContainText('nightly import'); // below the active one
});
