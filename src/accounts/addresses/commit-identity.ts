import { nullIfNotFound } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { personById } from '../people/find-people.ts';
import { publicAddressesOf } from './find-addresses.ts';
import type { NoReplyAddresses } from '../no-reply.ts';

/** The author of a commit that the server creates on behalf of a user. */
interface CommitIdentity {
  name: string;
  email: string;
}

/**
 * The user's name with their public verified address, else their no-reply address: a commit is public as long as the
 * history exists.
 */
export async function commitIdentityOf(deps: AccountsDeps, personId: string): Promise<CommitIdentity> {
  const person = await personById(deps, personId);
  const email = (await publicAddressesOf(deps, [personId])).get(personId);
  return {
    name: person.displayName || (person.username ?? 'unknown'),
    email: email ?? deps.noReply.of(person),
  };
}

/** The server as an author: an address in the no-reply domain that belongs to no user. */
export function serverIdentity(noReply: NoReplyAddresses): CommitIdentity {
  const [, domain] = noReply.of({ id: '', username: null }).split('@');
  return { name: 'Hearth', email: `hearth@${domain}` };
}

/** The same, but the server for null, which is the command line, and for deleted accounts. */
export async function identityOrServer(deps: AccountsDeps, personId: string | null): Promise<CommitIdentity> {
  if (personId === null) return serverIdentity(deps.noReply);
  return (await commitIdentityOf(deps, personId).catch(nullIfNotFound)) ?? serverIdentity(deps.noReply);
}
