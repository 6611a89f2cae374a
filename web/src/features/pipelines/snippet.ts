import type { SeedExample } from '@/api';

/**
 * What creates one task over the External API, as the server's example has it. The key
 * stays a variable: it is shown only once, when it is made.
 */
export function createSnippet(origin: string, pipelineId: number, example: SeedExample): string {
  const tasks = `${origin}/api/v1/workflows/${pipelineId}/tasks`;
  const body = shellQuoted(JSON.stringify({ tasks: [{ fields: example.fields }] }));
  if (!example.upload) return request(tasks, body);
  return [
    '# 1. Say which file of the archive goes where. The answer has upload_id and upload_url.',
    request(`${tasks}/upload`, body),
    '',
    '# 2. Send the archive.',
    `curl -sS -X PUT "$UPLOAD_URL" -H 'Content-Type: application/zip' --upload-file tasks.zip`,
    '',
    '# 3. Confirm it. By GET the same address without /confirm tells how far it is.',
    `curl -sS -X POST ${tasks}/upload/$UPLOAD_ID/confirm \\`,
    `  -H "Authorization: Bearer $TASKLOOM_API_KEY"`,
  ].join('\n');
}

function request(address: string, body: string): string {
  return [
    `curl -sS ${address} \\`,
    `  -H "Authorization: Bearer $TASKLOOM_API_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${body}`,
  ].join('\n');
}

/** The required fields that the rules leave no example for. */
export function withoutExample(example: SeedExample): string[] {
  return Object.keys(example.fields).filter((name) => example.fields[name] === null);
}

/** Text as one word of a POSIX shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
