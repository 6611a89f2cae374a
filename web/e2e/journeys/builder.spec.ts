import type { Page } from '@playwright/test';
import { expect, test } from '../fixtures';
import { createTasks, org, v1 } from '../world';

const project = () => org('acme').projects.Journeys as number;

/** The pipeline whose builder is open. */
function idOf(page: Page): number {
  return Number(/pipelines\/(\d+)/.exec(page.url())?.[1]);
}

const draftSaved = (page: Page) => expect(page.getByText(/^(All )?saved/i).first()).toBeVisible();

/** Its keys work: a task can be created in it. */
async function takesTasks(id: number, seeds: Record<string, unknown>) {
  const workflow = await v1<{ status: string }>('GET', `/workflows/${id}`);
  expect(workflow.status).toBe('ACTIVE');
  expect(await createTasks(id, [seeds])).toHaveLength(1);
}

test('a pipeline is built, checked, previewed and published by mouse', async ({ as }) => {
  const { page } = await as('pia');
  await page.goto(`/projects/${project()}`);
  await page.getByRole('button', { name: 'New pipeline' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(`Built by mouse ${test.info().repeatEachIndex}`);
  await page.getByRole('dialog').getByRole('radio').first().click();
  await page.getByRole('button', { name: 'Create and build' }).click();
  await expect(page).toHaveURL(/\/build/);

  const outline = page.getByRole('navigation', { name: 'Steps of the pipeline' });
  const panel = page.getByRole('region', { name: 'Properties' });
  await outline.getByRole('button', { name: /^Start/ }).click();
  await page.getByRole('button', { name: /^Step/ }).first().click();
  await panel.getByLabel('Title', { exact: true }).fill('Describe it');
  await panel.getByRole('button', { name: 'Add a field' }).click();
  await page.getByRole('menuitem', { name: /^Short text/ }).click();
  await panel.getByLabel('Title', { exact: true }).fill('Description');
  await panel.getByLabel('Title', { exact: true }).blur();

  // A review after it checks the step before it; without, the checklist says so and leads there.
  await outline.getByRole('button', { name: /^Describe it/ }).click();
  await page
    .getByRole('button', { name: /^Review/ })
    .first()
    .click();
  const target = panel.getByRole('checkbox', { name: 'Describe it' });
  await expect(target).toBeChecked();
  await target.uncheck();
  await outline.getByRole('button', { name: /^Pipeline/ }).click();
  await page.getByRole('button', { name: /^Checklist, 1 to do/ }).click();
  const list = page.getByRole('dialog');
  await list
    .getByRole('button')
    .filter({ hasText: /review|check|subtask/i })
    .first()
    .click();
  await expect(list).toBeHidden();
  await target.check();

  // Drawn on the canvas, not only listed.
  const graph = page.getByRole('region', { name: 'Graph of the pipeline' });
  await expect(graph.locator('.react-flow__node')).toHaveCount(5);
  await graph.locator('.react-flow__node').filter({ hasText: 'Describe it' }).first().click();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: 'Redo' }).click();
  await draftSaved(page);

  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  await expect(page.getByRole('dialog').getByLabel('Description')).toBeVisible();
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByRole('dialog').getByLabel('What is new').fill('The first one');
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Publish/ })
    .click();
  await expect(page.getByRole('dialog')).toBeHidden();
  await takesTasks(idOf(page), {});

  await page.goto(`/pipelines/${idOf(page)}/versions`);
  await expect(page.getByText('The first one')).toBeVisible();

  // Opened anew it begins below the toolbar, which lies over the graph.
  await page.goto(`/pipelines/${idOf(page)}/build`);
  const first = graph.locator('.react-flow__node').first();
  await expect(first).toBeVisible();
  const isBelow = () =>
    expect(async () => {
      const [tools, start] = [await graph.locator('.react-flow__panel.top').boundingBox(), await first.boundingBox()];
      if (!tools || !start) throw new Error('the toolbar and the start have no place');
      expect(start.y).toBeGreaterThanOrEqual(tools.y + tools.height);
    }).toPass({ timeout: 10_000 });
  await isBelow();
  await graph.locator('.react-flow__controls-fitview').click();
  await isBelow();
});

test('a pipeline is built and published by keyboard only', async ({ as }) => {
  const { page } = await as('pia');
  await page.goto(`/projects/${project()}`);
  const keys = page.keyboard;
  /** Goes with Tab to what has this name. */
  const tabTo = async (name: RegExp, back = false) => {
    for (let n = 0; n < 120; n++) {
      await keys.press(back ? 'Shift+Tab' : 'Tab');
      const at = await page.evaluate(() => {
        const el = document.activeElement as HTMLElement | null;
        const label = (el as HTMLInputElement | null)?.labels?.[0]?.textContent ?? '';
        return `${el?.getAttribute('aria-label') ?? ''} ${label} ${el?.tagName === 'INPUT' ? '' : (el?.textContent ?? '')}`.trim();
      });
      if (name.test(at)) return;
    }
    throw new Error(`Tab never reached ${name}`);
  };
  await tabTo(/^New pipeline/);
  await keys.press('Enter');
  await expect(page.getByRole('dialog')).toBeVisible();
  await expect(page.getByRole('dialog').getByLabel('Name')).toBeFocused();
  await keys.type(`Built by keyboard ${test.info().repeatEachIndex}`);
  await tabTo(/^Create and build/);
  await keys.press('Enter');
  await expect(page).toHaveURL(/\/build/);
  const graph = page.getByRole('region', { name: 'Graph of the pipeline' });
  await expect(graph.locator('.react-flow__node')).not.toHaveCount(0);

  // Walk to the start, add a step behind it, name it, give it a field.
  const before = await graph.locator('.react-flow__node').count();
  await keys.press('n');
  await expect(graph.locator('.react-flow__node')).toHaveCount(before + 1);
  await keys.press('F2');
  await expect(page.getByRole('region', { name: 'Properties' }).getByLabel('Title', { exact: true })).toBeFocused();
  await keys.press('Control+a');
  await keys.type('Say hello');
  await tabTo(/^Add a field/);
  await keys.press('Enter');
  await expect(page.getByRole('menuitem', { name: /^Short text/ })).toBeVisible();
  await page.waitForFunction(
    () =>
      document.activeElement?.getAttribute('role') === 'menuitem' ||
      document.activeElement?.getAttribute('role') === 'menu',
  );
  for (let n = 0; n < 40; n++) {
    const at = await page.evaluate(() => document.activeElement?.textContent ?? '');
    if (/^Short text/.test(at)) break;
    await keys.press('ArrowDown');
  }
  await keys.press('Enter');
  await tabTo(/^Title/);
  await keys.press('Control+a');
  await keys.type('Greeting');
  await draftSaved(page);

  await keys.press('Escape');
  await keys.press('Control+Enter');
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('What is new')).toBeFocused();
  await keys.type('By keyboard');
  await tabTo(/^Publish/);
  await keys.press('Enter');
  await expect(dialog).toBeHidden();
  await takesTasks(idOf(page), {});
});

test('two admins at one draft: the second is told, and nothing is overwritten', async ({ as }) => {
  const [pia, olga] = [await as('pia'), await as('admin')];
  pia.watched.expect(/409/);
  olga.watched.expect(/409/);
  await pia.page.goto(`/projects/${project()}`);
  await pia.page.getByRole('button', { name: 'New pipeline' }).click();
  await pia.page.getByRole('dialog').getByLabel('Name').fill('Shared draft');
  await pia.page.getByRole('button', { name: 'Create and build' }).click();
  await expect(pia.page).toHaveURL(/\/build/);
  await olga.page.goto(`/pipelines/${idOf(pia.page)}/build`);
  const about = (page: Page) => page.getByRole('region', { name: 'Properties' }).getByLabel('Description');
  await olga.page
    .getByRole('button', { name: /^Pipeline/ })
    .first()
    .click();
  await about(olga.page).fill('Written by Olga');
  await draftSaved(olga.page);
  await pia.page
    .getByRole('button', { name: /^Pipeline/ })
    .first()
    .click();
  // She hears of it while she looks, or at the latest when she saves.
  await expect(async () => {
    if (!(await pia.page.getByText(/Olga/).first().isVisible()))
      await about(pia.page).fill(`Written by Pia ${Date.now()}`);
    await expect(pia.page.getByText(/Olga/).first()).toBeVisible({ timeout: 3000 });
  }).toPass();
  await olga.page.reload();
  await olga.page
    .getByRole('button', { name: /^Pipeline/ })
    .first()
    .click();
  await expect(about(olga.page)).toHaveValue('Written by Olga');
});
