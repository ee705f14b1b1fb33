import type { EntityManager } from 'typeorm';
import { conflict, notFound } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import { decrypt, encrypt, reencrypt } from '../../sealing/index.ts';
import type { CiDeps } from '../deps.ts';
import { requireLevel } from '../require-level.ts';
import { environmentSecretSchema, environmentVariableSchema } from '../schema/environment-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import { checkValue, maxPerScope, parseSecretName } from '../secrets/name-rules.ts';
import { requireEnvironment } from './find-environment.ts';

type Deps = Pick<CiDeps, 'db' | 'random' | 'key'>;

/** Binds a ciphertext to its environment and name: it decrypts nowhere else. */
const placeOf = (environmentId: number, name: string): string => `environment:${environmentId}:${name}`;

/** Names and times of the secrets of an environment. Throws `repository_not_found`, `environment_not_found`. */
export async function listEnvironmentSecrets(
  { db }: Pick<Deps, 'db'>,
  found: Found,
  environment: string,
): Promise<{ name: string; createdAt: number; updatedAt: number }[]> {
  requireLevel(found, 'admin');
  const { id: environmentId } = await requireEnvironment(db.read, found, environment);
  const rows = await db.read.find(environmentSecretSchema, { where: { environmentId }, order: { name: 'ASC' } });
  return rows.map(({ name, createdAt, updatedAt }) => ({ name, createdAt, updatedAt }));
}

/**
 * Stores a secret of an environment. Throws the errors of `listEnvironmentSecrets`, `invalid_secret_name`,
 * `invalid_secret_value`, `too_many_secrets`.
 */
export async function setEnvironmentSecret(
  deps: Deps,
  found: Found,
  environment: string,
  input: { name: string; value: string },
): Promise<void> {
  requireLevel(found, 'admin');
  const name = parseSecretName(input.name);
  const value = checkValue(input.value);
  await deps.db.write(async ({ manager, now }) => {
    const { id: environmentId } = await requireEnvironment(manager, found, environment);
    const ciphertext = encrypt(deps.key.for('secrets'), deps.random, placeOf(environmentId, name), value);
    if (await manager.existsBy(environmentSecretSchema, { environmentId, name }))
      return void (await manager.update(
        environmentSecretSchema,
        { environmentId, name },
        { ciphertext, updatedAt: now },
      ));
    if ((await manager.countBy(environmentSecretSchema, { environmentId })) >= maxPerScope)
      throw conflict('too_many_secrets', `There are already ${maxPerScope} secrets here.`);
    await manager.insert(environmentSecretSchema, { environmentId, name, ciphertext, createdAt: now, updatedAt: now });
  });
}

/** Throws the errors of `listEnvironmentSecrets` and `secret_not_found`. */
export async function removeEnvironmentSecret(
  { db }: Pick<Deps, 'db'>,
  found: Found,
  environment: string,
  name: string,
): Promise<void> {
  requireLevel(found, 'admin');
  await db.write(async ({ manager }) => {
    const { id: environmentId } = await requireEnvironment(manager, found, environment);
    const { affected } = await manager.delete(environmentSecretSchema, { environmentId, name: name.toUpperCase() });
    if (affected === 0) throw notFound('secret_not_found', 'There is no such secret.');
  });
}

/** The variables of an environment. Throws `repository_not_found`, `environment_not_found`. */
export async function listEnvironmentVariables(
  { db }: Pick<Deps, 'db'>,
  found: Found,
  environment: string,
): Promise<{ name: string; value: string; createdAt: number; updatedAt: number }[]> {
  requireLevel(found, 'admin');
  const { id: environmentId } = await requireEnvironment(db.read, found, environment);
  const rows = await db.read.find(environmentVariableSchema, { where: { environmentId }, order: { name: 'ASC' } });
  return rows.map(({ name, value, createdAt, updatedAt }) => ({ name, value, createdAt, updatedAt }));
}

/**
 * Throws the errors of `listEnvironmentVariables`, `invalid_secret_name`, `invalid_secret_value`, `too_many_variables`.
 */
export async function setEnvironmentVariable(
  { db }: Pick<Deps, 'db'>,
  found: Found,
  environment: string,
  input: { name: string; value: string },
): Promise<void> {
  requireLevel(found, 'admin');
  const name = parseSecretName(input.name);
  const value = checkValue(input.value);
  await db.write(async ({ manager, now }) => {
    const { id: environmentId } = await requireEnvironment(manager, found, environment);
    if (await manager.existsBy(environmentVariableSchema, { environmentId, name }))
      return void (await manager.update(environmentVariableSchema, { environmentId, name }, { value, updatedAt: now }));
    if ((await manager.countBy(environmentVariableSchema, { environmentId })) >= maxPerScope)
      throw conflict('too_many_variables', `There are already ${maxPerScope} variables here.`);
    await manager.insert(environmentVariableSchema, { environmentId, name, value, createdAt: now, updatedAt: now });
  });
}

/** Throws the errors of `listEnvironmentVariables` and `variable_not_found`. */
export async function removeEnvironmentVariable(
  { db }: Pick<Deps, 'db'>,
  found: Found,
  environment: string,
  name: string,
): Promise<void> {
  requireLevel(found, 'admin');
  await db.write(async ({ manager }) => {
    const { id: environmentId } = await requireEnvironment(manager, found, environment);
    const { affected } = await manager.delete(environmentVariableSchema, { environmentId, name: name.toUpperCase() });
    if (affected === 0) throw notFound('variable_not_found', 'There is no such variable.');
  });
}

/** The environment whose values a job receives; null before the job has passed its rules, and for untrusted code. */
const enteredBy = (
  { environmentId, environmentState }: Pick<JobRow, 'environmentId' | 'environmentState'>,
  { isTrusted }: Pick<RunRow, 'isTrusted'>,
): number | null => (isTrusted && environmentState === 'passed' ? environmentId : null);

/**
 * The secrets that a job receives from its environment; they override those of the repository. Throws
 * `secret_unreadable`.
 */
export async function secretsOfJob(
  { key }: Pick<Deps, 'key'>,
  manager: EntityManager,
  job: JobRow,
  run: RunRow,
): Promise<Map<string, string>> {
  const environmentId = enteredBy(job, run);
  if (environmentId === null) return new Map();
  const rows = await manager.findBy(environmentSecretSchema, { environmentId });
  return new Map(
    rows.map(({ name, ciphertext }) => {
      const value = decrypt(key.decrypting('secrets'), placeOf(environmentId, name), ciphertext);
      if (value === null)
        throw conflict(
          'secret_unreadable',
          `The secret ${name} cannot be decrypted with this server's key. Set it again.`,
        );
      return [name, value];
    }),
  );
}

/** The variables that a job receives from its environment; they override those of the repository. */
export async function variablesOfJob(manager: EntityManager, job: JobRow, run: RunRow): Promise<Map<string, string>> {
  const environmentId = enteredBy(job, run);
  if (environmentId === null) return new Map();
  const rows = await manager.findBy(environmentVariableSchema, { environmentId });
  return new Map(rows.map(({ name, value }) => [name, value]));
}

/** Re-encrypts the secrets after a rotation of the instance key. @returns the number of secrets */
export function reencryptEnvironmentSecrets({ db, key, random }: Deps): Promise<number> {
  return db.write(async ({ manager }) => {
    let changed = 0;
    for (const { environmentId, name, ciphertext: text } of await manager.find(environmentSecretSchema)) {
      const ciphertext = reencrypt(key, random, { use: 'secrets', place: placeOf(environmentId, name), text });
      if (ciphertext === null) continue;
      await manager.update(environmentSecretSchema, { environmentId, name }, { ciphertext });
      changed += 1;
    }
    return changed;
  });
}
