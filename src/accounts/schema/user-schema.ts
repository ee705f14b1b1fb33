import { EntitySchema } from 'typeorm';

/** A row of `users`: a local account. */
export interface UserRow {
  id: string;
  /** The current handle as written, the same text as in `handles`; `null` before onboarding. */
  username: string | null;
  displayName: string;
  bio: string;
  website: string;
  /** A PHC string; `null` if the account has no password. */
  passwordHash: string | null;
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

export const userSchema = new EntitySchema<UserRow>({
  name: 'User',
  tableName: 'users',
  columns: {
    id: { type: 'text', primary: true },
    username: { type: 'text', nullable: true },
    displayName: { name: 'display_name', type: 'text' },
    bio: { type: 'text' },
    website: { type: 'text' },
    passwordHash: { name: 'password_hash', type: 'text', nullable: true },
    isAdministrator: { name: 'is_administrator', type: 'boolean' },
    mustChangePassword: { name: 'must_change_password', type: 'boolean' },
    disabledAt: { name: 'disabled_at', type: 'integer', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    lastSeenAt: { name: 'last_seen_at', type: 'integer', nullable: true },
    secondFactorAt: { name: 'second_factor_at', type: 'integer', nullable: true },
    language: { type: 'text', nullable: true },
  },
});
