/** What the server takes a file for by its name, where bytes, and so browsers, cannot tell: internal/filetype. */
const byName = new Map(
  Object.entries({
    csv: 'text/csv',
    json: 'application/json',
    m4a: 'audio/mp4',
    md: 'text/markdown',
    srt: 'application/x-subrip',
    tsv: 'text/tab-separated-values',
    vtt: 'text/vtt',
    weba: 'audio/webm',
    webm: 'audio/webm',
    yaml: 'application/yaml',
    yml: 'application/yaml',
  }),
);

/** The media types that a file may pass for: the browser's, and by its name. */
export function kindsOf(file: Pick<File, 'name' | 'type'>): string[] {
  const kind = byName.get(file.name.slice(file.name.lastIndexOf('.') + 1).toLowerCase());
  return kind ? [file.type, kind] : [file.type];
}
