import { expect, type Page } from '@playwright/test';

export type Role = 'contributor' | 'reviewer';

/** Claims the next node of a pipeline in the web app and returns the task's id. */
export async function claimNext(page: Page, pipelineId: number, role: Role = 'contributor'): Promise<number> {
  await page.goto(`/pipelines/${pipelineId}/work?role=${role}`);
  await page.getByRole('button', { name: /^Start the next/ }).click();
  await expect(page).toHaveURL(/\/claims\//);
  return openTask(page);
}

/** The id of the task whose claim is on the page. */
export async function openTask(page: Page): Promise<number> {
  const text = await page
    .getByText(/^Task \d+/)
    .first()
    .textContent();
  return Number(/\d+/.exec(text ?? '')?.[0]);
}

/** Leaves the next claim out of the flow of a journey. */
export async function oneAtATime(page: Page): Promise<void> {
  const next = page.getByRole('switch', { name: 'Then open the next one' });
  if (await next.isChecked()) await next.click({ force: true });
  await expect(next).not.toBeChecked();
}

export async function saved(page: Page): Promise<void> {
  await expect(page.getByRole('status').filter({ hasText: /^Saved/ })).toBeVisible();
}
