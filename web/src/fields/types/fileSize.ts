const units = ['bytes', 'KB', 'MB', 'GB'];

/** A size in bytes as people say it, in steps of 1024. */
export function fileSize(bytes: number): string {
  let n = bytes;
  let i = 0;
  while (n >= 1024 && i < units.length - 1) {
    n /= 1024;
    i++;
  }
  return `${n < 10 && i > 0 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}
