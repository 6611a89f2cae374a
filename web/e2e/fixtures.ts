import AxeBuilder from '@axe-core/playwright';
import { type BrowserContext, test as base, expect, type Page } from '@playwright/test';
import { password, world } from './world';

/** A page that collects what must not happen on it. */
export class Watched {
  private readonly complaints: string[] = [];
  private readonly expected: RegExp[] = [];

  constructor(readonly page: Page) {
    const ours = new Set([new URL(process.env.BASE_URL ?? '').host, new URL(world.storage).host]);
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.complain(`console ${message.type()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => this.complain(`page error: ${error.message}`));
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (!['data:', 'blob:'].includes(url.protocol) && !ours.has(url.host))
        this.complain(`request to another host: ${url}`);
    });
    page.on('dialog', (dialog) => {
      if (dialog.type() !== 'beforeunload') this.complain(`a dialog opened: ${dialog.message()}`);
      void dialog.accept();
    });
  }

  /** A refusal that the journey provokes is no fault: Chromium reports each as an error. */
  expect(...these: RegExp[]) {
    this.expected.push(...these);
  }

  private complain(what: string) {
    if (!this.expected.some((e) => e.test(what))) this.complaints.push(`${this.page.url()}: ${what}`);
  }

  clean() {
    expect(this.complaints.filter((c) => !this.expected.some((e) => e.test(c)))).toEqual([]);
  }
}

interface Person {
  page: Page;
  watched: Watched;
  context: BrowserContext;
}

interface Fixtures {
  /** Opens a browser of its own in which this person of acme (or of another organization) is logged in. */
  as: (email: string, options?: { scheme?: 'light' | 'dark'; width?: number }) => Promise<Person>;
}

export const test = base.extend<Fixtures>({
  as: async ({ browser, baseURL }, use, info) => {
    const opened: Person[] = [];
    await use(async (email, options = {}) => {
      const context = await browser.newContext({
        baseURL,
        colorScheme: options.scheme ?? 'light',
        viewport: { width: options.width ?? 1280, height: 800 },
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      const page = await context.newPage();
      const person = { page, watched: new Watched(page), context };
      opened.push(person);
      await page.goto('/login');
      await page.getByLabel('Email').fill(email.includes('@') ? email : `${email}@acme.test`);
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.getByRole('button', { name: 'Log in' }).click();
      await expect(page).not.toHaveURL(/\/login/);
      return person;
    });
    for (const person of opened) {
      if (info.status === info.expectedStatus) person.watched.clean();
      await person.context.close();
    }
  },
});

export { expect };

/** No fault by WCAG 2.1 AA, as far as a machine can tell. */
export async function accessible(page: Page, where: string) {
  const found = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']).analyze();
  const faults = found.violations.map(
    (v) => `${v.id}: ${v.help}\n    ${v.nodes.map((n) => `${n.target} ${n.failureSummary}`).join('\n    ')}`,
  );
  expect(faults, `${where}: accessibility`).toEqual([]);
}

/** Nothing sticks out sideways. */
export async function fits(page: Page, where: string) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(over, `${where}: pixels to the right of the page`).toBeLessThanOrEqual(0);
}
