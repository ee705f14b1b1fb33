import type { Tx } from '../../db/index.ts';
import { nextOwnerId } from '../../owners/index.ts';
import { parsePassword } from '../password-rules.ts';
import { parseText } from '../validate-text.ts';
import type { AccountsDeps } from '../deps.ts';
import { userSchema } from '../schema/user-schema.ts';
import type { UserRow } from '../schema/user-schema.ts';
import { displayNameRule } from './profile-rules.ts';
import { toPerson } from '../person.ts';
import type { Person } from '../person.ts';

export interface NewPerson {
  /** Without one, the user chooses a handle after the first sign-in (onboarding). */
  username?: string | null;
  /** Without one, the account has no password until one is set. */
  password?: string | null;
  displayName?: string;
  isAdministrator?: boolean;
  mustChangePassword?: boolean;
  /** An e-mail address that the administrator vouches for. */
  address?: string;
  /** An administrator assigns the handle of a deleted account to this one. */
  takesDeleted?: boolean;
}

/** Validated input with the password hashed: ready for a transaction. */
type PreparedPerson = Pick<
  UserRow,
  'username' | 'displayName' | 'passwordHash' | 'isAdministrator' | 'mustChangePassword'
> & { takesDeleted?: boolean };

/** Validation and hashing, before a transaction. Throws what `addPerson` throws, except for `handle_taken`. */
export async function preparePerson({ owners, hasher }: AccountsDeps, input: NewPerson): Promise<PreparedPerson> {
  const username = input.username == null ? null : owners.parseHandle(input.username).display;
  const displayName = parseText(input.displayName ?? '', displayNameRule);
  const password = input.password == null ? null : parsePassword(input.password);
  return {
    username,
    displayName,
    passwordHash: password === null ? null : await hasher.inSlot((hashing) => hashing.hash(password)),
    isAdministrator: input.isAdministrator ?? false,
    mustChangePassword: input.mustChangePassword ?? false,
    takesDeleted: input.takesDeleted ?? false,
  };
}

/** Inserts a new user: the account, and the handle if there is one. */
export async function insertPerson(
  deps: AccountsDeps,
  tx: Tx,
  { takesDeleted = false, ...prepared }: PreparedPerson,
): Promise<Person> {
  const row: UserRow = {
    id: await nextOwnerId(tx, deps.random),
    ...prepared,
    bio: '',
    website: '',
    disabledAt: null,
    createdAt: tx.now,
    lastSeenAt: null,
    secondFactorAt: null,
    language: null,
  };
  if (row.username !== null)
    await deps.owners.claim(tx, { handle: row.username, kind: 'user', ownerId: row.id, takesDeleted });
  await tx.manager.insert(userSchema, row);
  return toPerson(row);
}
