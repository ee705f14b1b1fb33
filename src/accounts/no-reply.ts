import { isIP } from 'node:net';
import type { Person } from './person.ts';

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const localShape = new RegExp(`^(${uuid})\\+[^@]+@[^@]+$`);
/** An id, a handle and a host name. */
const maxLength = 36 + 1 + 39 + 1 + 253;

/** Used before the administrator has set `base_url`; nobody can have a mailbox below `localhost` (RFC 6761 §6.3). */
const hostWithoutAddress = 'localhost';

/**
 * The addresses `<user id>+<handle>@noreply.<host>` in commits that the server creates for users. They never receive
 * mail.
 */
export interface NoReplyAddresses {
  of(person: Pick<Person, 'id' | 'username'>): string;
  /**
   * The id of the user to whom a no-reply address of this instance belongs; null for other addresses. Only the id
   * counts: the handle after it is from the time of the commit, so an address survives a rename, and a later owner of
   * the handle gains no commits. May be longer than a mailbox, so `readAddress` does not accept all of them.
   */
  personIdOf(address: string): string | null;
  /** Whether the domain of an address is one of these, which users may not add as their own. */
  isReserved(key: string): boolean;
}

/**
 * @param baseUrl the URL of the instance; null if not set
 */
export function createNoReplyAddresses(baseUrl: string | null): NoReplyAddresses {
  const host = baseUrl === null ? hostWithoutAddress : hostOf(baseUrl);
  // Commits created before `base_url` was set keep their author.
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

/** The host without its port; for an IPv6 address only the digits, which git and mail programs accept as a name. */
function hostOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  const plain = hostname.replace(/^\[|\]$/g, '');
  return isIP(plain) === 6 ? plain.replace(/:+/g, '-').replace(/^-|-$/g, '') : plain;
}
