import { expect, test } from '../fixtures';
import { createTasks, pipeline, world } from '../world';
import { claimNext, oneAtATime } from './work';

// One white pixel.
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

test('a file goes straight to storage, is shown to the reviewer, and a disguised one is refused', async ({ as }) => {
  const id = pipeline('Files');
  const [task] = await createTasks(id, [{ topic: 'A white pixel' }]);
  const ada = await as('ada');
  ada.watched.expect(/422|409/); // a save that was on its way when it was handed in
  expect(await claimNext(ada.page, id)).toBe(task);
  const puts: string[] = [];
  ada.page.on(
    'request',
    (r) => r.method() === 'PUT' && !r.url().includes('/api/console/') && puts.push(new URL(r.url()).host),
  );

  const chooser = ada.page.locator('input[type=file]');
  await chooser.setInputFiles({
    name: 'page.png',
    mimeType: 'image/png',
    buffer: Buffer.from('<html><script>alert(1)</script>'),
  });
  await expect(ada.page.getByText(/page\.png/).first()).toBeVisible();
  await expect(ada.page.getByText(/not|refused|html/i).first()).toBeVisible();

  await ada.page.getByRole('button', { name: 'Cancel page.png' }).click();
  await chooser.setInputFiles({ name: 'pixel.png', mimeType: 'image/png', buffer: png });
  await expect(ada.page.getByRole('main')).toContainText('pixel.png');
  await oneAtATime(ada.page);
  await ada.page.getByRole('button', { name: /^Submit/ }).click();
  await expect(ada.page).toHaveURL(/\/work/);
  expect(new Set(puts)).toEqual(new Set([new URL(world.storage).host]));

  const rita = await as('rita');
  await expect(async () => {
    await claimNext(rita.page, id, 'reviewer');
  }).toPass();
  await expect(rita.page.getByRole('main')).toContainText('pixel.png');
});
