import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Release } from './release-in-progress.ts';

/** A package of the lock file. */
interface LockedPackage {
  version: string;
  name?: string;
  integrity?: string;
  license?: string;
  dev?: boolean;
  optional?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** Path in the project, `node_modules/koa`, → package, for what is in a release. */
export type LockFile = ReadonlyMap<string, LockedPackage>;

/** What `package-lock.json` states of everything that a release contains. */
export async function readLockFile(source: string): Promise<LockFile> {
  const { packages } = JSON.parse(await readFile(join(source, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  return new Map(Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev));
}

export const nameOf = (path: string, { name }: LockedPackage): string =>
  name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** npm's package URL (purl-spec): the `@` of a scope is encoded. */
export const purlOf = (path: string, locked: LockedPackage): string =>
  `pkg:npm/${nameOf(path, locked).replace('@', '%40')}@${locked.version}`;

/** The components of a release with their licences and sums, and what needs what: CycloneDX 1.6. */
export function billOfMaterials({ version, seconds, commit }: Release, lock: LockFile): string {
  const components = [...lock].map(([path, locked]) => ({
    type: 'library',
    'bom-ref': path,
    name: nameOf(path, locked),
    version: locked.version,
    purl: purlOf(path, locked),
    ...(locked.license === undefined ? {} : { licenses: [licenceOf(locked.license)] }),
    ...(locked.integrity === undefined ? {} : { hashes: [hashOf(locked.integrity)] }),
  }));
  const dependencies = [...lock].map(([path, { dependencies = {}, optionalDependencies = {} }]) => ({
    ref: path,
    dependsOn: Object.keys({ ...dependencies, ...optionalDependencies })
      .flatMap((name) => resolveFrom(path, name, lock) ?? [])
      .sort(),
  }));
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(`${version} ${commit}`)}`,
    version: 1,
    metadata: {
      timestamp: new Date(seconds * 1000).toISOString(),
      component: {
        type: 'application',
        'bom-ref': 'hearth',
        name: 'hearth',
        version,
        licenses: [{ license: { id: 'MIT' } }],
      },
    },
    components,
    dependencies: [{ ref: 'hearth', dependsOn: [...lock.keys()].filter(isOwn).sort() }, ...dependencies],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** One id of SPDX, or an expression of several. */
const licenceOf = (text: string): object =>
  /^[A-Za-z0-9.+-]+$/.test(text) ? { license: { id: text } } : { expression: text };

const isOwn = (path: string): boolean => path.lastIndexOf('node_modules/') === 0;

function hashOf(integrity: string): { alg: string; content: string } {
  const [algorithm = '', encoded = ''] = integrity.split('-', 2) as [string, string];
  return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(encoded, 'base64').toString('hex') };
}

/** The folder in which Node would find a package: the nearest `node_modules` above that has it. */
function resolveFrom(path: string, name: string, lock: LockFile): string | null {
  for (let folder = path; ; ) {
    const candidate = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (lock.has(candidate)) return candidate;
    if (folder === '') return null;
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')));
  }
}

/** A UUID of a text, which is the same each time (RFC 9562 §5.8). */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
