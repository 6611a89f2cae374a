import { defineConfig } from '@hey-api/openapi-ts';

// The console API's document is golden: `go test ./api` fails when it is not
// what the server serves. These types follow from it.
export default defineConfig({
  input: '../api/testdata/openapi-console.json',
  output: { path: 'src/api/gen' },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
});
