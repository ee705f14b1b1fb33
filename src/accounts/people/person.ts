import type { UserRow } from '../schema/user-schema.ts';

/** A person with an account, as other modules see them: without the password. */
export interface Person {
  /** UUID. */
  id: string;
  /** `null` until a handle is chosen; without one, a person is not listed anywhere (SPEC §2.4). */
  username: string | null;
  /** May be empty; pages then show the handle. */
  displayName: string;
  bio: string;
  /** Empty, or an http(s) address. */
  website: string;
  isAdministrator: boolean;
  mustChangePassword: boolean;
  disabledAt: number | null;
  createdAt: number;
  lastSeenAt: number | null;
  /** Since when a sign-in needs a second factor; `null` while the person has set none up. */
  secondFactorAt: number | null;
  /** The code of the language of pages and mails; `null` leaves it to the browser and the server. */
  language: string | null;
}

export function toPerson({ passwordHash: _, ...person }: UserRow): Person {
  return person;
}
