import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { accessible, expect, fits, test } from '../fixtures';
import { createTasks, org, pipeline } from '../world';
import { claimNext } from './work';

/** Every page by who uses it; the paths are made when the world is there. */
const pages: Record<string, (id: number, task: number) => string[]> = {
  admin: (id, task) => [
    '/',
    '/work',
    '/projects',
    `/projects/${org('acme').projects.Journeys}`,
    `/pipelines/${id}`,
    `/pipelines/${id}/build`,
    `/pipelines/${id}/versions`,
    `/pipelines/${id}/tasks`,
    `/tasks/${task}`,
    `/pipelines/${id}/waiting`,
    `/pipelines/${id}/uploads`,
    `/orgs/${org('acme').id}/keys`,
    `/orgs/${org('acme').id}/members`,
    `/projects/${org('acme').projects.Journeys}/members`,
    '/account',
    '/nowhere',
  ],
  ada: (id) => ['/', '/work', `/pipelines/${id}/work?role=contributor`, '/history', '/account'],
  rita: (id) => ['/', '/work', `/pipelines/${id}/work?role=reviewer`],
};

const rows = [1, 2, 3].map((n) => ({ question: `How much is ${n} and ${n}?` }));

/** The page as it looks when nothing is on its way. */
async function settled(page: Page) {
  await expect(page.getByRole('heading', { level: 1 })).toHaveCount(1);
  await expect(page.locator('.mantine-Skeleton-root')).toHaveCount(0);
  await expect(page.locator('.mantine-Loader-root')).toHaveCount(0);
  await page.waitForLoadState('networkidle');
}

async function sound(page: Page, where: string, shot: string) {
  await settled(page);
  await accessible(page, where);
  await fits(page, where);
  const folder = process.env.E2E_SHOTS;
  if (folder) {
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: join(folder, `${shot}.png`) });
  }
}

for (const scheme of ['light', 'dark'] as const) {
  for (const [who, paths] of Object.entries(pages)) {
    test(`every page of ${who} is sound, ${scheme}, wide and narrow`, async ({ as }) => {
      test.setTimeout(600_000);
      const id = pipeline('Pages');
      const [task] = await createTasks(id, rows);
      const { page, watched } = await as(who, { scheme });
      watched.expect(/404/);
      for (const path of paths(id, task as number)) {
        for (const width of [1280, 360]) {
          await page.setViewportSize({ width, height: 800 });
          await page.goto(path);
          const name = `${who}${path.replace(/[/?=]/g, '-').replace(/\d+/g, 'N')}`;
          await sound(page, `${path} as ${who}, ${scheme}, ${width} px`, `${name}-${scheme}-${width}`);
        }
      }
    });
  }

  test(`the doors and a task at work are sound, ${scheme}`, async ({ as, browser, baseURL }) => {
    test.setTimeout(600_000);
    const id = pipeline('Pages');
    await createTasks(id, rows);
    const context = await browser.newContext({ baseURL, colorScheme: scheme });
    const door = await context.newPage();
    const said: string[] = [];
    door.on('console', (m) => ['error', 'warning'].includes(m.type()) && said.push(m.text()));
    await door.goto('/login');
    await sound(door, `/login, ${scheme}`, `login-${scheme}`);
    expect(said).toEqual([]);
    await door.goto('/invite');
    await sound(door, `/invite, ${scheme}`, `invite-${scheme}`);
    await context.close();

    const { page } = await as(scheme === 'light' ? 'ada' : 'ben', { scheme });
    await claimNext(page, id);
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await sound(page, `a claim, ${scheme}, ${width} px`, `claim-${scheme}-${width}`);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await expect(page.getByRole('dialog')).toBeVisible();
    await sound(page, `the keys, ${scheme}`, `keys-sheet-${scheme}`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await expect(page.getByRole('dialog')).toBeVisible();
    await accessible(page, `the palette, ${scheme}`);
  });
}
