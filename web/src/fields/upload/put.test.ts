import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { put } from './put';

// What the storage answers, one try after the other: the last of them to all that follow.
let answers: number[] = [];
let tries = 0;
let server: Server;
let url = '';

beforeEach(async () => {
  tries = 0;
  server = createServer((req, res) => {
    const cors = {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': 'PUT',
      'Access-Control-Allow-Headers': '*',
    };
    if (req.method === 'OPTIONS') return void res.writeHead(204, cors).end();
    req.resume().on('end', () => {
      const status = answers[Math.min(tries, answers.length - 1)];
      tries += 1;
      res.writeHead(status ?? 500, cors).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/file`;
});
afterEach(() => void server.close());

const sent = (signal = new AbortController().signal, onProgress = (_: number) => {}) =>
  put({ url, headers: { 'X-Amz-Meta-A': 'b' }, file: new Blob(['seven b']), onProgress, signal });

test.each([[[200]], [[409, 200]], [[503, 500, 204]]])('the storage answers %j', async (all) => {
  answers = all;
  await sent();
  expect(tries).toBe(all.length);
});

test('what does not pass is told at once, what does not end after three tries', async () => {
  answers = [403];
  await expect(sent()).rejects.toMatchObject({ status: 403, code: 'upload_failed' });
  expect(tries).toBe(1);
  answers = [409];
  await expect(sent()).rejects.toMatchObject({ status: 409 });
  expect(tries).toBe(1 + 3);
});

test('whoever cancels between two tries sends no other', async () => {
  answers = [409];
  const cancel = new AbortController();
  const progress = vi.fn((share: number) => void (share === 0 && cancel.abort()));
  await expect(sent(cancel.signal, progress)).rejects.toThrow('cancelled');
  expect(tries).toBe(1);
});
