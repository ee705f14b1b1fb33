// A listing of refs beside a plain Map, on names that are prefixes of each other, of several scripts, and many.
import t from 'tap';
import { RefListing } from '../../src/git/refs/ref-listing.ts';
import { compareVersions, newestVersions } from '../../src/pages/code/newest-versions.ts';

const words = [
  'a',
  'ab',
  'a/b',
  'a-b',
  'a.b',
  'Z',
  'zoë',
  'ünder',
  '日本',
  '𝒳',
  '﹏',
  'v1',
  'v1.0',
  'v10',
  'v2',
  'v1-rc1',
];
const folders = ['refs/heads/', 'refs/heads/dir/', 'refs/tags/', 'refs/pull/1/', 'refs/notes/', 'refs/headsup/'];
const oidOf = (index: number): string => index.toString(16).padStart(40, '0');
const refs = new Map(
  folders.flatMap((folder) => words.map((word): [string, string] => [folder + word, oidOf((word.length * 7) % 5)])),
);
/** The order of git: by bytes. */
const inOrder = [...refs].sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
const listing = RefListing.ofNames(refs);

t.test('what is asked of a listing is what a walk over all refs finds', (t) => {
  t.strictSame([...listing], inOrder);
  t.equal(listing.size, refs.size);
  const names = [...refs.keys(), 'refs/heads', 'refs/heads/b', '', 'refs/zzz', 'refs/heads/zoe'];
  for (const name of names) t.equal(listing.get(name), refs.get(name), name);
  for (const prefix of [...folders, 'refs/heads/a', 'refs/tags/v1', 'refs/', 'refs/none/', 'refs/tags/日']) {
    const within = inOrder
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, oid]) => ({ name: name.slice(prefix.length), oid }));
    t.equal(listing.count(prefix), within.length, prefix);
    for (const [from, limit] of [
      [0, 3],
      [2, 5],
      [5, 500],
      [500, 5],
    ] as const)
      t.strictSame(listing.page(prefix, from, limit), within.slice(from, from + limit), `${prefix} from ${from}`);
    t.strictSame([...listing.namesFromLast(prefix)], within.map(({ name }) => name).toReversed(), prefix);
    for (const name of [...words, 'm', '', '\u{10ffff}'])
      t.equal(
        listing.upTo(prefix, name),
        within.filter((ref) => Buffer.compare(Buffer.from(ref.name), Buffer.from(name)) <= 0).length,
        `${prefix} up to ${name}`,
      );
    const [first, second] = within.filter(({ oid }) => oid === oidOf(2));
    t.equal(listing.nameOf(prefix, oidOf(2)), first?.name ?? null);
    t.equal(listing.nameOf(prefix, oidOf(2), prefix + first?.name), second?.name ?? null);
    const besides = new Set([prefix + within[0]?.name]);
    t.strictSame(listing.idsOf(prefix, besides), [...new Set(within.slice(1).map(({ oid }) => oid))]);
  }
  t.end();
});

t.test('a question looks at a few refs of very many', (t) => {
  let looked = 0;
  const many = Array.from({ length: 100_000 }, (_, at) => ({
    name: `refs/heads/b${String(at).padStart(6, '0')}`,
    oid: oidOf(at),
  }));
  const counted = new Proxy(many, {
    get(target, key, self) {
      if (typeof key === 'string' && /^\d+$/.test(key)) looked += 1;
      return Reflect.get(target, key, self) as unknown;
    },
  });
  const large = new RefListing(counted);
  t.equal(large.get('refs/heads/b077777'), oidOf(77_777));
  t.equal(large.count('refs/heads/'), 100_000);
  t.equal(large.upTo('refs/heads/', 'b050000'), 50_001);
  t.equal(large.page('refs/heads/', 90_000, 30).length, 30);
  t.ok(looked < 300, `${looked} looked at`);
  t.end();
});

t.test('the newest versions come in pages, in the order in which all of them are sorted', async (t) => {
  const collator = new Intl.Collator('en', { numeric: true });
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const parts = ['v', 'V', 'release-', '', 'v0', 'x٣'];
  const names = Array.from({ length: 3_000 }, () => {
    const numbers = Array.from({ length: 1 + random(3) }, () => `${['0', '00'][random(9)] ?? ''}${random(120)}`);
    return parts[random(parts.length)]! + numbers.join('.') + ['', '', '-rc1', '-beta2', 'a', 'é'][random(6)]!;
  });
  const differ: string[] = [];
  for (let pair = 0; pair < 20_000; pair += 1) {
    const [one, other] = [names[random(names.length)]!, names[random(names.length)]!];
    // Where neither is the other with an ending, the collation decides.
    if (one.startsWith(other) || other.startsWith(one)) continue;
    if (Math.sign(compareVersions(one, other)) !== Math.sign(collator.compare(one, other)))
      differ.push(`${one} and ${other}`);
  }
  t.strictSame(differ, []);
  const plain = Array.from({ length: 2_000 }, (_, at) => `v${at % 9}.${at % 31}.${at}`);
  const tags = RefListing.ofNames(plain.map((name): [string, string] => [`refs/tags/${name}`, oidOf(1)]));
  const sorted = plain.toSorted((one, other) => compareVersions(other, one));
  t.strictSame(await newestVersions(tags, 8), sorted.slice(0, 8));
  t.strictSame(await newestVersions(tags, 100), sorted.slice(0, 100));
  const paged: string[] = [];
  for (let after: string | null = null; ; after = paged.at(-1)!) {
    const page = await newestVersions(tags, 300, after);
    if (page.length === 0) break;
    paged.push(...page);
  }
  t.strictSame(paged, sorted);
});
