import { askDatabaseFile } from '../db/index.ts';
import { describeStore, describeStoreFailure, listReferencedObjects } from '../objects/index.ts';
import type { ReferencedObject } from '../objects/index.ts';
import type { BackupDeps } from './deps.ts';
import type { Manifest, ExternalObjects } from './manifest.ts';
import type { VerificationResult } from './verification-result.ts';

const enough = 20;

/** The objects of one kind that the rows of a database file reference. */
const namedIn = (kind: BackupDeps['objectKinds'][number], database: string): AsyncGenerator<ReferencedObject> =>
  listReferencedObjects(
    kind,
    async (sql, parameters) => (await askDatabaseFile(database, [{ sql, parameters }]))[0] ?? [],
  );

/** The objects in a bucket that the rows of a backup reference; null if objects are files of the backup. */
export async function countObjects(
  { objects, objectKinds, config }: Pick<BackupDeps, 'objects' | 'objectKinds' | 'config'>,
  database: string,
): Promise<ExternalObjects | null> {
  if (objects.place === 'folder') return null;
  const sum: ExternalObjects = { at: describeStore(config.objects), count: 0, bytes: 0 };
  for (const kind of objectKinds) {
    for await (const { bytes } of namedIn(kind, database)) {
      sum.count += 1;
      sum.bytes += bytes ?? 0;
    }
  }
  return sum;
}

/**
 * Whether the bucket still has the objects that the rows of a backup reference, with their sizes. Complete logs that
 * were not yet uploaded to the bucket are files of the backup.
 */
export async function checkExternalObjects(
  { objects, objectKinds, config }: Pick<BackupDeps, 'objects' | 'objectKinds' | 'config'>,
  database: string,
  { objects: elsewhere, files }: Manifest,
): Promise<VerificationResult[]> {
  if (elsewhere === undefined) return [];
  const part: VerificationResult = { part: 'objects', looked: 0, problems: [] };
  if (objects.place === 'folder' || describeStore(config.objects) !== elsewhere.at) {
    part.problems.push(`${elsewhere.count} objects are in ${elsewhere.at}, which the settings do not name`);
    return [part];
  }
  try {
    for (const kind of objectKinds) {
      const there = new Map<string, number>();
      for await (const { key, bytes } of objects.list(kind.prefix)) there.set(key, bytes);
      for await (const { key, bytes } of namedIn(kind, database)) {
        part.looked += 1;
        const found = there.get(key) ?? files[`ci/${key}`]?.[0];
        if (found === undefined) part.problems.push(`the object ${key} is not in the bucket`);
        else if (bytes !== null && bytes !== found) part.problems.push(`the object ${key} has ${found} bytes`);
      }
    }
  } catch (error) {
    part.problems.push(`the objects in ${elsewhere.at} cannot be looked at: ${describeStoreFailure(error)}`);
  }
  return [{ ...part, problems: part.problems.slice(0, enough) }];
}
