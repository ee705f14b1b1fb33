import t from 'tap';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { createHistogram, currentCharge } from '../../src/kernel/index.ts';
import { createAnonymousLimits } from '../../src/http/admission/anonymous-limits.ts';
import { formatMetrics, histogramSamples } from '../../src/http/prometheus-text.ts';
import { startWeb } from '../fixtures/web-fixture.ts';

t.test('the text that Prometheus reads', async (t) => {
  t.equal(
    formatMetrics([
      {
        name: 'a',
        type: 'gauge',
        help: 'An a.',
        samples: [{ value: 1 }, { labels: { x: 'say "no"\n\\' }, value: 0.5 }],
      },
      { name: 'nothing', type: 'counter', help: 'Nothing.', samples: [] },
    ]),
    '# HELP hearth_a An a.\n# TYPE hearth_a gauge\nhearth_a 1\nhearth_a{x="say \\"no\\"\\n\\\\"} 0.5\n',
  );
  const histogram = createHistogram([0.1, 1]);
  for (const value of [0.1, 0.5, 0.5, 4]) histogram.observe(value);
  t.equal(
    formatMetrics([{ name: 'b', type: 'histogram', help: 'A b.', samples: histogramSamples({ x: 'y' }, histogram) }]),
    '# HELP hearth_b A b.\n# TYPE hearth_b histogram\n' +
      'hearth_b_bucket{x="y",le="0.1"} 1\nhearth_b_bucket{x="y",le="1"} 3\nhearth_b_bucket{x="y",le="+Inf"} 4\nhearth_b_sum{x="y"} 5.1\nhearth_b_count{x="y"} 4\n',
  );
});

t.test('security K04 metrics are for this machine or the token, without names', async (t) => {
  const web = await startWeb(t, { env: { SERVICE_METRICS_TOKEN: 'canary' } });
  await web.modules.accounts.addPerson({ username: 'alice' });
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
  t.match(text, /^hearth_git_refused_total\{class="reads",reason="full"\} 0$/m);
  t.match(text, /^hearth_mirrors\{state="failing"\} 0$/m);
  t.notMatch(text, 'alice');
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]));
  t.equal([...text.matchAll(/^# TYPE/gm)].length, types.size, 'each family once');
  for (const [, name] of text.matchAll(/^(hearth_[a-z_]+)/gm)) {
    const family = name!.replace(/_(bucket|sum|count)$/, '');
    const type = types.get(name!) ?? (types.get(family) === 'histogram' ? 'histogram' : undefined);
    t.ok(type !== undefined && (type === 'counter') === name!.endsWith('_total'), `${name} is ${type}`);
  }
  for (const name of ['http_request_seconds', 'write_wait_seconds'])
    t.equal(types.get(`hearth_${name}`), 'histogram', name);
  t.match(text, /^hearth_http_request_seconds_bucket\{route="\/users\/:username",status="2xx",le="\+Inf"\} 1$/m);
  t.match(text, /^hearth_write_wait_seconds_count [1-9]/m);
  t.match(text, /^hearth_runners\{status="idle"\} 0$/m);
  for (const line of text.trim().split('\n'))
    t.match(line, /^(# (HELP|TYPE) hearth_[a-z_]+ .+|hearth_[a-z_]+(\{[^}]*\})? [-+\d.e]+)$/, line);

  t.equal((await from({ 'X-Forwarded-For': '203.0.113.9' })).status, 404, 'another client, through a proxy');
  t.equal((await from({ 'X-Forwarded-Proto': 'https' })).status, 404, 'a proxy that does not say who asks');
  t.equal((await from({ 'X-Forwarded-For': '203.0.113.9', Authorization: 'Bearer wrong' })).status, 404);
  t.equal((await from({ 'X-Forwarded-For': '203.0.113.9', Authorization: 'Bearer canary' })).status, 200);
});

t.test('a crawler runs out of its budget, others do not notice, and it earns more with time', async (t) => {
  const clock = fixedClock();
  const { limits, families } = createAnonymousLimits(clock);
  const enter = (address: string, kind: 'anonymous' | 'person', gitMs = 0) =>
    limits.objects!({ res: {}, state: { address, identity: { viewer: { kind } } } } as never, async () =>
      currentCharge()?.(gitMs),
    );
  await enter('2001:db8::1', 'anonymous', 31_000);
  const refusal = await enter('2001:db8::ffff', 'anonymous').catch((error: unknown) => error);
  t.match(refusal, { status: 429, headers: { 'Retry-After': /^[34]$/ } }, 'its whole network');
  await enter('2001:db8:0:1::1', 'anonymous');
  await enter('2001:db8::1', 'person');
  clock.advance(3_000);
  await enter('2001:db8::1', 'anonymous');
  t.ok(families()[0]!.samples.find(({ labels }) => labels?.['result'] === 'served')!.value >= 31);
});

t.test('anonymous clients share limited places with a queue; signed-in clients do not wait for them', async (t) => {
  const one = { limit: 1, ofAddress: 1, queue: 0, queueOfAddress: 0, waitMs: 1 };
  const { limits, families } = createAnonymousLimits(fixedClock(), {
    git: { limit: 2, ofAddress: 2, queue: 2, queueOfAddress: 2, waitMs: 60_000 },
    rows: one,
    search: one,
  });
  const begun: string[] = [];
  const release: (() => void)[] = [];
  const enter = (name: string, kind: 'anonymous' | 'person' = 'anonymous') =>
    limits.objects!({ res: {}, state: { address: '192.0.2.1', identity: { viewer: { kind } } } } as never, () => {
      begun.push(name);
      return new Promise<void>((resolve) => release.push(resolve));
    });
  const soon = () => new Promise((resolve) => setImmediate(resolve));
  const entries = ['a', 'b', 'c', 'd'].map((name) => enter(name));
  await soon();
  t.same(begun, ['a', 'b']);
  await t.rejects(enter('e'), { code: 'unavailable', reason: 'busy', retryAfterSeconds: 5 }, 'the line is full');
  entries.push(enter('carol', 'person'));
  await soon();
  t.same(begun, ['a', 'b', 'carol']);
  release[0]!();
  await soon();
  t.same(begun, ['a', 'b', 'carol', 'c'], 'the first in line');
  for (let turn = 0; turn < 5; turn += 1) {
    for (const each of release) each();
    await soon();
  }
  await Promise.all(entries);
  t.match(
    families().find(({ name }) => name === 'anonymous_refused_total'),
    { samples: [{ labels: { result: 'busy' }, value: 1 }] },
  );

  const { limits: hasty } = createAnonymousLimits(fixedClock(), {
    git: { limit: 1, ofAddress: 1, queue: 1, queueOfAddress: 1, waitMs: 5 },
    rows: one,
    search: one,
  });
  const anonymous = { res: {}, state: { address: '192.0.2.1', identity: { viewer: { kind: 'anonymous' } } } } as never;
  const holding = hasty.objects!(anonymous, () => new Promise<void>((resolve) => release.push(resolve)));
  await soon();
  await t.rejects(async () => hasty.objects!(anonymous, async () => {}), { code: 'unavailable' }, 'too long a wait');
  release.at(-1)!();
  await holding;
  await t.resolves(async () => hasty.objects!(anonymous, async () => {}), 'and its place in line is free');
  const gone = { ...(anonymous as object), res: { destroyed: true } } as never;
  await t.resolves(
    async () => hasty.objects!(gone, () => Promise.reject(new Error('begun for nobody'))),
    'who has left is not missed',
  );
  for (const kind of ['rows', 'search'] as const) {
    const waiting = hasty[kind]!(anonymous, () => new Promise<void>((resolve) => release.push(resolve)));
    await t.rejects(async () => hasty[kind]!(anonymous, async () => {}), { code: 'unavailable' });
    await t.resolves(
      async () => hasty[kind === 'rows' ? 'search' : 'rows']!(anonymous, async () => {}),
      'pages and searches have places of their own',
    );
    release.at(-1)!();
    await waiting;
  }
});

t.test('robots.txt keeps crawlers off what is dear', async (t) => {
  const web = await startWeb(t);
  const text = await (await fetch(`${web.origin}/robots.txt`)).text();
  for (const path of ['/git/', '/api/', '/repos/*/*/commits/', '/repos/*/*/blame/'])
    t.match(text, `Disallow: ${path}\n`);
});
