import { localAdministrator } from '../../access/index.ts';
import type { PersonViewer } from '../../access/index.ts';
import { isDomainError, unavailable } from '../../kernel/index.ts';
import type { ImportDeps } from '../deps.ts';

/**
 * Who a group acts for: the rights that its starter has now, not those at its start. Refuses `import_starter_gone` for
 * an account that is disabled.
 */
export async function viewerOfGroup(
  { accounts }: Pick<ImportDeps, 'accounts'>,
  startedBy: string | null,
): Promise<PersonViewer> {
  if (startedBy === null) return localAdministrator;
  const person = await accounts.personById(startedBy).catch((error: unknown) => {
    if (!isDomainError(error) || error.code !== 'not_found') throw error;
    return null;
  });
  if (person === null || person.disabledAt !== null || person.username === null)
    throw unavailable('import_starter_gone', 'The account that started this import is disabled.');
  return {
    kind: 'person',
    id: person.id,
    username: person.username,
    isAdministrator: person.isAdministrator,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  };
}
