import { expect, it } from 'vitest';
import { loginPath, safeTarget } from './target';

const origin = 'https://tasks.example';

it.each(['/', '/tasks/7', '/pipelines/1/tasks?status=open&node=a%2Fb#row-3', '/loginish'])('goes to %s', (to) =>
  expect(safeTarget(to, origin)).toBe(to),
);

it.each([
  undefined,
  7,
  '',
  'tasks/7',
  'https://evil.example/',
  '//evil.example/x',
  '/\\evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '/x\\..\\..//evil.example',
  '/.//evil.example',
  '/x/..//evil.example',
  'javascript:alert(1)',
  'data:text/html,x',
  ' /tasks',
  '/login',
  '/login?to=/login',
  '/invite#token',
  '/api/console/logout',
])('stays at home instead of %j', (to) => expect(safeTarget(to, origin)).toBe('/'));

it('remembers the whole place for after the login', () => {
  const here = { pathname: '/tasks/7', search: '?a=1', hash: '#x' };
  const path = loginPath(here);
  expect(new URL(path, origin).searchParams.get('to')).toBe('/tasks/7?a=1#x');
  expect(loginPath({ pathname: '/', search: '', hash: '' })).toBe('/login');
});
