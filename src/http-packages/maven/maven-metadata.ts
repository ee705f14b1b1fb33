import { createHash } from 'node:crypto';
import type { PackageFileRow, PackageRow, PackageVersionRow } from '../../packages/index.ts';

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const tag = (name: string, text: string): string => `<${name}>${escape(text)}</${name}>`;

/** `20261128180203`, Maven's time format. */
const timeOf = (at: number): string => new Date(at).toISOString().replace(/\D/g, '').slice(0, 14);

const document = (lines: readonly string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<metadata modelVersion="1.1.0">\n  ${lines.join('\n  ')}\n</metadata>\n`;

function coordinates({ name }: Pick<PackageRow, 'name'>): string[] {
  const [group = '', artifact = ''] = name.split(':');
  return [tag('groupId', group), tag('artifactId', artifact)];
}

/** The metadata of an artifact: its versions, oldest first (Maven Repository Metadata 1.1). @param rows newest first */
export function artifactMetadata(
  row: Pick<PackageRow, 'name' | 'updatedAt'>,
  rows: readonly Pick<PackageVersionRow, 'version'>[],
): string {
  const versions = rows.map(({ version }) => version);
  const release = versions.find((version) => !version.endsWith('-SNAPSHOT'));
  return document([
    ...coordinates(row),
    '<versioning>',
    ...(versions[0] === undefined ? [] : [tag('latest', versions[0])]),
    ...(release === undefined ? [] : [tag('release', release)]),
    '<versions>',
    ...versions.toReversed().map((version) => tag('version', version)),
    '</versions>',
    tag('lastUpdated', timeOf(row.updatedAt)),
    '</versioning>',
  ]);
}

/**
 * Parts of a snapshot's file name: time, build, then its extension, or a classifier and an extension. After a
 * classifier, which may contain dots (`scala2.13`), the extension is one word, except for tar archives and signatures
 * of other files.
 */
const snapshotFile =
  /^(\d{8}\.\d{6})-(\d+)(?:\.(.+)|-(.+?)\.((?:tar\.[^.]+|[^.]+)(?:\.(?:asc|sigstore(?:\.json)?))?))$/;

/** The metadata of a snapshot: the newest file of each extension and classifier. */
export function snapshotMetadata(
  row: Pick<PackageRow, 'name'>,
  { version, updatedAt }: Pick<PackageVersionRow, 'version' | 'updatedAt'>,
  files: readonly Pick<PackageFileRow, 'name' | 'createdAt'>[],
): string {
  const artifact = row.name.split(':')[1]!;
  const base = version.slice(0, -'SNAPSHOT'.length);
  const newest = new Map<
    string,
    { classifier: string; extension: string; value: string; at: number; stamp: string; build: number }
  >();
  for (const { name, createdAt } of files) {
    if (!name.startsWith(`${artifact}-${base}`)) continue;
    const rest = name.slice(artifact.length + 1 + base.length);
    const [, stamp, build, whole, classifier = '', word = ''] = snapshotFile.exec(rest) ?? [];
    const extension = whole ?? word;
    if (stamp === undefined || build === undefined) continue;
    const key = `${classifier}.${extension}`;
    const known = newest.get(key);
    if (known !== undefined && known.build > Number(build)) continue;
    newest.set(key, {
      classifier,
      extension,
      value: `${base}${stamp}-${build}`,
      at: createdAt,
      stamp,
      build: Number(build),
    });
  }
  const all = [...newest.values()];
  const last = all.toSorted((a, b) => b.build - a.build)[0];
  return document([
    ...coordinates(row),
    tag('version', version),
    '<versioning>',
    ...(last === undefined
      ? []
      : [`<snapshot>${tag('timestamp', last.stamp)}${tag('buildNumber', String(last.build))}</snapshot>`]),
    tag('lastUpdated', timeOf(last?.at ?? updatedAt)),
    '<snapshotVersions>',
    ...all.map(
      ({ classifier, extension, value, at }) =>
        `<snapshotVersion>${classifier === '' ? '' : tag('classifier', classifier)}${tag('extension', extension)}${tag('value', value)}${tag('updated', timeOf(at))}</snapshotVersion>`,
    ),
    '</snapshotVersions>',
    '</versioning>',
  ]);
}

/** A digest of a text, in hex. */
export const digestOfText = (text: string, algorithm: string): string =>
  createHash(algorithm).update(text).digest('hex');
