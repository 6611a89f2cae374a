/** The names that a prompt refers to as {{name}}, each once, in order of appearance. */
export function slots(prompt: string): string[] {
  const found = [...prompt.matchAll(/\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g)].map((m) => m[1] ?? '');
  return [...new Set(found)];
}
