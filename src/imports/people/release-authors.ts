import { rows } from '../../db/index.ts';
import { loginOf, placeholderName } from '../context/people-book.ts';
import type { ImportDeps } from '../deps.ts';
import { importPersonSchema, importSchema } from '../schema/import-schema.ts';

/** Names the authors of imported releases as `login@host`, like those of texts, and gives releases to claimants. */
export async function nameReleaseAuthors(
  { db }: Pick<ImportDeps, 'db'>,
  { repositoryId, host }: { repositoryId: string; host: string },
): Promise<void> {
  const withoutAccount = 'repository_id = ? AND author_id IS NULL AND origin IS NOT NULL';
  const named = await rows<{ name: string }>(
    db.read,
    `SELECT author_name AS name FROM releases WHERE ${withoutAccount} AND author_name IS NOT NULL`,
    [repositoryId],
  );
  for (const name of new Set(named.map((row) => row.name))) {
    const login = loginOf(name.endsWith(`@${host}`) ? name.slice(0, -host.length - 1) : name);
    const userId = (await db.read.findOneBy(importPersonSchema, { host, login }))?.userId ?? null;
    const placeholder = placeholderName(login, host);
    if (userId === null && placeholder === name) continue;
    await db.write(({ manager }) =>
      rows(manager, `UPDATE releases SET author_name = ?, author_id = ? WHERE ${withoutAccount} AND author_name = ?`, [
        placeholder,
        userId,
        repositoryId,
        name,
      ]),
    );
  }
}

/** Moves the releases of an author, in all repositories from a host, to an account or back. */
export async function moveReleases(
  { db }: Pick<ImportDeps, 'db'>,
  { host, login }: { host: string; login: string },
  { from, to }: { from: string | null; to: string | null },
): Promise<void> {
  const isFrom = from === null ? 'author_id IS NULL' : 'author_id = ?';
  for (const { repositoryId } of await db.read.findBy(importSchema, { host }))
    await db.write(({ manager }) =>
      rows(
        manager,
        `UPDATE releases SET author_id = ?
         WHERE repository_id = ? AND author_name = ? AND origin IS NOT NULL AND ${isFrom}`,
        [to, repositoryId, placeholderName(login, host), ...(from === null ? [] : [from])],
      ),
    );
}
