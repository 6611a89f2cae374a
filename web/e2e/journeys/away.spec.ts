import { expect, test } from '../fixtures';
import { pipeline } from '../world';

test('a part of the app that cannot be fetched at first comes when the server is back', async ({ as }) => {
  const { page, watched } = await as('pia');
  watched.expect(/net::ERR_FAILED/);
  const failed: string[] = [];
  await page.route(/\/assets\/TasksPage-.*\.(js|css)$/, async (route) => {
    const { pathname } = new URL(route.request().url());
    if (failed.includes(pathname)) return route.continue();
    failed.push(pathname);
    return route.abort();
  });
  await page.goto(`/pipelines/${pipeline('Pages')}/tasks`);
  const list = page.getByRole('region', { name: /tasks/i }).or(page.getByRole('heading', { name: 'No tasks yet' }));
  await expect(list).toBeVisible();
  expect(failed.some((f) => f.endsWith('.js'))).toBe(true);
  expect(failed.some((f) => f.endsWith('.css'))).toBe(true);
  // Its style has come, too: no sheet is missing.
  await expect
    .poll(() =>
      page.evaluate(
        () => [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')].filter((l) => !l.sheet).length,
      ),
    )
    .toBe(0);
});
