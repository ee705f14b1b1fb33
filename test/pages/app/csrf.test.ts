import t from 'tap';
import { sendRequest, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import { isSameSite } from '../../../src/pages/app/csrf.ts';

t.test('security D01 the cross-site refusal says what was expected and what arrived', async (t) => {
  const web = await startWeb(t);
  const { status, body } = await visitor(web).post('/login', {}, { Origin: 'http://other.example.org' });
  t.equal(status, 403);
  t.match(body, 'http://other.example.org');
  t.match(body, web.origin);
  t.equal(
    (await sendRequest(web, '/login', { form: {}, headers: { Referer: 'http://other.example.org/page' } })).status,
    403,
    'a browser that sends a Referer only',
  );
  t.equal(
    (await sendRequest(web, '/login', { form: { username: 'a', password: 'b' } })).status,
    422,
    'a client that is no browser needs no Origin',
  );
});

t.test('security D01 where a form may come from', async (t) => {
  const here = 'http://192.168.1.20:3000';
  const cases: [why: string, fetchSite: string | undefined, origin: string | undefined, passes: boolean][] = [
    ['one of our pages, as the browser says', 'same-origin', here, true],
    ['typed into the address bar', 'none', undefined, true],
    ['another site', 'cross-site', 'https://evil.example', false],
    ['a neighbour below the same domain', 'same-site', here, false],
    ['a cross-site post that claims our origin', 'cross-site', here, false],
    ['plain http, our page', undefined, here, true],
    ['plain http, another site', undefined, 'http://evil.example', false],
    ['plain http, another port', undefined, 'http://192.168.1.20:3001', false],
    ['a sandboxed frame', undefined, 'null', false],
    ['an empty header is not an absent one', '', undefined, false],
    ['no browser', undefined, undefined, true],
  ];
  for (const [why, fetchSite, origin, passes] of cases) {
    t.equal(isSameSite({ method: 'POST', fetchSite, origin, expectedOrigin: here }), passes, why);
  }
  for (const [referer, passes] of [
    [`${here}/settings?x=1`, true],
    ['', true],
    ['http://evil.example/', false],
    ['http://192.168.1.20:3000.evil.example/', false],
    ['http://192.168.1.20:3001/', false],
    ['about:client', false],
    ['nonsense', false],
  ] as const)
    t.equal(
      isSameSite({ method: 'POST', fetchSite: undefined, origin: undefined, referer, expectedOrigin: here }),
      passes,
      `an old browser with the referrer "${referer}"`,
    );
  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    t.ok(
      isSameSite({ method, fetchSite: 'cross-site', origin: 'https://evil.example', expectedOrigin: here }),
      `${method} changes nothing`,
    );
  }
  t.notOk(
    isSameSite({ method: 'BREW', fetchSite: 'cross-site', origin: undefined, expectedOrigin: here }),
    'an unknown method might',
  );
});
