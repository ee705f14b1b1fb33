import { localAdministrator } from '../../access/index.ts';
import { isRefusal } from '../../kernel/index.ts';
import { cleanText } from '../../accounts/index.ts';
import type { ImportDeps } from '../deps.ts';
import { importPersonSchema } from '../schema/import-schema.ts';
import type { GroupOwnerRow, ImportGroupRow } from '../schema/group-schema.ts';
import type { ListedOwner } from '../sources/list-repositories.ts';

/** The owner here, or the reason why there is none. */
type FoundOwner = { id: string; isMade: boolean } | { problem: string };

/**
 * Finds the owner here for an owner of a whole server. For a user this is the account in an administrator's mapping or
 * the one with the e-mail address that the server vouches for, verified here; an equal name proves nothing. If the name
 * is free, creates a disabled account without a password, or an organisation owned by the user who started the import.
 */
export async function findOwner(
  deps: ImportDeps,
  group: ImportGroupRow,
  row: GroupOwnerRow,
  starter: string,
): Promise<FoundOwner> {
  const listed = JSON.parse(row.details) as ListedOwner;
  if (row.kind === 'user') {
    const known = await deps.db.read.findOneBy(importPersonSchema, { host: group.host, login: row.login });
    const id = known?.userId ?? (await deps.accounts.addresses.peopleByAddress([listed.email])).get(listed.email)?.id;
    if (id !== undefined) return { id, isMade: false };
  }
  try {
    if (row.kind === 'organisation') {
      const { id } = await deps.organisations.create(localAdministrator, {
        name: row.login,
        displayName: cleanText(listed.name, 50),
        description: cleanText(listed.description, 150),
        owner: starter,
      });
      return { id, isMade: true };
    }
    const person = await deps.accounts.addPerson({
      username: row.login,
      displayName: cleanText(listed.name, 50),
      ...(listed.email === '' ? {} : { address: listed.email }),
    });
    await deps.accounts.setDisabled(person.id, true);
    return { id: person.id, isMade: true };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return {
      problem:
        error.reason === 'handle_taken'
          ? `${row.login} is another owner here. ${
              row.kind === 'user'
                ? `Say whose account it is: hearth import claim, with ${row.login}@${group.host} = NAME`
                : 'Import it by itself, with an owner'
            }.`
          : error.message,
    };
  }
}
