// Of @hey-api/openapi-ts: the description as it is served, for Node's fetch.
export default {
  input: `${process.env.BASE_URL}/openapi.json`,
  output: "taskloom",
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
};
