import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { rows } from '../db/index.ts';
import { internal } from '../kernel/index.ts';
import type { StoreDeps } from './deps.ts';
import { storedRepositorySchema } from './schema.ts';
import type { StoredPack } from './schema.ts';

/** An object of the journal: everything that has changed since a generation, as of another. */
export interface JournalObject {
  format: 1;
  repository: string;
  head: string;
  /** What changed up to here is in earlier objects. */
  since: number;
  generation: number;
  droppedGeneration: number;
  at: number;
  refs: { name: string; oid: string | null; peeled: string | null; generation: number }[];
  packs: Omit<StoredPack, 'repository'>[];
}

/**
 * Beside the rows, each change is an object `journal/<repository>/<generation>-<random>` of the store, so that rows of
 * a copy that is some seconds old can be brought up to date. It is written after the transaction, because before it a
 * refused push would look as if it had happened, and before the client is told. One that could not be written is made
 * good by the next.
 */
export interface Journal {
  /** Writes the changes up to a generation. A fault is logged: the rows have the change. */
  write(repository: string, generation: number): Promise<void>;
}

export const journalFolder = (repository: string): string => `journal/${repository}/`;
const digits = 12;
const maxTries = 3;

export function createJournal({ db, objects, random, clock, logger }: StoreDeps): Journal {
  /** Generations that are in objects; written to the rows now and then. */
  const written = new Map<string, number>();

  /** A store that says 200 and has nothing is asked once more. */
  async function putChecked(object: JournalObject): Promise<void> {
    const text = Buffer.from(JSON.stringify(object));
    const sha256 = createHash('sha256').update(text).digest('hex');
    for (let tries = 1; ; tries += 1) {
      const number = String(object.generation).padStart(digits, '0');
      const key = `${journalFolder(object.repository)}${number}-${random.uuid()}`;
      await objects.put(key, Readable.from([text]), { maxBytes: text.length, tooLarge: () => internal('too long') });
      const kept = await objects.stat(key);
      if (kept?.bytes === text.length && (kept.sha256 ?? sha256) === sha256) return;
      if (tries === maxTries) throw internal(`the store does not keep ${key}`);
    }
  }

  return {
    async write(repository, upTo) {
      try {
        const row = await db.read.findOneBy(storedRepositorySchema, { id: repository });
        if (row === null) return;
        const since = Math.max(row.journalled, written.get(repository) ?? 0);
        if (since >= upTo) return;
        const values = [repository, since];
        const refs = await rows<JournalObject['refs'][number]>(
          db.read,
          'SELECT name, oid, peeled, generation FROM git_refs WHERE repository = ? AND generation > ? ORDER BY name',
          values,
        );
        const packs = await rows<JournalObject['packs'][number]>(
          db.read,
          `SELECT key, name, pack_sha256 AS "packSha256", index_sha256 AS "indexSha256", pack_bytes AS "packBytes",
              index_bytes AS "indexBytes", generation, created_at AS "createdAt",
              replaced_generation AS "replacedGeneration", replaced_at AS "replacedAt"
            FROM git_packs WHERE repository = ? AND (generation > ? OR replaced_generation > ?) ORDER BY key`,
          [...values, since],
        );
        const object: JournalObject = {
          format: 1,
          repository,
          head: row.head,
          since,
          generation: row.generation,
          droppedGeneration: row.droppedGeneration,
          at: clock.now(),
          refs,
          packs,
        };
        await putChecked(object);
        written.set(repository, row.generation);
        await db.write(
          ({ manager }) =>
            manager.query('UPDATE stored_repositories SET journalled = ? WHERE id = ? AND journalled < ?', [
              row.generation,
              repository,
              row.generation,
            ]),
          { durable: 'with-the-next', scope: `repository:${repository}` },
        );
      } catch (error) {
        logger.error('repository_store.not_journalled', { repository, generation: upTo, error });
      }
    },
  };
}
