import { defineConfig } from '@playwright/test';

/** Run by e2e_test.go, which starts the product and sets the environment. */
export default defineConfig({
  testDir: './journeys',
  outputDir: process.env.E2E_RESULTS ?? '../results',
  workers: 2,
  fullyParallel: false,
  timeout: 180_000, // the machine may have much else to do
  expect: { timeout: 20_000 },
  forbidOnly: true,
  retries: 0,
  reporter: [['list']],
  projects: [
    { name: 'together', testIgnore: /drafts\.spec/ },
    // It takes the server away, from everybody. E2E_ARGS="drafts.spec.ts --no-deps" runs it without the others.
    { name: 'alone', testMatch: /drafts\.spec/, dependencies: ['together'] },
  ],
  use: {
    baseURL: process.env.BASE_URL,
    viewport: { width: 1280, height: 800 },
    timezoneId: 'UTC',
    locale: 'en-US',
    actionTimeout: 20_000,
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: process.env.CHROMIUM_PATH || '/usr/bin/chromium',
      args: [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--disable-dev-shm-usage',
      ],
    },
  },
});
