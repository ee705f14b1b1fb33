import { isRejected } from '../client/source-errors.ts';
import { isDomainError } from '../../kernel/index.ts';
import type { RunContext } from '../context/run-context.ts';
import { itemSchema } from '../schema/import-schema.ts';

const atOnce = 200;
/** Limit of lookups per run; the next run continues. */
const mostPerRun = 2_000;

/**
 * Requests the e-mail addresses of authors that no list contains: with an address that the source has verified and
 * shows, a user can claim their texts here. Each is requested once.
 */
export async function findAddresses(context: RunContext): Promise<void> {
  const { deps, row, source, signal } = context;
  if (source.addressOf === undefined) return;
  for (let asked = 0; asked < mostPerRun; ) {
    const rows: { login: string; remoteId: string }[] = await deps.db.read.query(
      `SELECT p.login AS login, p.remote_id AS "remoteId" FROM import_people p
       WHERE p.host = ? AND p.email = '' AND p.remote_id <> '' AND NOT EXISTS (
         SELECT 1 FROM import_items i WHERE i.import_id = ? AND i.item = 'person:' || p.login)
       ORDER BY p.login LIMIT ?`,
      [row.host, row.id, atOnce],
    );
    if (rows.length === 0) return;
    for (const { login, remoteId } of rows) {
      signal.throwIfAborted();
      const given = await source.addressOf({ login, id: remoteId }).catch(async (error: unknown) => {
        if (!isDomainError(error) || error.reason !== 'source_refused') throw error;
        // Nobody is asked twice: a token that has ended must not count as an answer.
        if (isRejected(error)) await source.describe();
        return '';
      });
      const address = /^[^\s@]{1,100}@[^\s@]{1,150}$/.test(given) ? given.toLowerCase() : '';
      await context.save({}, async ({ manager }) => {
        if (address !== '')
          await manager.query('UPDATE import_people SET email = ? WHERE host = ? AND login = ?', [
            address,
            row.host,
            login,
          ]);
        const item = { importId: row.id, item: `person:${login}`, fingerprint: '' };
        await manager.upsert(itemSchema, item, ['importId', 'item']);
      });
      asked += 1;
    }
  }
}
