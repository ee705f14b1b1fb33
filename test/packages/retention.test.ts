// Retention rules: which versions of a package stay, as a table of rules and versions; and what the nightly task, the
// API, pages and `hearth package` make of them.
import t from 'tap';
import { chooseVersions } from '../../src/packages/retention/choose-versions.ts';
import type { RetainedVersion } from '../../src/packages/retention/choose-versions.ts';
import { fitsPattern } from '../../src/packages/retention/retention-rules.ts';
import type { RetentionRules } from '../../src/packages/retention/retention-rules.ts';

const dayMs = 86_400_000;
const now = 1000 * dayMs;

/** `1.0 2d latest,v1 >subject =part,part`: a version, its age, its tags, what it is about and made of. */
function versionOf(text: string): RetainedVersion {
  const [version = '', age = '', ...more] = text.split(' ');
  const listOf = (sign: string) =>
    more
      .find((one) => one.startsWith(sign))
      ?.slice(1)
      .split(',') ?? [];
  const tags = more.find((one) => /^[a-z0-9]/.test(one))?.split(',') ?? [];
  return {
    id: `id of ${version}`,
    version,
    at: now - Number.parseInt(age, 10) * dayMs,
    tags,
    subject: listOf('>')[0] ?? null,
    parts: listOf('='),
  };
}

const five = ['1.4 1d', '1.3 10d', '1.2 20d', '1.1 30d', '1.0 40d'];
const image = [
  'index2 1d latest =arm2,amd2',
  'arm2 1d',
  'amd2 1d',
  'sig2 1d >index2',
  'index1 30d v1 =arm1,amd2',
  'arm1 30d',
  'sig1 30d >index1',
  'sbom1 30d >sig1',
  'lost 50d >nothing-here',
];
const [old, fresh] = ['a', 'b'].map((digit) => digit.repeat(64));
/** Signatures that only a tag assigns to an image; they were pushed after all images. */
const signed = [
  `sha256:${fresh} 20d v2`,
  `freshSig 2d sha256-${fresh}.sig`,
  `sha256:${old} 30d v1`,
  `oldSig 1d sha256-${old}.sig`,
  `oldList 1d sha256-${old}.sbom,sha256-${old}`,
  `own 40d sha256-${fresh}.sig,v3`,
];
const rules = (keep: number | null, olderThanDays: number | null, ...keepTags: string[]): RetentionRules => ({
  keep,
  olderThanDays,
  keepTags,
});

const table: readonly [RetentionRules, readonly string[], gone: string][] = [
  [rules(1, null), signed, `sha256:${old} oldSig oldList own`],
  [rules(2, null), signed, 'own'],
  [rules(0, null, 'v1'), signed, `sha256:${fresh} freshSig own`],
  [rules(2, null), five, '1.2 1.1 1.0'],
  [rules(2, null), five.toReversed(), '1.0 1.1 1.2'],
  [rules(5, null), five, ''],
  [rules(null, 15), five, '1.2 1.1 1.0'],
  [rules(null, 30), five, '1.0'],
  [rules(null, 29), five, '1.1 1.0'],
  [rules(2, 25), five, '1.1 1.0'],
  [rules(4, 15), five, '1.0'],
  [rules(1, null, '1.0', '1.2'), five, '1.3 1.1'],
  [rules(1, null, '1.*'), five, ''],
  [rules(1, null, '2.*', '.0', '1'), five, '1.3 1.2 1.1 1.0'],
  [rules(1, null), ['2.0-beta 1d beta', '1.9 30d latest', '1.8 40d'], '1.8'],
  // An image counts once, whatever it is made of; its signatures go with it, a part of another one stays.
  [rules(1, null), image, 'index1 arm1 sig1 sbom1 lost'],
  [rules(2, null), image, 'lost'],
  [rules(3, null), image, ''],
  [rules(1, null, 'v*'), image, 'lost'],
  [rules(null, 40), image, 'lost'],
  [rules(null, 1), [], ''],
];

t.test('a table of rules and versions', async (t) => {
  for (const [rule, versions, gone] of table)
    t.equal(
      chooseVersions(rule, versions.map(versionOf), now)
        .map(({ version }) => version)
        .join(' '),
      gone,
      `${JSON.stringify(rule)} of ${versions.length}`,
    );
});

t.test('a pattern fits as its regular expression does', async (t) => {
  const names = ['', 'v', 'v1', 'v1.0', 'v1.0-rc1', '1.0', 'latest', 'vv', 'v1v1', 'a-b-c'];
  const patterns = ['*', 'v*', '*1', 'v*0', 'v1', '*.*', 'v*v*', '*-*-*', 'v**', '**', 'lat*est', 'v1*1'];
  for (const pattern of patterns)
    for (const name of names) {
      const expression = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
      t.equal(fitsPattern(name, pattern), expression.test(name), `${pattern} and ${name}`);
    }
  const started = process.cpuUsage().user;
  fitsPattern('a'.repeat(128), `${'*a'.repeat(63)}b`);
  t.ok(process.cpuUsage().user - started < 1_000_000);
});
