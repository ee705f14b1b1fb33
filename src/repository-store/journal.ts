import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { rows } from '../db/index.ts';
import { internal } from '../kernel/index.ts';
import type { StoreDeps } from './deps.ts';
import { storedRepositorySchema } from './schema.ts';
import type { StoredPack, StoredRepository } from './schema.ts';

/** A journal object: all changes from one generation to another. */
export interface JournalObject {
  format: 1;
  repository: string;
  head: string;
  /** Earlier objects contain the changes up to this generation. */
  since: number;
  generation: number;
  droppedGeneration: number;
  at: number;
  /** All refs if `since` is 0, otherwise those that changed; a deleted ref has no id. */
  refs: { name: string; oid: string | null; peeled: string | null; generation: number }[];
  packs: Omit<StoredPack, 'repository'>[];
}

/**
 * In addition to the rows, each change is written as an object `journal/<repository>/<generation>-<random>` to the
 * store, so that a database copy some seconds old can be updated. It is written after the transaction, because
 * otherwise a refused push would look as if it had happened, and before the response to the client. If one could not be
 * written, the next includes its changes.
 */
export interface Journal {
  /** Writes the changes up to a generation. Logs failures: the rows have the change. */
  write(repository: string, generation: number): Promise<void>;
  /** Writes a whole repository, and removes earlier objects. Throws `object_store_unavailable`. */
  snapshot(repository: string): Promise<void>;
  /**
   * Records that a repository has left the store, so that its packs may be removed. Logs failures: the packs then stay.
   */
  close(repository: string, generation: number): Promise<void>;
}

/** Parsed name of a journal object. */
export interface JournalEntry {
  key: string;
  repository: string;
  generation: number;
  /** Whether it records that the repository has left the store. */
  isEnd: boolean;
  storedAt: number;
}

const journalFolder = (repository: string): string => `journal/${repository}/`;
const digits = 12;
const keyForm = /^journal\/([0-9a-f-]{36}(?:\.wiki)?)\/(\d{12})-[0-9a-f-]{36}(\.end)?$/;

/** The journal of one repository, or of all. Throws `object_store_unavailable`. */
export async function* listJournal(
  objects: StoreDeps['objects'],
  repository: string | null = null,
): AsyncGenerator<JournalEntry> {
  for await (const { key, storedAt } of objects.list(repository === null ? 'journal/' : journalFolder(repository))) {
    const [, id, generation, end] = keyForm.exec(key) ?? [];
    if (id !== undefined)
      yield { key, repository: id, generation: Number(generation), isEnd: end !== undefined, storedAt };
  }
}
const maxTries = 3;

export function createJournal({ db, objects, random, clock, logger }: StoreDeps): Journal {
  /** Generations written to the store; saved to the rows periodically. */
  const written = new Map<string, number>();

  /** Retries once, for a store that responds 200 without content. */
  async function putChecked(repository: string, generation: number, content: object, ending = ''): Promise<string> {
    const text = Buffer.from(JSON.stringify(content));
    const sha256 = createHash('sha256').update(text).digest('hex');
    for (let tries = 1; ; tries += 1) {
      const number = String(generation).padStart(digits, '0');
      const key = `${journalFolder(repository)}${number}-${random.uuid()}${ending}`;
      await objects.put(key, Readable.from([text]), { maxBytes: text.length, tooLarge: () => internal('too long') });
      const kept = await objects.stat(key);
      if (kept?.bytes === text.length && (kept.sha256 ?? sha256) === sha256) return key;
      if (tries === maxTries) throw internal(`the store does not keep ${key}`);
    }
  }

  /** A snapshot of rows: refs and packs newer than the row's generation are in the next object. */
  async function changesSince(row: StoredRepository, since: number): Promise<JournalObject> {
    const { id } = row;
    const refs = await rows<JournalObject['refs'][number]>(
      db.read,
      'SELECT name, oid, peeled, generation FROM git_refs WHERE repository = ? AND generation > ? ORDER BY name',
      [id, since],
    );
    const packs = await rows<JournalObject['packs'][number]>(
      db.read,
      `SELECT key, name, pack_sha256 AS "packSha256", index_sha256 AS "indexSha256", pack_bytes AS "packBytes",
          index_bytes AS "indexBytes", generation, created_at AS "createdAt",
          replaced_generation AS "replacedGeneration", replaced_at AS "replacedAt"
        FROM git_packs WHERE repository = ? AND (generation > ? OR replaced_generation > ?) ORDER BY key`,
      [id, since, since],
    );
    return {
      format: 1,
      repository: id,
      head: row.head,
      since,
      generation: row.generation,
      droppedGeneration: row.droppedGeneration,
      at: clock.now(),
      refs,
      packs,
    };
  }

  const find = (id: string) => db.read.findOneBy(storedRepositorySchema, { id });
  const record = (repository: string, column: 'journalled' | 'snapshot_generation', generation: number) =>
    db.write(
      ({ manager }) =>
        manager.query(`UPDATE stored_repositories SET ${column} = ? WHERE id = ? AND ${column} < ?`, [
          generation,
          repository,
          generation,
        ]),
      { durable: 'with-the-next', scope: `repository:${repository}` },
    );

  return {
    async write(repository, upTo) {
      try {
        const row = await find(repository);
        if (row === null) return;
        const since = Math.max(row.journalled, written.get(repository) ?? 0);
        if (since >= upTo) return;
        await putChecked(repository, row.generation, await changesSince(row, since));
        written.set(repository, row.generation);
        await record(repository, 'journalled', row.generation);
      } catch (error) {
        logger.error('repository_store.not_journalled', { repository, generation: upTo, error });
      }
    },

    async snapshot(repository) {
      const row = await find(repository);
      if (row === null) return;
      const whole = await putChecked(repository, row.generation, await changesSince(row, 0));
      await record(repository, 'snapshot_generation', row.generation);
      const before: string[] = [];
      for await (const { key, generation } of listJournal(objects, repository))
        if (generation <= row.generation && key !== whole) before.push(key);
      for (const key of before) await objects.remove(key);
    },

    async close(repository, generation) {
      try {
        await putChecked(repository, generation, { format: 1, repository, generation, at: clock.now() }, '.end');
        written.delete(repository);
      } catch (error) {
        logger.error('repository_store.not_journalled', { repository, generation, error });
      }
    },
  };
}
