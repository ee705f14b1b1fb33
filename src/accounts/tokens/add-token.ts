import type { Scope } from '../../access/index.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../../db/index.ts';
import { conflict, invalid } from '../../kernel/index.ts';
import { accessTokenRepositorySchema, accessTokenSchema } from '../schema/access-token-schema.ts';
import type { AccessTokenRow } from '../schema/access-token-schema.ts';
import { noSuchPerson } from '../people/find-people.ts';
import { parseText } from '../validate-text.ts';
import type { AccountsDeps } from '../deps.ts';
import { hashSecret } from '../secret.ts';
import { userSchema } from '../schema/user-schema.ts';
import { announceSecurityEvent } from '../security-events.ts';
import { toAccessToken } from './access-token.ts';
import type { AccessToken } from './access-token.ts';
import { newAccessToken } from './token-format.ts';

export interface NewAccessToken {
  /** Unique among the user's tokens. */
  name: string;
  access: Scope;
  /** Ids of repositories; `null` means all. The caller checks that the user can see them. */
  repositoryIds: readonly string[] | null;
  /** Limits the token to packages. */
  onlyPackages?: boolean;
  /** `null` for no expiry. */
  expiresAt: number | null;
}

const nameRule = { field: 'name', called: 'The name', maxCharacters: 100 };
const scopes: readonly Scope[] = ['read', 'write', 'admin'];
const maxRepositoriesPerToken = 100;

/**
 * Creates an access token. Returns its secret once, and does not store it.
 *
 * Throws `invalid`: `invalid_text`, `text_too_long`, `name_missing`, `invalid_access`, `invalid_repositories` (an empty
 * list, over 100, unknown ids), `invalid_expiry` (not in the future); `conflict`: `token_name_taken`, `too_many_tokens`
 * (over 100); `unknown_person`.
 */
export async function addToken(
  deps: AccountsDeps,
  personId: string,
  input: NewAccessToken,
): Promise<{ token: AccessToken; secret: string }> {
  const { db, clock, random, settings } = deps;
  const name = parseText(input.name, nameRule);
  if (name === '') throw invalid('name_missing', 'Enter a name for the token.', { field: 'name' });
  if (!scopes.includes(input.access)) {
    throw invalid('invalid_access', 'The access must be read, write or admin.', { field: 'access' });
  }
  const repositoryIds = parseRepositoryIds(input.repositoryIds);
  const { expiresAt } = input;
  if (expiresAt !== null && !(Number.isSafeInteger(expiresAt) && expiresAt > clock.now())) {
    throw invalid('invalid_expiry', 'Choose an expiry date in the future, or no expiry.', { field: 'expires_in' });
  }

  const secret = newAccessToken(random);
  return db.write(async (tx) => {
    const { manager, now } = tx;
    if (!(await manager.existsBy(userSchema, { id: personId }))) throw noSuchPerson();
    if ((await manager.countBy(accessTokenSchema, { userId: personId })) >= settings.maxTokensPerPerson) {
      throw conflict('too_many_tokens', `You already have ${settings.maxTokensPerPerson} tokens. Remove one first.`);
    }
    const row: AccessTokenRow = {
      id: random.uuid(),
      userId: personId,
      name,
      tokenHash: hashSecret(secret),
      ending: secret.slice(-4),
      access: input.access,
      allRepositories: repositoryIds === null,
      onlyPackages: input.onlyPackages ?? false,
      expiresAt,
      createdAt: now,
      lastUsedAt: null,
      lastUsedAddress: null,
    };
    try {
      await manager.insert(accessTokenSchema, row);
    } catch (error) {
      if (!isUniqueViolation(error, 'access_tokens_user_name')) throw error;
      throw conflict('token_name_taken', 'You already have a token with this name.', { field: 'name', cause: error });
    }
    try {
      for (const repositoryId of repositoryIds ?? []) {
        await manager.insert(accessTokenRepositorySchema, { tokenId: row.id, repositoryId });
      }
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      throw invalidRepositories('One of the repositories does not exist.');
    }
    await announceSecurityEvent(deps, tx, personId, { kind: 'token_added', name, access: input.access });
    return { token: toAccessToken(row, repositoryIds ?? []), secret };
  });
}

function parseRepositoryIds(ids: readonly string[] | null): string[] | null {
  if (ids === null) return null;
  const isListOfTexts = Array.isArray(ids) && ids.every((id) => typeof id === 'string');
  if (!isListOfTexts) throw invalidRepositories('The repositories must be a list.');
  const unique = [...new Set(ids)];
  if (unique.length === 0) throw invalidRepositories('Choose at least one repository, or all.');
  if (unique.length > maxRepositoriesPerToken) {
    throw invalidRepositories(`A token can be limited to at most ${maxRepositoriesPerToken} repositories.`);
  }
  return unique;
}

function invalidRepositories(message: string) {
  return invalid('invalid_repositories', message, { field: 'repos' });
}
