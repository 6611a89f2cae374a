import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// In development the API is that of a running `make dev`.
const server = process.env.TASKLOOM_URL ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { '@': new URL('./src', import.meta.url).pathname } },
  build: {
    manifest: true, // read by tools/budget.mjs, not served
    sourcemap: false,
    // These know light-dark(): rewritten for older ones it loses Mantine's color scheme.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    chunkSizeWarningLimit: 800,
    // What every component shares, apart: else it lands in one chunk with the
    // positioning of menus, and takes that along into the first load.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'mantine', test: /@mantine\/core\/esm\/core\// }] } },
    },
  },
  server: { proxy: { '/api': { target: server, changeOrigin: false } } },
  test: {
    environment: 'jsdom',
    setupFiles: ['./src/testing/setup.ts'],
    maxWorkers: '100%', // by default one core is left idle, which is half of a small machine
    include: ['src/**/*.test.{ts,tsx}'],
  },
});
