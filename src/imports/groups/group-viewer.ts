import { accountViewer, localAdministrator } from '../../access/index.ts';
import type { PersonViewer } from '../../access/index.ts';
import { nullIfNotFound, unavailable } from '../../kernel/index.ts';
import type { ImportDeps } from '../deps.ts';

/**
 * The viewer of a group: the current rights of the user who started it, not those at its start. Throws
 * `import_starter_gone` for a disabled account.
 */
export async function viewerOfGroup(
  { accounts }: Pick<ImportDeps, 'accounts'>,
  startedBy: string | null,
): Promise<PersonViewer> {
  if (startedBy === null) return localAdministrator;
  const person = await accounts.personById(startedBy).catch(nullIfNotFound);
  if (person === null || person.disabledAt !== null || person.username === null)
    throw unavailable('import_starter_gone', 'The account that started this import is disabled.');
  return accountViewer(person);
}
