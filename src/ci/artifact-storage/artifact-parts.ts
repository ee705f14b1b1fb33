import { rows } from '../../db/index.ts';
import type { Database } from '../../db/index.ts';
import type { EntityManager } from 'typeorm';
import { notFound } from '../../kernel/index.ts';

/** Part of an unfinished upload, stored as one object. */
export interface ArtifactPart {
  artifactId: number;
  /** Name of the file; empty for an archive. */
  file: string;
  /** Block of an archive that the client orders later; empty for bytes whose position is known. */
  block: string;
  /** Position of the part in its block or file, in bytes. */
  position: number;
  /** Key of the object. */
  object: string;
  bytes: number;
}

const insertedAtOnce = 500;

/**
 * Rows that name the parts of unfinished uploads. Used where several nodes share a database and a bucket, because the
 * parts of one upload may arrive at different nodes.
 */
export class ArtifactParts {
  readonly #db: Pick<Database, 'read' | 'write'>;

  constructor(db: Pick<Database, 'read' | 'write'>) {
    this.#db = db;
  }

  get read(): EntityManager {
    return this.#db.read;
  }

  /** Serialises the changes to one upload. */
  change<Result>(artifactId: number, work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    return this.#db.write(({ manager }) => work(manager), { scope: `artifact:${artifactId}` });
  }

  /** Returns the parts in order. */
  async of(manager: EntityManager, artifactId: number, file: string, block?: string): Promise<ArtifactPart[]> {
    const found = await rows<ArtifactPart>(
      manager,
      `SELECT artifact_id AS "artifactId", file, block, position, object, bytes FROM ci_artifact_parts
        WHERE artifact_id = ? AND file = ? ${block === undefined ? '' : 'AND block = ?'} ORDER BY block, position`,
      block === undefined ? [artifactId, file] : [artifactId, file, block],
    );
    return found.map((part) => ({
      ...part,
      artifactId: Number(part.artifactId),
      position: Number(part.position),
      bytes: Number(part.bytes),
    }));
  }

  /** Throws `artifact_not_found` if the artifact was removed during the upload. */
  async add(manager: EntityManager, artifactId: number, parts: readonly ArtifactPart[]): Promise<void> {
    const found = await rows(manager, `SELECT 1 AS one FROM ci_artifacts WHERE id = ? AND state <> 'removed'`, [
      artifactId,
    ]);
    if (found.length === 0) throw notFound('artifact_not_found', 'There is no such artifact.');
    for (let at = 0; at < parts.length; at += insertedAtOnce) {
      const some = parts.slice(at, at + insertedAtOnce);
      await rows(
        manager,
        `INSERT INTO ci_artifact_parts (artifact_id, file, block, position, object, bytes)
          VALUES ${some.map(() => '(?, ?, ?, ?, ?, ?)').join(', ')}`,
        some.flatMap((part) => [part.artifactId, part.file, part.block, part.position, part.object, part.bytes]),
      );
    }
  }

  async count(manager: EntityManager, artifactId: number, file: string): Promise<number> {
    const [found] = await rows<{ count: number }>(
      manager,
      'SELECT count(*) AS count FROM ci_artifact_parts WHERE artifact_id = ? AND file = ?',
      [artifactId, file],
    );
    return Number(found?.count ?? 0);
  }

  /**
   * Removes the parts of a file, of one of its blocks, or at one position of a block. Returns the keys of their
   * objects.
   */
  async remove(manager: EntityManager, artifactId: number, file: string, ...more: [block?: string, position?: number]) {
    const conditions = ['artifact_id = ?', 'file = ?', ...(more.length > 0 ? ['block = ?'] : [])];
    if (more.length > 1) conditions.push('position = ?');
    return objectsOf(
      await rows<{ object: string }>(
        manager,
        `DELETE FROM ci_artifact_parts WHERE ${conditions.join(' AND ')} RETURNING object`,
        [artifactId, file, ...more],
      ),
    );
  }

  /** Removes all parts of an artifact. Returns the keys of their objects. */
  async removeAll(artifactId: number): Promise<string[]> {
    return this.change(artifactId, async (manager) =>
      objectsOf(
        await rows<{ object: string }>(
          manager,
          'DELETE FROM ci_artifact_parts WHERE artifact_id = ? RETURNING object',
          [artifactId],
        ),
      ),
    );
  }

  /** Bytes received for unfinished archives, by artifact. */
  async bytes(manager: EntityManager, ids: readonly number[]): Promise<Map<number, number>> {
    const found = new Map<number, number>();
    for (const id of ids) {
      const [sum] = await rows<{ bytes: number | null }>(
        manager,
        `SELECT CAST(sum(bytes) AS BIGINT) AS bytes FROM ci_artifact_parts WHERE artifact_id = ? AND file = ''`,
        [id],
      );
      found.set(id, Number(sum?.bytes ?? 0));
    }
    return found;
  }

  /** Ids of the artifacts that have parts. */
  async ids(): Promise<number[]> {
    // Skips from one artifact to the next instead of reading all parts.
    const found: number[] = [];
    for (;;) {
      const [next] = await rows<{ id: number }>(
        this.#db.read,
        'SELECT artifact_id AS id FROM ci_artifact_parts WHERE artifact_id > ? AND file = ? ORDER BY artifact_id LIMIT 1',
        [found.at(-1) ?? 0, ''],
      );
      if (next === undefined) return found;
      found.push(Number(next.id));
    }
  }

  /** Whether a row refers to this object of an artifact. */
  async names(artifactId: number, object: string): Promise<boolean> {
    const found = await rows(
      this.#db.read,
      'SELECT 1 AS one FROM ci_artifact_parts WHERE artifact_id = ? AND object = ? LIMIT 1',
      [artifactId, object],
    );
    return found.length > 0;
  }
}

const objectsOf = (found: readonly { object: string }[]): string[] => [...new Set(found.map(({ object }) => object))];
