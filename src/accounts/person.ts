import type { UserRow } from './schema/user-schema.ts';

/** A user account as other modules see it: without the password. */
export interface Person {
  /** UUID. */
  id: string;
  /** `null` until a handle is chosen; without one, a user is not listed anywhere (SPEC §2.4). */
  username: string | null;
  /** May be empty; pages then show the handle. */
  displayName: string;
  bio: string;
  /** Empty, or an http(s) URL. */
  website: string;
  isAdministrator: boolean;
  mustChangePassword: boolean;
  disabledAt: number | null;
  createdAt: number;
  lastSeenAt: number | null;
  /** Time since which a sign-in needs a second factor; `null` without one. */
  secondFactorAt: number | null;
  /** Language code of pages and mails; `null` leaves it to the browser and the server. */
  language: string | null;
}

export function toPerson({ passwordHash: _, ...person }: UserRow): Person {
  return person;
}
