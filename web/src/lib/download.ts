/** Offers text as a file of that name. */
export function download(filename: string, text: string, type = 'text/plain;charset=utf-8') {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const a = document.createElement('a');
  a.href = url;
  a.download = filename;
  document.body.append(a);
  a.click();
  a.remove();
  // The browser reads the address after the click returns.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
