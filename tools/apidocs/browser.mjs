// Opens the pages of the API's description in a real browser and uses them:
//   node browser.mjs BASE-URL API-KEY WORKFLOW-ID WORKFLOW-NAME SCREENSHOT-DIRECTORY CHECK...
// The checks are bearer and apiKey, which make a call on /docs, and redoc.
// Fails on whatever the browser complains about, and on any request to another
// host. CHROMIUM_PATH names another browser than Debian's.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [base, key, workflow, name, pictures, ...wanted] = process.argv.slice(2);
const host = new URL(base).host;

const profile = mkdtempSync(join(tmpdir(), 'apidocs-'));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM_PATH || '/usr/bin/chromium',
  viewport: { width: 1280, height: 900 },
  args: [
    '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
  ],
});

// open opens a page and collects what must not happen on it.
async function open(path) {
  const page = await browser.newPage();
  page.setDefaultTimeout(90_000); // the machine may have much else to do
  const complaints = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`page error: ${error.message}`));
  page.on('requestfailed', (request) => complaints.push(`failed request: ${request.url()} ${request.failure()?.errorText}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (!['data:', 'blob:'].includes(url.protocol) && url.host !== host) complaints.push(`request to another host: ${url}`);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      console.error(`CSP: ${event.violatedDirective} blocked ${event.blockedURI} ${event.sample}`);
    });
  });
  const answer = await page.goto(base + path);
  assert.equal(answer.status(), 200, path);
  await page.waitForSelector('html[data-ready="true"]');
  return { page, clean: () => assert.deepEqual(complaints, [], `${path}: the browser complains`) };
}

const picture = (page, file) => page.screenshot({ path: join(pictures, file) });

async function authorize(page, scheme) {
  await page.getByRole('button', { name: 'Authorize', exact: true }).click();
  const dialog = page.locator('.dialog-ux');
  await dialog.getByRole('heading', { name: 'bearer' }).waitFor();
  await dialog.getByRole('heading', { name: 'apiKey' }).waitFor();
  assert.equal(await dialog.locator('.auth-container').count(), 2, 'both ways to send a key are offered');
  const form = dialog.locator('.auth-container', { hasText: scheme === 'bearer' ? /bearer/ : /X-API-Key/ });
  await form.locator('input').fill(key);
  await picture(page, `authorize-${scheme}.png`);
  await form.getByRole('button', { name: 'Apply credentials' }).click();
  await form.getByRole('button', { name: 'Close', exact: true }).click();
}

// execute sends an operation on the workflow, as the page fills it in, and
// returns what the page shows of the answer.
async function execute(page, id) {
  const operation = page.locator(`[id$="-${id}"].opblock`);
  await operation.locator('.opblock-summary-control').click();
  await operation.locator('tr[data-param-name="workflow_id"] input').fill(workflow);
  await operation.getByRole('button', { name: 'Execute' }).click();
  const live = operation.locator('.live-responses-table');
  await live.waitFor();
  const status = await live.locator('.response-col_status').last().innerText();
  const body = await live.locator('.highlight-code pre, .highlight-code code').first().innerText();
  return { operation, status: Number.parseInt(status, 10), body, curl: await operation.locator('.curl-command').innerText() };
}

async function swagger(scheme, header) {
  const { page, clean } = await open('/api/v1/docs');
  if (scheme === 'bearer') await picture(page, 'docs.png');
  await authorize(page, scheme);
  const { operation, status, body, curl } = await execute(page, 'getWorkflow');
  assert.equal(status, 200, body);
  const answer = JSON.parse(body);
  assert.equal(answer.workflow_id, Number(workflow));
  assert.equal(answer.name, name);
  assert.match(curl, header);
  await operation.scrollIntoViewIfNeeded();
  await picture(page, `try-it-out-${scheme}.png`);
  const created = await execute(page, 'createTasks');
  assert.equal(created.status, 200, created.body);
  assert.equal(JSON.parse(created.body).task_ids.length, JSON.parse(created.body).success_count);
  await created.operation.locator('.body-param').scrollIntoViewIfNeeded();
  await picture(page, `create-${scheme}.png`);
  const listed = await execute(page, 'listTasks');
  assert.equal(listed.status, 200, listed.body);
  assert.ok(JSON.parse(listed.body).tasks.length > 0);
  clean();
  await page.close();
}

async function redoc() {
  const { page, clean } = await open('/api/v1/redoc');
  await page.locator('[id="tag/Tasks/operation/createTasks"] h2').waitFor();
  // The search works in a worker that Redoc makes from a blob.
  await page.locator('input[placeholder="Search..."]').fill('status of a task');
  await page.locator('[data-role="search:results"] li').first().waitFor();
  await picture(page, 'redoc-search.png');
  await page.locator('input[placeholder="Search..."]').fill('');
  await picture(page, 'redoc.png');
  await page.locator('[id="tag/Tasks/operation/createTasks"]').scrollIntoViewIfNeeded();
  await picture(page, 'redoc-operation.png');
  clean();
  await page.close();
}

const checks = {
  bearer: () => swagger('bearer', /Authorization: Bearer pk_live_/),
  apiKey: () => swagger('apiKey', /X-API-Key: pk_live_/),
  redoc,
};

try {
  assert.ok(wanted.length > 0, 'nothing to check');
  for (const check of wanted) await checks[check]();
  console.log(`${wanted.join(', ')}: fine in Chromium ${browser.browser()?.version() ?? ''}`);
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
}
