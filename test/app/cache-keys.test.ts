// time limit: 300 s
// No two viewers, languages, hosts, forms or repositories share an answer that differs for them: with all caches warm,
// in whatever order they were filled, each answer is the one that empty caches give. Two of the repositories have the
// same commits, and so the same ids of everything in them.
import { execFileSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { clearCaches } from '../../src/kernel/cache-registry.ts';
import { cacheStatistics } from '../../src/kernel/index.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { standardWorld } from '../fixtures/standard-world.ts';
import type { Thing } from '../fixtures/standard-world.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';

t.setTimeout(280_000);

const { web, people, things, settled } = await standardWorld(t);
const { repositories } = web.modules;
const { alice, bob, carol, dora } = people;

// The same commits as the public garden, in private.
await repositories.create(alice.viewer, { owner: 'alice', name: 'twin', visibility: 'PRIVATE' });
const [garden, twin] = await Promise.all(
  ['garden', 'twin'].map((name) => repositories.find(alice.viewer, 'alice', name)),
);
execFileSync('git', ['-C', garden!.path, 'push', '--quiet', twin!.path, 'main', 'topic-1', 'topic-2']);
await settled();

const within = (place: string, kind: string): string[] =>
  things
    .filter((thing: Thing) => thing.kind === kind && thing.within.some(({ value }) => value === place))
    .map(({ value }) => value);
const commit = execFileSync('git', ['-C', garden!.path, 'rev-parse', 'topic-1']).toString().trim();

const places = ['alice/garden', 'alice/twin', 'carol/vault'];
const addresses = [
  ...[
    '/',
    '/explore',
    '/search?q=a',
    '/search/code?q=garden',
    '/alice',
    '/guild',
    '/cabal',
    '/issues',
    '/pulls',
    '/notifications',
  ],
  ...['/api/v1/user', '/api/v1/repos/search?q=a', '/api/v1/notifications', '/api/v1/repos/issues/search'],
  ...places.flatMap((place) => {
    const [issue, pull, run] = ['issue', 'pull', 'run'].map((kind) => within(place, kind)[0] ?? '1');
    const pages = ['', '/tree/main', '/blob/main/a.txt', '/blame/main/a.txt', '/commits/main', `/commit/${commit}`];
    const talks = ['/issues', `/issues/${issue}`, '/pulls', `/pulls/${pull}`, `/pulls/${pull}/changes`];
    const others = ['/branches', '/tags', '/tags.atom', '/releases', `/runs/${run}`, '/compare/main...topic-1'];
    const api = [
      '',
      '/contents/a.txt',
      '/raw/a.txt',
      '/branches',
      '/issues',
      `/pulls/${pull}`,
      `/git/commits/${commit}`,
    ];
    return [
      ...[...pages, ...talks, ...others, '/search?q=garden'].map((at) => `/repos/${place}${at}`),
      ...api.map((at) => `/api/v1/repos/${place}${at}`),
      `/git/${place}.git/info/refs?service=git-upload-pack`,
    ];
  }),
];

const session = ({ session }: { session: string }) => ({ Cookie: `hearth_session=${session}` });
const token = ({ token }: { token: string }) => ({ Authorization: `Bearer ${token}` });
/** Who asks, and how. */
const observers: Record<string, Record<string, string>> = {
  nobody: {},
  'nobody, compressed': { 'Accept-Encoding': 'gzip' },
  'nobody, in German': { 'Accept-Language': 'de' },
  'nobody, by another host': { Host: 'other.example.org' },
  'nobody, as ActivityPub': { Accept: 'application/activity+json' },
  alice: session(alice),
  'alice, in German': { ...session(alice), 'Accept-Language': 'de' },
  'alice, in the dark': { ...session(alice), Cookie: `hearth_session=${alice.session}; hearth_theme=dark` },
  bob: session(bob),
  carol: session(carol),
  dora: session(dora),
  'a token of alice': token(alice),
  'a token of carol': token(carol),
};

/** Each takes seconds to be sure of. */
const maxReported = 10;

/** What differs between two answers that are made anew; a count that takes too long is left out of the page. */
const passing = [
  /"request_id":"[^"]*"/g,
  /name="csrf" value="[^"]*"/g,
  /nonce="[^"]*"/g,
  /<li><a href="[^"]+\/commits\/main"><svg[^]*?<\/li>/g,
];
async function ask(address: string, who: string): Promise<string> {
  const { status, headers, body } = await sendRequest(web, address, { headers: observers[who]! });
  const kept = ['content-type', 'content-language', 'vary', 'location', 'cache-control', 'content-encoding'];
  const answer = [status, ...kept.map((name) => headers[name] ?? ''), body].join('\n');
  return passing.reduce((text, pattern) => text.replaceAll(pattern, ''), answer);
}

/**
 * Whether empty caches give this answer, too, to an observer alone. What is computed with a time limit (sizes of pull
 * requests, last commits) may be missing in any answer on a busy machine, and is there later: both sides are asked
 * again until they agree. An answer that caches got from others stays as it is while they are warm, and agrees with
 * none.
 */
async function isGivenAnew(found: string, address: string, who: string): Promise<boolean> {
  await delay(50);
  const answers = new Set([found, await ask(address, who)]);
  for (let attempt = 0; attempt < 20; attempt += 1) {
    clearCaches();
    if (answers.has(await ask(address, who))) return true;
    // Nobody else fills the caches now, and what took too long for the first answer may be known to the second.
    await delay(50);
    if (answers.has(await ask(address, who))) return true;
  }
  return false;
}

/** Each address for each observer, in another order each time. */
function shuffled(seed: number): [address: string, who: string][] {
  const random = seededRandom(seed);
  const all = addresses.flatMap((address) => Object.keys(observers).map((who): [string, string] => [address, who]));
  return all
    .map((one) => [random.below(2 ** 32), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);
}

t.test('each answer is the one of empty caches', async (t) => {
  // What a look changes (what is read, a count that is made in the background) has changed before.
  for (const [address, who] of shuffled(1)) await ask(address, who);
  await settled();
  const anew = new Map<string, string>();
  for (const [address, who] of shuffled(2)) {
    clearCaches();
    anew.set(`${address} ${who}`, await ask(address, who));
  }
  const wrong: string[] = [];
  for (const [address, who] of shuffled(3)) {
    if (wrong.length === maxReported) break;
    const [expected, found] = [anew.get(`${address} ${who}`)!, await ask(address, who)];
    if (found === expected) continue;
    if (await isGivenAnew(found, address, who)) continue;
    const at = [...found].findIndex((letter, index) => letter !== expected[index]);
    wrong.push(
      `${address} for ${who}: …${found.slice(at - 30, at + 60)}… instead of …${expected.slice(at - 30, at + 60)}…`,
    );
  }
  t.strictSame(wrong, []);
  const hits = new Map(cacheStatistics().map(({ name, hits }) => [name, hits]));
  t.ok(
    [...hits.values()].filter((count) => count > 0).length > 8,
    `caches that have answered: ${JSON.stringify([...hits])}`,
  );
  t.ok(new Set(anew.values()).size > 300, 'answers differ');
});
