import { beforeEach, expect, test, vi } from 'vitest';
import { logout } from '@/api';
import { confirm } from '@/ui/ConfirmDialog';
import { leave } from './actions';
import { session } from './session';
import { beforeLeaving, unsent } from './unsent';

vi.mock('@/api', async (original) => ({ ...(await original<object>()), logout: vi.fn(async () => ({})) }));
vi.mock('@/ui/ConfirmDialog', () => ({ confirm: vi.fn() }));

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
  vi.clearAllMocks();
  vi.spyOn(session, 'left').mockImplementation(() => {});
});

const put = (key: string, value: unknown) => localStorage.setItem(key, JSON.stringify(value));

test('only what the server does not have is unsent work', () => {
  put('taskloom.draft.1.12.solve', { claimId: 'c1', revision: 2 });
  put('taskloom.builder.outline', true);
  expect(unsent()).toBe('');
  put('taskloom.draft.1.13.solve', { claimId: 'c2', revision: 2, values: { a: 1 } });
  expect(unsent()).toBe('answers of 1 task');
  put('taskloom.draft.1.13.solve@k3', { claimId: 'c2', revision: 2, values: { a: 2 } });
  expect(unsent()).toBe('answers of 1 task');
  put('taskloom.review.7.12.check.1', { at: 1, notes: {} });
  put('taskloom.review.1.14.check.1', { at: 1, notes: {} });
  put('taskloom.builder.1.3', {});
  expect(unsent()).toBe('answers of 1 task, comments on 2 reviews and changes of 1 pipeline');
});

test('logging out asks before it erases work, and a no is a no', async () => {
  put('taskloom.review.1.12.check.1', { at: 1, notes: {} });
  vi.mocked(confirm).mockResolvedValue(false);
  await leave();
  expect(vi.mocked(confirm).mock.calls[0]?.[0].body).toContain('comments on 1 review');
  expect(logout).not.toHaveBeenCalled();
  vi.mocked(confirm).mockResolvedValue(true);
  await leave();
  expect(logout).toHaveBeenCalledOnce();
});

test('what can be sent is sent first, and nobody is asked', async () => {
  put('taskloom.draft.1.13.solve', { claimId: 'c2', revision: 2, values: { a: 1 } });
  const stop = beforeLeaving(async () => localStorage.removeItem('taskloom.draft.1.13.solve'));
  await leave();
  stop();
  expect(confirm).not.toHaveBeenCalled();
  expect(session.left).toHaveBeenCalledOnce();
});

test('logging out erases what the app keeps, also where the browser does not clear itself', async () => {
  put('taskloom.draft.1.12.solve', { claimId: 'c1', revision: 2, values: { a: 1 } });
  put('taskloom.recent.1', []);
  localStorage.setItem('mantine-color-scheme-value', 'dark');
  localStorage.setItem('else', 'stays');
  sessionStorage.setItem('taskloom.lease.c1', '60000');
  sessionStorage.setItem('else', 'stays');
  vi.mocked(confirm).mockResolvedValue(true);
  await leave();
  expect(Object.keys(localStorage).sort()).toEqual(['else', 'mantine-color-scheme-value']);
  expect(Object.keys(sessionStorage)).toEqual(['else']);
});

test('a logout that failed erases nothing', async () => {
  put('taskloom.draft.1.12.solve', { claimId: 'c1', revision: 2 });
  vi.mocked(logout).mockRejectedValueOnce(new Error('no connection'));
  await expect(leave()).rejects.toThrow('no connection');
  expect(Object.keys(localStorage)).toEqual(['taskloom.draft.1.12.solve']);
});
