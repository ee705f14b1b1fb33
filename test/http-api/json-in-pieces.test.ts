import { createHash } from 'node:crypto';
import t from 'tap';
import { digestOf, jsonInPieces } from '../../src/http-api/json-in-pieces.ts';
import { measureTurns } from '../fixtures/thread-cpu.ts';

const rows = (count: number, row: unknown = { id: 1, text: 'ä "quoted"', none: undefined }) => Array(count).fill(row);

t.test('an answer in pieces is the text that JSON.stringify gives', async (t) => {
  const values: unknown[] = [
    null,
    7,
    'text',
    [],
    rows(200),
    rows(201),
    rows(5_000),
    rows(300, undefined),
    {},
    { tree: rows(300), truncated: false, nothing: undefined, at: new Date(0) },
    { nothing: undefined, tree: rows(300) },
    { tree: rows(300), more: rows(300, null) },
    { inner: { tree: rows(300) } },
    new Date(0),
  ];
  for (const value of values) {
    const pieces = await jsonInPieces(value);
    const whole = Buffer.concat(pieces).toString();
    t.equal(whole === JSON.stringify(value), true, whole.slice(0, 60));
    t.equal(await digestOf(pieces), createHash('sha256').update(whole).digest('base64url'));
  }
});

t.test('many megabytes are written in short turns', async (t) => {
  const value = {
    tree: rows(200_000, { path: 'a/path/of/a/file.ts', sha: 'f'.repeat(40), url: 'https://example.org' }),
  };
  const { longestMs, cpuMs } = await measureTurns(async () => void (await digestOf(await jsonInPieces(value))));
  t.ok(longestMs < 40, `${longestMs.toFixed(0)} of ${cpuMs.toFixed(0)} ms`);
});
