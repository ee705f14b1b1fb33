import type { LocalTarget } from '../../federation/index.ts';
import { invalid, isDomainError } from '../../kernel/index.ts';
import type { PersonContext } from '../app/request-context.ts';
import type { FollowsDeps } from './deps.ts';

/**
 * Follows an object of this server: a repository by its star, a user, an organisation. Throws the same
 * `unresolvable_handle` for hidden and absent objects, and the errors of these.
 */
export async function followHere(
  { viewer, person }: PersonContext,
  { repositories, owners, accounts, organisations }: FollowsDeps,
  { owner, name }: LocalTarget,
): Promise<void> {
  const unknown = () =>
    invalid('unresolvable_handle', `${name === null ? owner : `${owner}/${name}`} does not exist on this server.`, {
      field: 'target',
    });
  if (name !== null) {
    await repositories.stars.add(viewer, owner, name).catch((error: unknown) => {
      throw isDomainError(error) && error.code === 'not_found' ? unknown() : error;
    });
    return;
  }
  const found = await owners.resolve(owner);
  if (found === null) throw unknown();
  if (found.kind === 'user') await accounts.following.follow(person.id, found.id);
  else await organisations.follows.add(person.id, found.id);
}
