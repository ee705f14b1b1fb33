import type { EntityManager } from 'typeorm';
import { conflict, invalid, notFound } from '../../kernel/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { inScope, scopeOf, scopesAround, toColumns } from '../scope.ts';
import type { CiScope } from '../scope.ts';
import { isFor, namesOfReaders, readersOf } from './limited-secrets.ts';
import { checkValue, maxPerScope, parseSecretName } from './name-rules.ts';
import { encrypt, decrypt, reencrypt } from '../../sealing/index.ts';
import { secretSchema } from '../schema/secret-schema.ts';

/** A secret without its value. */
interface SecretFacts {
  name: string;
  createdAt: number;
  updatedAt: number;
  /** Names of the owners and repositories whose tasks receive it; null for all in its scope. */
  onlyFor: string[] | null;
}

type Deps = Pick<CiDeps, 'db' | 'random' | 'key'>;
type ReaderDeps = Pick<CiDeps, 'owners' | 'repositories'>;

/** Additional data of the encryption: a ciphertext decrypts only for its own scope and name. */
const contextOf = (scope: CiScope, name: string): string => `${scope.kind}:${'id' in scope ? scope.id : ''}:${name}`;

/** Names and times, sorted by name; only runners receive values from this module. */
export async function listSecrets(deps: Deps & ReaderDeps, scope: CiScope): Promise<SecretFacts[]> {
  const rows = await deps.db.read.find(secretSchema, { where: inScope(scope), order: { name: 'ASC' } });
  return Promise.all(
    rows.map(async ({ name, createdAt, updatedAt, onlyFor }) => ({
      name,
      createdAt,
      updatedAt,
      onlyFor: onlyFor === null ? null : await namesOfReaders(deps, JSON.parse(onlyFor) as string[]),
    })),
  );
}

/**
 * Stores a secret, replacing one of the same name. Throws `invalid_secret_name`, `invalid_secret_value`,
 * `too_many_secrets`, and the errors of `readersOf`.
 * @param input.onlyFor for secrets of the server: names of the owners and repositories whose tasks receive it; empty
 *   for all, omitted to keep those of the replaced secret
 */
export async function setSecret(
  deps: Deps & ReaderDeps,
  scope: CiScope,
  input: { name: string; value: string; onlyFor?: readonly string[] | undefined },
): Promise<Omit<SecretFacts, 'onlyFor'>> {
  const { db, random, key } = deps;
  if (input.onlyFor !== undefined && scope.kind !== 'instance')
    throw invalid('invalid_secret_readers', 'Only server secrets can be limited to repositories.', {
      field: 'only_for',
    });
  const readers = input.onlyFor === undefined ? undefined : await readersOf(deps, input.onlyFor);
  const onlyFor = readers === undefined || readers === null ? null : JSON.stringify(readers);
  const name = parseSecretName(input.name);
  const ciphertext = encrypt(key.for('secrets'), random, contextOf(scope, name), checkValue(input.value));
  return db.write(async ({ manager, now }) => {
    const before = await manager.findOneBy(secretSchema, { ...inScope(scope), name });
    if (before !== null) {
      await manager.update(
        secretSchema,
        { id: before.id },
        { ciphertext, updatedAt: now, ...(readers === undefined ? {} : { onlyFor }) },
      );
      return { name, createdAt: before.createdAt, updatedAt: now };
    }
    if ((await manager.countBy(secretSchema, inScope(scope))) >= maxPerScope) {
      throw conflict('too_many_secrets', `There are already ${maxPerScope} secrets here.`);
    }
    await manager.insert(secretSchema, {
      id: random.uuid(),
      ...toColumns(scope),
      name,
      ciphertext,
      onlyFor,
      createdAt: now,
      updatedAt: now,
    });
    return { name, createdAt: now, updatedAt: now };
  });
}

/** Throws `secret_not_found`. */
export async function removeSecret({ db }: Deps, scope: CiScope, name: string): Promise<void> {
  const { affected } = await db.write(({ manager }) =>
    manager.delete(secretSchema, { ...inScope(scope), name: name.toUpperCase() }),
  );
  if (affected === 0) throw notFound('secret_not_found', 'There is no such secret.');
}

type Owned = Pick<Repository, 'id' | 'ownerUserId' | 'ownerOrganisationId'>;

/**
 * The secrets that a task of a repository receives; narrower scopes override wider ones. For runners only. Throws
 * `secret_unreadable`, for example after a restore without keys.
 */
export async function secretsFor(
  deps: Pick<Deps, 'key'>,
  manager: EntityManager,
  repository: Owned,
): Promise<Map<string, string>> {
  const secrets = new Map<string, string>();
  for (const [name, value] of await decryptSecrets(deps, manager, repository)) {
    if (value === null)
      throw conflict(
        'secret_unreadable',
        `The secret ${name} cannot be decrypted with this server's key. Set it again.`,
      );
    secrets.set(name, value);
  }
  return secrets;
}

/** The values that must be masked in logs of a repository. */
export async function valuesToHide(
  deps: Pick<Deps, 'key'>,
  manager: EntityManager,
  repository: Owned,
): Promise<string[]> {
  return [...(await decryptSecrets(deps, manager, repository)).values()].filter((value) => value !== null);
}

async function decryptSecrets(
  { key }: Pick<Deps, 'key'>,
  manager: EntityManager,
  repository: Owned,
): Promise<Map<string, string | null>> {
  const secrets = new Map<string, string | null>();
  for (const scope of scopesAround(repository)) {
    for (const { name, ciphertext, onlyFor } of await manager.findBy(secretSchema, inScope(scope))) {
      if (!isFor(onlyFor, repository)) continue;
      secrets.set(name, decrypt(key.decrypting('secrets'), contextOf(scope, name), ciphertext));
    }
  }
  return secrets;
}

/** Re-encrypts the secrets after a rotation of the instance key. @returns the number of secrets */
export function reencryptSecrets({ db, key, random }: Deps): Promise<number> {
  return db.write(async ({ manager }) => {
    let changed = 0;
    for (const row of await manager.find(secretSchema)) {
      const place = contextOf(scopeOf(row), row.name);
      const ciphertext = reencrypt(key, random, { use: 'secrets', place, text: row.ciphertext });
      if (ciphertext === null) continue;
      await manager.update(secretSchema, { id: row.id }, { ciphertext });
      changed += 1;
    }
    return changed;
  });
}
