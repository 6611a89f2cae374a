import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { chunk } from './chunk';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a part of the app is asked for until the server is back', async () => {
  const load = vi
    .fn<() => Promise<string>>()
    .mockRejectedValueOnce(new TypeError('away'))
    .mockRejectedValueOnce(0)
    .mockResolvedValue('part');
  const got = chunk(load)();
  await vi.runAllTimersAsync();
  expect(await got).toBe('part');
  expect(load).toHaveBeenCalledTimes(3);
});

test('what never comes fails with its own error', async () => {
  const load = vi.fn<() => Promise<string>>().mockRejectedValue(new TypeError('gone'));
  const got = expect(chunk(load)()).rejects.toThrow('gone');
  await vi.runAllTimersAsync();
  await got;
  expect(load).toHaveBeenCalledTimes(6);
});

test('every part that is fetched later is fetched this way', () => {
  const src = join(import.meta.dirname, '..');
  const bare = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
    .flatMap((name) =>
      readFileSync(join(src, name), 'utf8')
        .split('\n')
        .filter((line) => /(?<!typeof )\bimport\(/.test(line) && !/chunk\(\(\) =>/.test(line))
        .map((line) => `${name}: ${line.trim()}`),
    );
  expect(bare).toEqual([]);
});
