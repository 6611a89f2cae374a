import { expect, it } from 'vitest';
import type { Queue } from '@/api';
import { byNeed, most } from './queues';

const queue = (pipeline: string, available: number, returned = 0, mine = 0): Queue => ({
  org_id: 1,
  project_id: 1,
  project: 'P',
  pipeline_id: 1,
  pipeline,
  status: 'ACTIVE',
  role: 'contributor',
  available,
  returned,
  mine,
  claimed_by_others: 0,
});

it('puts what is kept for the person before what anybody may take', () => {
  const list = [queue('c', 5), queue('b', 9), queue('a', 9), queue('kept', 0, 1), queue('held', 0, 0, 2)];
  expect(byNeed(list).map((q) => q.pipeline)).toEqual(['held', 'kept', 'a', 'b', 'c']);
  expect(list[0]?.pipeline).toBe('c'); // the cache's own list stays as it is
});

it('says where the server stopped counting', () => {
  expect([most(0), most(99), most(100)]).toEqual(['0', '99', '100+']);
});
