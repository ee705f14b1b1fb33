import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { purlOf } from './bill-of-materials.ts';
import type { LockFile } from './bill-of-materials.ts';
import type { Release } from './release-in-progress.ts';

/** A package of the image's base system. */
export interface DebianPackage {
  file: string;
  sha256: string;
}

/**
 * What the files were made of: an in-toto statement with the predicate of SLSA 1.0 (commit, lock file, Node, packages
 * of the image). It names no time and no machine, so that it is the same when the release is made again.
 */
export async function provenance(
  { version, base, commit, source }: Release,
  made: { lock: LockFile; subjects: ReadonlyMap<string, string>; packages: readonly DebianPackage[] },
): Promise<string> {
  const lockFile = createHash('sha256')
    .update(await readFile(join(source, 'package-lock.json')))
    .digest('hex');
  const runtimes = [...made.lock].filter(([path]) => /^node_modules\/node-linux-/.test(path));
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...made.subjects].map(([name, sha256]) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:hearth:scripts/release',
        externalParameters: { version, commit: base },
        internalParameters: { node: process.version },
        resolvedDependencies: [
          { name: 'hearth', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: lockFile } },
          ...runtimes.map(([path, locked]) => ({
            uri: purlOf(path, locked),
            digest: { sha512: Buffer.from(locked.integrity!.slice('sha512-'.length), 'base64').toString('hex') },
          })),
          ...made.packages.map(({ file, sha256 }) => ({ name: file, digest: { sha256 } })),
        ],
      },
      runDetails: { builder: { id: 'urn:hearth:scripts/release' } },
    },
  };
  return `${JSON.stringify(statement, null, 2)}\n`;
}
