import t from 'tap';
import { crossOrigin } from '../../src/http-api/cross-origin.ts';
import type { Context } from '../../src/http/index.ts';

/** What a request gets, and whether it went on to the API. */
async function ask(origins: readonly string[], method: string, headers: Record<string, string>) {
  const got = new Map<string, string>();
  let isServed = false;
  const ctx = {
    method,
    status: 404,
    get: (name: string) => headers[name] ?? '',
    vary: (name: string) => void got.set('vary', name),
    set: (name: string | Record<string, string>, value = '') => {
      for (const [key, each] of typeof name === 'string' ? [[name, value] as const] : Object.entries(name))
        got.set(key.toLowerCase(), each);
    },
  };
  await crossOrigin(origins)(ctx as unknown as Context, async () => {
    isServed = true;
  });
  return { status: ctx.status, isServed, headers: Object.fromEntries(got) };
}

const origin = 'https://tool.example.org';
const preflight = { Origin: origin, 'Access-Control-Request-Method': 'PATCH' };

t.test('pages of named origins call the API, and no credentials of the browser come along', async (t) => {
  const answer = await ask([origin], 'GET', { Origin: origin });
  t.match(answer, { isServed: true, headers: { 'access-control-allow-origin': origin, vary: 'Origin' } });
  t.notOk('access-control-allow-credentials' in answer.headers);
  const before = await ask([origin], 'OPTIONS', preflight);
  t.match(before, { status: 204, isServed: false, headers: { 'access-control-allow-methods': /PATCH/ } });
  t.match(before.headers['access-control-allow-headers'], /Authorization/);
});

t.test('other origins get nothing, and without a list nobody does', async (t) => {
  const others = [`${origin}.evil.example`, `${origin}/`, 'null', 'http://tool.example.org', origin.toUpperCase()];
  for (const other of others) {
    const answer = await ask([origin], 'GET', { Origin: other });
    t.notOk('access-control-allow-origin' in answer.headers, other);
    t.equal(answer.headers['vary'], 'Origin', 'a cache must not take one for the other');
    t.ok((await ask([origin], 'OPTIONS', { ...preflight, Origin: other })).isServed, `${other} is no preflight`);
  }
  t.strictSame((await ask([], 'OPTIONS', preflight)).headers, {});
  t.strictSame((await ask([origin], 'GET', {})).headers, {});
});
