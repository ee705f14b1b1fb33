import { In } from 'typeorm';
import type { ImportedPerson } from '../../issues/index.ts';
import { cleanText } from '../../accounts/index.ts';
import type { ImportDeps } from '../deps.ts';
import { importLimits } from '../limits.ts';
import { importPersonSchema } from '../schema/import-schema.ts';
import type { SourcePerson } from '../sources/source.ts';

/** Finds the local accounts of the authors of a text, and gives names to the others. */
export interface PeopleBook {
  of(person: SourcePerson | null): ImportedPerson | null;
}

/** The name of an author without an account here: `alice@gitea.example.org`. Account names never contain `@`. */
export const placeholderName = (login: string, host: string): string =>
  `${cleanText(login, importLimits.loginCharacters).replaceAll('@', '_') || 'unknown'}@${host}`.slice(0, 100);

/**
 * Stores authors of a source, so that they can claim their texts, and finds those who have. Only a verified account
 * counts: an equal name proves nothing.
 */
export async function openPeopleBook(
  { db }: Pick<ImportDeps, 'db'>,
  host: string,
  people: readonly (SourcePerson | null)[],
): Promise<PeopleBook> {
  const byLogin = new Map(
    people.flatMap((person) => (person === null ? [] : [[loginOf(person.login), person] as const])),
  );
  const logins = [...byLogin.keys()];
  const rows = logins.length === 0 ? [] : await db.read.findBy(importPersonSchema, { host, login: In(logins) });
  const known = new Map(rows.map((row) => [row.login, row]));
  const changed = [...byLogin].filter(([login, person]) => {
    const row = known.get(login);
    const { id, name, email, url } = clean(person);
    // Without an address, the one that was requested separately is used.
    const isOther = row !== undefined && email !== '' && row.email !== email;
    if (row !== undefined && person.isNameOnly) return false;
    return row === undefined || row.remoteId !== id || row.name !== name || isOther || row.url !== url;
  });
  if (changed.length > 0)
    await db.write(async ({ manager }) => {
      for (const [login, person] of changed) {
        const { id, name, email, url } = clean(person);
        await manager.query(
          `INSERT INTO import_people (host, login, remote_id, name, email, url) VALUES (?, ?, ?, ?, ?, ?)
           ON CONFLICT (host, login) DO UPDATE SET
             remote_id = excluded.remote_id, name = excluded.name, url = excluded.url,
             email = CASE WHEN excluded.email = '' THEN import_people.email ELSE excluded.email END`,
          [host, login, id, name, email, url],
        );
      }
    });
  return {
    of(person) {
      if (person === null) return null;
      const userId = known.get(loginOf(person.login))?.userId ?? null;
      const name = placeholderName(person.login, host);
      return userId === null ? { name } : { name, id: userId };
    },
  };
}

/** The form in which a login is stored. */
export const loginOf = (login: string): string =>
  cleanText(login, importLimits.loginCharacters).replaceAll('@', '_') || 'unknown';

const clean = ({ id, name, email, url }: SourcePerson) => ({
  id: id.slice(0, 100),
  name: cleanText(name, 100),
  email: /^[^\s@]{1,100}@[^\s@]{1,150}$/.test(email) ? email.toLowerCase() : '',
  url: /^https?:\/\//.test(url) ? url.slice(0, 500) : '',
});
