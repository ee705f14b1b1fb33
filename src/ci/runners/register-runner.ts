import type { Tx } from '../../db/index.ts';
import { conflict, invalid } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import { inScope, toColumns } from '../scope.ts';
import type { CiScope } from '../scope.ts';
import { useRegistrationToken } from './registration-tokens.ts';
import { toRunner } from '../runner-model/runner.ts';
import type { Runner } from '../runner-model/runner.ts';
import { cutName, readRunnerDeclaration } from '../runner-model/runner-declaration.ts';
import type { RunnerDeclaration } from '../runner-model/runner-declaration.ts';
import { runnerSchema } from '../schema/runner-schema.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';
import { isTokenOf, storeToken, newRunnerToken } from './runner-token.ts';

type Deps = Pick<CiDeps, 'db' | 'random' | 'clock' | 'presence' | 'logger'>;

interface NewRunner extends RunnerDeclaration {
  name: string;
  ephemeral: boolean;
}

/** Limit of runners per scope, low enough for pages and queries to handle all of them. */
const maxRunnersPerScope = 1000;

/**
 * Registers a runner with a registration token. Throws `incomplete_registration`, `unknown_registration_token`,
 * `replaced_registration_token`, `too_many_runners`.
 * @returns the runner and its token, which is shown only once
 */
export async function registerRunner(
  deps: Deps,
  registrationToken: string,
  input: NewRunner,
): Promise<{ runner: Runner; token: string }> {
  const name = cutName(input.name);
  if (name === '' || registrationToken === '') throw invalid('incomplete_registration', 'missing runner token, name');
  const { token, ...stored } = newRunnerToken(deps.random);
  const { row, scope } = await deps.db.write(async (tx) => {
    const scope = await useRegistrationToken(tx, registrationToken);
    return { scope, row: await insertRunner(tx, scope, { ...input, name, ...stored, uuid: deps.random.uuid() }) };
  });
  deps.logger.info('runner.registered', { runner: row.id, name, scope: scope.kind });
  return { runner: toRunner(row, deps.presence, deps.clock.now(), false), token };
}

/**
 * Creates a runner without a registration token, for the page that shows its configuration. Throws
 * `incomplete_registration`, `too_many_runners`.
 */
export async function createRunner(
  deps: Deps,
  scope: CiScope,
  input: Pick<NewRunner, 'name' | 'ephemeral'>,
): Promise<{ runner: Runner; token: string }> {
  const name = cutName(input.name);
  if (name === '') throw incomplete();
  const { token, ...stored } = newRunnerToken(deps.random);
  const declared = { version: '', labels: [], capabilities: [] };
  const row = await deps.db.write((tx) =>
    insertRunner(tx, scope, { ...declared, ...input, name, ...stored, uuid: deps.random.uuid() }),
  );
  deps.logger.info('runner.registered', { runner: row.id, name, scope: scope.kind, how: 'made here' });
  return { runner: toRunner(row, deps.presence, deps.clock.now(), false), token };
}

const sharedSecret = /^[0-9a-f]{40}$/;

interface OfflineRunner {
  name: string;
  secret: string;
  /** Labels used while the runner declares none. An empty list keeps those of an earlier registration. */
  labels: readonly string[];
}

/**
 * Offline registration: runner and server are configured with the same 40 hex digits. The bytes of the first 16
 * characters are the UUID, and the whole text is the token. Repeating it updates name, labels and secret. Throws
 * `invalid_runner_secret`, `incomplete_registration`, `too_many_runners`, `runner_elsewhere`.
 * @param mayMove whether a runner of another scope may be moved to this one: a UUID is not secret, and knowing it must
 *   not suffice to take over the runner
 */
export async function registerOffline(
  deps: Deps,
  scope: CiScope,
  input: OfflineRunner,
  { mayMove }: { mayMove: boolean },
): Promise<Runner> {
  const { secret } = input;
  if (!sharedSecret.test(secret))
    throw invalid('invalid_runner_secret', 'The secret must be 40 lowercase hexadecimal digits.', { field: 'secret' });
  const name = cutName(input.name);
  if (name === '') throw incomplete();
  const uuid = uuidOf(Buffer.from(secret.slice(0, 16), 'ascii'));
  const { labels } = readRunnerDeclaration({ version: '', labels: [...input.labels], capabilities: [] });
  const stored = storeToken(deps.random, secret);
  const row = await deps.db.write(async (tx) => {
    const before = await tx.manager.findOneBy(runnerSchema, { uuid });
    if (before === null)
      return insertRunner(
        tx,
        scope,
        { name, version: '', labels, capabilities: [], ephemeral: false, uuid, ...stored },
        labels,
      );
    const columns = toColumns(scope);
    const isHere = (Object.keys(columns) as (keyof typeof columns)[]).every(
      (column) => columns[column] === before[column],
    );
    if (!isHere && !mayMove)
      throw conflict(
        'runner_elsewhere',
        'A runner with this secret is already registered elsewhere. Choose another secret.',
        { field: 'secret' },
      );
    const changes = {
      name,
      ...columns,
      ...(isTokenOf(before, secret) ? {} : stored),
      ...(labels.length === 0 ? {} : { registeredLabels: labels, ...(before.hasChosenLabels ? {} : { labels }) }),
    };
    await tx.manager.update(runnerSchema, { id: before.id }, changes);
    return { ...before, ...changes };
  });
  deps.logger.info('runner.registered', { runner: row.id, name, scope: scope.kind, how: 'shared secret' });
  return toRunner(row, deps.presence, deps.clock.now(), false);
}

const incomplete = () => invalid('incomplete_registration', 'A runner needs a name.', { field: 'name' });

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

type Inserted = Pick<RunnerRow, 'uuid' | 'tokenSalt' | 'tokenHash' | 'name' | 'ephemeral'> & RunnerDeclaration;

async function insertRunner(
  { manager, now }: Tx,
  scope: CiScope,
  input: Inserted,
  registeredLabels: string[] = [],
): Promise<RunnerRow> {
  const { uuid, tokenSalt, tokenHash, name, ephemeral } = input;
  if ((await manager.countBy(runnerSchema, inScope(scope))) >= maxRunnersPerScope) {
    throw conflict('too_many_runners', `There are already ${maxRunnersPerScope} runners here.`);
  }
  const row: Omit<RunnerRow, 'id'> = {
    uuid,
    ...toColumns(scope),
    tokenSalt,
    tokenHash,
    name,
    ephemeral,
    ...readRunnerDeclaration(input),
    declaredLabels: [],
    hasChosenLabels: false,
    registeredLabels,
    disabledAt: null,
    declaredAt: null,
    trustedOnly: false,
    createdAt: now,
    lastSeenAt: null,
    lastActiveAt: null,
  };
  const { identifiers } = await manager.insert(runnerSchema, row);
  return { ...row, id: identifiers[0]!.id as number };
}
