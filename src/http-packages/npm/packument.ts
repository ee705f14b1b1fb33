import type { Context } from '../../http/index.ts';
import { createLru } from '../../kernel/index.ts';
import { packageNotFound } from '../../packages/index.ts';
import type { FoundPackage, PackageAt, PackageFileRow, PackageVersionRow } from '../../packages/index.ts';
import { authenticate } from '../authenticate.ts';
import type { PackageHttpDeps } from '../deps.ts';
import { isKnown, sendJson } from '../transfer.ts';
import { parseName, readPackument, revisionOf, tarballName } from './npm-metadata.ts';

const abbreviatedType = 'application/vnd.npm.install-v1+json';

/** The fields that an installation needs. */
const abbreviatedFields = [
  'name',
  'version',
  'dependencies',
  'optionalDependencies',
  'devDependencies',
  'bundleDependencies',
  'bundledDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
  'acceptDependencies',
  'bin',
  'directories',
  'engines',
  'cpu',
  'os',
  'libc',
  'funding',
  '_hasShrinkwrap',
];

/** A package with one of these scripts runs code during installation; npm clients do not send this flag. */
const installScripts = ['preinstall', 'install', 'postinstall'];

function hasInstallScript({ scripts }: Record<string, unknown>): boolean {
  return scripts !== null && typeof scripts === 'object' && installScripts.some((name) => Object.hasOwn(scripts, name));
}

/** Cached text of packuments, by package, state and form. */
const packuments = createLru<string, string>({
  name: 'npm packuments',
  maxWeight: 16 * 1024 * 1024,
  unit: 'bytes',
  weigh: (text) => text.length * 2,
});

/** `GET` of a packument: all versions, in full or in the abbreviated form for installation. */
export async function sendPackument(deps: PackageHttpDeps, ctx: Context, at: PackageAt, base: string): Promise<void> {
  const found = await deps.packages.find(await authenticate(deps, ctx), { ...at, name: parseName(at.name) });
  if (found.package.versions === 0) throw packageNotFound();
  const isAbbreviated = ctx.get('Accept').includes(abbreviatedType);
  const etag = `"${revisionOf(found)}${isAbbreviated ? '-a' : ''}"`;
  ctx.set({ ETag: etag, Vary: 'Accept', 'Cache-Control': 'private, no-cache' });
  if (isKnown(ctx, etag)) return;
  const key = `${found.package.id} ${etag} ${base}`;
  let text = packuments.get(key);
  if (text === undefined) packuments.set(key, (text = await packumentText(deps, found, base, isAbbreviated)));
  sendJson(ctx, text, { type: isAbbreviated ? abbreviatedType : 'application/json' });
}

async function packumentText(
  { packages }: PackageHttpDeps,
  found: FoundPackage,
  base: string,
  isAbbreviated: boolean,
): Promise<string> {
  const [rows, files, tags] = await Promise.all([
    packages.versions.all(found),
    packages.files.all(found),
    packages.tags.byName(found),
  ]);
  const fileOf = new Map(files.map((file) => [file.versionId, file]));
  const oldestFirst = rows.toReversed();
  const versions = Object.fromEntries(
    oldestFirst.map((row) => [row.version, versionOf(row, fileOf.get(row.id), base, isAbbreviated)]),
  );
  const { name, createdAt, updatedAt } = found.package;
  const modified = new Date(updatedAt).toISOString();
  const shared = { name, 'dist-tags': tags, versions };
  if (isAbbreviated) return JSON.stringify({ ...shared, modified });
  const latest = rows.find(({ version }) => version === tags['latest']) ?? rows[0]!;
  const { manifest, readme } = readPackument(latest);
  const times = Object.fromEntries(oldestFirst.map((row) => [row.version, new Date(row.createdAt).toISOString()]));
  const about = ['description', 'homepage', 'keywords', 'repository', 'author', 'bugs', 'license'];
  return JSON.stringify({
    _id: name,
    _rev: revisionOf(found),
    ...shared,
    ...Object.fromEntries(about.flatMap((field) => (manifest[field] === undefined ? [] : [[field, manifest[field]]]))),
    readme,
    time: { created: new Date(createdAt).toISOString(), modified, ...times },
    maintainers: [],
  });
}

function versionOf(
  row: PackageVersionRow,
  file: PackageFileRow | undefined,
  base: string,
  isAbbreviated: boolean,
): Record<string, unknown> {
  const { manifest, deprecated } = readPackument(row);
  const name = String(manifest['name']);
  const dist = {
    integrity: `sha512-${Buffer.from(file?.sha512 ?? '', 'hex').toString('base64')}`,
    shasum: file?.sha1 ?? '',
    tarball: `${base}/${name}/-/${tarballName(name, row.version)}`,
  };
  const fields = isAbbreviated
    ? {
        ...Object.fromEntries(
          abbreviatedFields.flatMap((one) => (manifest[one] === undefined ? [] : [[one, manifest[one]]])),
        ),
        ...(hasInstallScript(manifest) ? { hasInstallScript: true } : {}),
      }
    : { ...manifest, _id: `${name}@${row.version}` };
  return { ...fields, dist, ...(deprecated === null ? {} : { deprecated }) };
}

/** `GET` of one version, by its number or by a tag. */
export async function sendVersion(
  deps: PackageHttpDeps,
  ctx: Context,
  at: PackageAt,
  base: string,
  wanted: string,
): Promise<void> {
  const { packages } = deps;
  const found = await packages.find(await authenticate(deps, ctx), { ...at, name: parseName(at.name) });
  const row = await (/^\d/.test(wanted)
    ? packages.versions.find(found, wanted)
    : packages.versions.ofTag(found, wanted));
  const file = await packages.files.find(row.id, 'package.tgz');
  sendJson(ctx, versionOf(row, file, base, false));
}
