import type { DeployKeyViewer } from '../../access/index.ts';
import { isUniqueViolation, rowBy } from '../../db/index.ts';
import type { RowSource, Tx } from '../../db/index.ts';
import { conflict, invalid, notFound } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { deployKeyAccesses, deployKeySchema } from '../schema/deploy-key-schema.ts';
import type { DeployKeyAccess, DeployKeyRow } from '../schema/deploy-key-schema.ts';
import { cleanText, parseText } from '../validate-text.ts';
import { isKeyInUse, keyInUse } from './key-in-use.ts';
import { parsePublicKeyLine, worksWithBuiltInServer } from './ssh-public-key.ts';
import type { SshPublicKey } from './ssh-public-key.ts';

/** An SSH key of one repository. */
export interface DeployKey extends Omit<DeployKeyRow, 'blobBase64'> {
  /** The key as a line of `authorized_keys`, without a comment. */
  line: string;
  /** False for keys on security tokens (`sk-…`): they need the system's sshd. */
  worksWithBuiltInServer: boolean;
}

export interface NewDeployKey {
  /** If empty: the key's comment, else its type. */
  title?: string | undefined;
  /** A full line of a `.pub` file. */
  line: string;
  /** `read` or `write`. */
  access: string;
}

/** Result of `readDeployKey`. */
interface CheckedDeployKey {
  title: string;
  key: SshPublicKey;
  access: DeployKeyAccess;
}

const titleRule = { field: 'title', called: 'The title', maxCharacters: 100 };

/**
 * Parses deploy key fields from a form or an API call. Throws what `parsePublicKeyLine` throws; `invalid_text`,
 * `text_too_long`; `invalid_key_access`.
 */
export function readDeployKey(input: NewDeployKey): CheckedDeployKey {
  const title = parseText(input.title ?? '', titleRule);
  const access = deployKeyAccesses.find((known) => known === input.access);
  if (access === undefined)
    throw invalid('invalid_key_access', 'Choose whether the key can read or write.', { field: 'access' });
  const key = parsePublicKeyLine(input.line);
  return { title: title || cleanText(key.comment, titleRule.maxCharacters) || key.type, key, access };
}

/**
 * Adds a deploy key, inside the transaction that has checked permissions. Throws `key_in_use`, also for a user's
 * sign-in key; `too_many_deploy_keys`.
 */
export async function addDeployKey(
  { random, settings }: AccountsDeps,
  { manager, now }: Tx,
  { title, key: { type, blob, fingerprint }, access }: CheckedDeployKey,
  { repositoryId, addedBy }: { repositoryId: string; addedBy: string | null },
): Promise<DeployKey> {
  const { maxDeployKeys } = settings;
  if ((await manager.countBy(deployKeySchema, { repositoryId })) >= maxDeployKeys)
    throw conflict(
      'too_many_deploy_keys',
      `A repository can have at most ${maxDeployKeys} deploy keys. Remove one first.`,
    );
  if (await isKeyInUse(manager, fingerprint)) throw keyInUse();
  const row: DeployKeyRow = {
    id: random.uuid(),
    repositoryId,
    title,
    type,
    blobBase64: blob.toString('base64'),
    fingerprint,
    access,
    addedBy,
    createdAt: now,
    lastUsedAt: null,
  };
  await manager.insert(deployKeySchema, row).catch((error: unknown) => {
    throw isUniqueViolation(error, 'deploy_keys_fingerprint') ? keyInUse(error) : error;
  });
  return toDeployKey(row);
}

/**
 * Removes a repository's deploy key, inside the transaction that has checked permissions. Throws `unknown_deploy_key`.
 */
export async function removeDeployKey({ manager }: Tx, repositoryId: string, id: string): Promise<DeployKey> {
  const row = await manager.findOneBy(deployKeySchema, { id, repositoryId });
  if (row === null) throw notFound('unknown_deploy_key', 'There is no such deploy key.');
  await manager.delete(deployKeySchema, { id });
  return toDeployKey(row);
}

/** A repository's deploy keys, oldest first. */
export async function listDeployKeys({ db }: AccountsDeps, repositoryId: string): Promise<DeployKey[]> {
  const rows = await db.read.find(deployKeySchema, {
    where: { repositoryId },
    order: { createdAt: 'ASC', id: 'ASC' },
  });
  return rows.map(toDeployKey);
}

/**
 * The current state of a deploy key; null if removed. Ignores who added it, because the key belongs to the repository.
 * @param source the row cache, or the connection of the deciding transaction
 */
export async function deployKeyViewer(source: RowSource, id: string): Promise<DeployKeyViewer | null> {
  const row = await rowBy(source, deployKeySchema, { id });
  return row === null ? null : viewerOfRow(row);
}

export const viewerOfRow = ({ id, title, repositoryId, access }: DeployKeyRow): DeployKeyViewer => ({
  kind: 'deployKey',
  id,
  title,
  repositoryId,
  scope: access,
});

const toDeployKey = ({ blobBase64, ...row }: DeployKeyRow): DeployKey => ({
  ...row,
  line: `${row.type} ${blobBase64}`,
  worksWithBuiltInServer: worksWithBuiltInServer(row.type),
});
