/** Waits for something, but no longer than so many milliseconds. Who waits goes on either way, and looks what came of it. */
export async function atMost(ms: number, what: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([what, enough]).finally(() => clearTimeout(timer));
}
