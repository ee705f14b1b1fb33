import { isIP } from 'node:net';
import type { Person } from '../people/person.ts';

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const localShape = new RegExp(`^(${uuid})\\+[^@]+@[^@]+$`);
/** An id, a handle and a host name. */
const maxLength = 36 + 1 + 39 + 1 + 253;

/** Before the administrator has set `base_url`; nobody can have a mailbox below `localhost` (RFC 6761 §6.3). */
const hostWithoutAddress = 'localhost';

/**
 * The addresses `<user id>+<handle>@noreply.<host>` that commits have which the server makes in the name of a person.
 * No mail is ever sent to one.
 */
export interface NoReplyAddresses {
  of(person: Pick<Person, 'id' | 'username'>): string;
  /**
   * The id of the person whom a no-reply address of this instance belongs to; null for other addresses. The id alone
   * decides: the handle behind it is the one of that time, so an address survives a rename, and a later owner
   * of the handle gets no commit with it. Longer than a mailbox may be, so `readAddress` does not accept them all.
   */
  personIdOf(address: string): string | null;
  /** Whether the domain of an address is the one of these, so that nobody may enter it as their own. */
  isReserved(key: string): boolean;
}

/** @param baseUrl the address of the instance; null when it is not set */
export function createNoReplyAddresses(baseUrl: string | null): NoReplyAddresses {
  const host = baseUrl === null ? hostWithoutAddress : hostOf(baseUrl);
  // Commits that were made before `base_url` was set keep their author.
  const domains = new Set([`noreply.${host}`, `noreply.${hostWithoutAddress}`]);
  return {
    of: ({ id, username }) => `${id}+${username ?? ''}@noreply.${host}`,
    personIdOf(address) {
      if (address.length > maxLength) return null;
      const key = address.toLowerCase();
      return domains.has(domainOf(key)) ? (localShape.exec(key)?.[1] ?? null) : null;
    },
    isReserved: (key) => domains.has(domainOf(key)),
  };
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);

/** The host without its port; of an IPv6 address the digits alone, which git and mail programs take for a name. */
function hostOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  const plain = hostname.replace(/^\[|\]$/g, '');
  return isIP(plain) === 6 ? plain.replace(/:+/g, '-').replace(/^-|-$/g, '') : plain;
}
