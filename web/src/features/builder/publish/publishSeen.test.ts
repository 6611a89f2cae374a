import { afterEach, expect, test, vi } from 'vitest';
import { consoleAPI, Refused } from '@/testing/claimPage';
import { publishSeen } from './publishSeen';

afterEach(() => vi.unstubAllGlobals());

test.each([
  ['this release', [{ note: 'n', revision: 5 }]],
  ['the one before', [{ note: 'n', revision: 5 }, { note: 'n' }]],
])('what is published is the draft that was looked at, where the server of %s can tell', async (server, bodies) => {
  const sent: unknown[] = [];
  consoleAPI({
    'POST /pipelines/3/publish': (body) => {
      sent.push(body);
      if (server === 'the one before' && Object.hasOwn(body as object, 'revision'))
        throw new Refused(422, 'the body does not fit', [{ path: 'revision', message: 'unexpected property' }]);
      return { id: 3 };
    },
  });
  await publishSeen(3, 5, ' n ');
  expect(sent).toEqual(bodies);
});
