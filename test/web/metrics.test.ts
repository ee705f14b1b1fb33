import t from 'tap';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { currentCharge } from '../../src/git/effort.ts';
import { createAnonymousBudget } from '../../src/web/middleware/anonymous-budget.ts';
import { exposition } from '../../src/web/metrics/registry.ts';
import { startWeb } from './web-fixture.ts';

t.test('the text that Prometheus reads', async (t) => {
  t.equal(
    exposition([
      { name: 'a', type: 'gauge', help: 'An a.', samples: [{ value: 1 }, { labels: { x: 'say "no"\n\\' }, value: 0.5 }] },
      { name: 'nothing', type: 'counter', help: 'Nothing.', samples: [] },
    ]),
    '# HELP hearth_a An a.\n# TYPE hearth_a gauge\nhearth_a 1\nhearth_a{x="say \\"no\\"\\n\\\\"} 0.5\n',
  );
});

t.test('security K04 metrics are for this machine or the token, without names', async (t) => {
  const web = await startWeb(t, { env: { SERVICE_METRICS_TOKEN: 'canary' } });
  await web.rooms.accounts.addPerson({ username: 'alice' });
  await fetch(`${web.origin}/users/alice`);
  const from = (headers: Record<string, string>) => fetch(`${web.origin}/metrics`, { headers });

  const here = await from({});
  t.equal(here.status, 200);
  t.equal(here.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  const text = await here.text();
  t.match(text, /^hearth_http_requests_total\{route="\/users\/:username",status="2xx"\} 1$/m);
  t.match(text, /^hearth_people 1$/m);
  t.match(text, /^hearth_event_loop_delay_seconds\{quantile="0.99"\} /m);
  t.match(text, /^hearth_disk_free_bytes \d+$/m);
  t.notMatch(text, 'alice');
  for (const line of text.trim().split('\n')) t.match(line, /^(# (HELP|TYPE) hearth_[a-z_]+ .+|hearth_[a-z_]+(\{[^}]*\})? [-+\d.e]+)$/, line);

  t.equal((await from({ 'X-Forwarded-For': '203.0.113.9' })).status, 404, 'somebody else, through a proxy');
  t.equal((await from({ 'X-Forwarded-Proto': 'https' })).status, 404, 'a proxy that does not say who asks');
  t.equal((await from({ 'X-Forwarded-For': '203.0.113.9', Authorization: 'Bearer wrong' })).status, 404);
  t.equal((await from({ 'X-Forwarded-For': '203.0.113.9', Authorization: 'Bearer canary' })).status, 200);
});

t.test('a crawler runs out of its budget, others do not notice, and it earns more with time', async (t) => {
  const clock = fixedClock();
  const { spend, families } = createAnonymousBudget(clock);
  const visit = (address: string, kind: 'anonymous' | 'person', gitMs = 0) =>
    spend({ state: { address, identity: { viewer: { kind } } } } as never, async () => currentCharge()?.(gitMs));
  await visit('2001:db8::1', 'anonymous', 31_000);
  const refusal = await visit('2001:db8::ffff', 'anonymous').catch((error: unknown) => error);
  t.match(refusal, { status: 429, headers: { 'Retry-After': /^[34]$/ } }, 'its whole network');
  await visit('2001:db8:0:1::1', 'anonymous');
  await visit('2001:db8::1', 'person');
  clock.advance(3_000);
  await visit('2001:db8::1', 'anonymous');
  t.ok(families()[0]!.samples.find(({ labels }) => labels?.['result'] === 'served')!.value >= 31);
});

t.test('robots.txt keeps crawlers off what is dear', async (t) => {
  const web = await startWeb(t);
  const text = await (await fetch(`${web.origin}/robots.txt`)).text();
  for (const path of ['/git/', '/api/', '/repos/*/*/commits/', '/repos/*/*/blame/']) t.match(text, `Disallow: ${path}\n`);
});
