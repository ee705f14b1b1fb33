import { Not } from 'typeorm';
import type { Tx } from '../db/index.ts';
import { viewerForLog } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import {
  conflict,
  type DomainError,
  invalid,
  isDomainError,
  isRefusal,
  notFound,
  unavailable,
} from '../kernel/index.ts';
import type { Repository } from '../repositories/index.ts';
import { SourceBusy } from './client/source-errors.ts';
import type { ImportDeps } from './deps.ts';
import { requireFiles } from './from-files/open-files.ts';
import { connectSource, decryptToken, encryptToken } from './run/open-run.ts';
import { newProgress, readStoredOptions } from './context/run-context.ts';
import type { ImportOptions, Progress } from './context/run-context.ts';
import { describeFailure } from './run/run-import.ts';
import { extrasToDo } from './run/write-extras.ts';
import { importSchema, problemSchema } from './schema/import-schema.ts';
import type { ImportRow, ProblemRow } from './schema/import-schema.ts';
import type { FileFormat } from './schema/file-format.ts';
import type { SourceKind } from './schema/source-kind.ts';
import { kindsOf, parseSourceAddress } from './connect/open-source.ts';
import type { SourceAddress } from './connect/open-source.ts';
import type { Source, SourceRepository } from './sources/source.ts';
import { whatStays } from './sources/what-stays.ts';
import { isPokeUrl } from './watch/poke-import.ts';
import { forgetHook } from './watch/watch-hook.ts';

export interface NewImport extends Partial<Omit<ImportOptions, 'archivesSource'>> {
  /** Page or clone URL of the repository. */
  address: string;
  token?: string | undefined;
  kind?: SourceKind | undefined;
  /** Handle of a user or an organisation; the viewer if omitted. */
  owner?: string | undefined;
  /** The name at the source if omitted. */
  name?: string | undefined;
  /** Interval of checks for changes, in milliseconds; never if omitted. */
  watchMs?: number | null | undefined;
}

const shortestWatchMs = 60_000;
const longestWatchMs = 30 * 24 * 3_600_000;
const maxTokenLength = 1_000;

/** The visible part of an import, without its token. */
export interface Import extends Omit<ImportRow, 'secretCiphertext' | 'options' | 'progress' | 'lockedUntil'> {
  hasToken: boolean;
  options: ImportOptions;
  progress: Progress;
  /** The progress line of a running git transfer. */
  transfer: string | null;
}

const noImport = () => notFound('import_not_found', 'This repository does not come from another forge.');

/**
 * Creates a repository for an import from another forge. It exists at once, private and empty, and its page shows the
 * progress. Throws `invalid_import_address`, `import_refused` with the field if the source does not respond or does not
 * accept the token, `invalid_import`, and what `repositories.create` refuses, without creating anything.
 */
export async function startImport(deps: ImportDeps, viewer: Viewer, input: NewImport): Promise<Repository> {
  const { token = '', owner, watchMs = null } = input;
  checkInput(token, watchMs);
  const { address, described } = await findSource(deps, input, token);
  const made = await deps.repositories.create(viewer, {
    owner,
    name: input.name || described.name || address.project.split('/').at(-1)!,
    visibility: 'PRIVATE',
  });
  const options = JSON.stringify(readOptions(input));
  await deps.db.write((tx) => insertImport(deps, tx, made.id, { address, token, options, watchMs, viewer }));
  return made;
}

/** Imports everything unless the options exclude it; deploy keys only if they include them. */
export const readOptions = (input: Partial<ImportOptions>): ImportOptions => ({
  visibility: input.visibility ?? null,
  withIssues: input.withIssues ?? true,
  withPulls: input.withPulls ?? true,
  withReleases: input.withReleases ?? true,
  withLfs: input.withLfs ?? true,
  withWiki: input.withWiki ?? true,
  withReactions: input.withReactions ?? true,
  withDeployKeys: input.withDeployKeys ?? false,
  archivesSource: false,
});

/** The row of an import into an existing, empty repository: it runs from now on. */
export async function insertImport(
  deps: ImportDeps,
  { manager, now }: Tx,
  repositoryId: string,
  {
    id = deps.random.uuid(),
    files = null,
    address,
    token,
    options,
    watchMs,
    viewer,
  }: {
    id?: string;
    files?: FileFormat | null;
    address: SourceAddress;
    token: string;
    options: string;
    watchMs: number | null;
    viewer: Viewer;
  },
): Promise<void> {
  await manager.insert(importSchema, {
    id,
    repositoryId,
    ...address,
    secretCiphertext: token === '' ? null : encryptToken(deps, id, address.host, token),
    files,
    options,
    state: 'running',
    run: 1,
    isFull: true,
    isLast: false,
    phase: 'describe',
    progress: JSON.stringify(newProgress),
    since: null,
    nextSince: null,
    watchMs,
    nextAt: now,
    lockedUntil: 0,
    waitsUntil: null,
    failures: 0,
    lastError: null,
    requests: 0,
    startedBy: viewer.kind === 'person' ? viewer.id : null,
    startedAt: now,
    finishedAt: null,
    createdAt: now,
    updatedAt: now,
  });
  deps.logger.info('import.started', { importId: id, repositoryId, host: address.host, by: viewerForLog(viewer) });
}

export function checkInput(token: string, watchMs: number | null): void {
  if (token.length > maxTokenLength || /[^\x21-\x7e]/.test(token))
    throw invalid('invalid_import', 'This is not a valid token.', { field: 'token' });
  if (watchMs !== null && !(watchMs >= shortestWatchMs && watchMs <= longestWatchMs))
    throw invalid('invalid_import', 'The check interval must be between one minute and 30 days.', {
      field: 'watch',
    });
}

/** Determines the forge of a URL, if neither the caller nor the host name tells it. Refuses as `probe` does. */
async function findSource(
  deps: ImportDeps,
  { address: given, kind }: Pick<NewImport, 'address' | 'kind'>,
  token: string,
): Promise<{ address: SourceAddress; described: SourceRepository }> {
  const kinds = kind === undefined ? kindsOf(given) : [kind];
  // A server of another kind may respond with anything, repeatedly.
  const settings = { ...deps.settings, ...(kinds.length > 1 && { retryMs: [] }) };
  const refusals: DomainError[] = [];
  for (const each of kinds) {
    const address = parseSourceAddress(given, each);
    try {
      return { address, described: await probe({ ...deps, settings }, address, token) };
    } catch (error) {
      if (!isDomainError(error) || error.reason !== 'import_refused') throw error;
      refusals.push(error);
    }
  }
  // The error of a forge that knows tokens is the most specific.
  throw refusals.find(({ field }) => field === 'token') ?? refusals[0]!;
}

/** Requests the repository from the source. Throws `import_refused`. */
async function probe(deps: ImportDeps, address: SourceAddress, token: string): Promise<SourceRepository> {
  const { source } = connectSource(deps, address, token, { signal: AbortSignal.timeout(30_000), tell: () => {} });
  try {
    return await source.describe();
  } catch (error) {
    throw refusalOf(deps, error, address);
  }
}

/** The error for a source that does not respond as expected: it names the invalid field. */
export function refusalOf(
  { clock }: Pick<ImportDeps, 'clock'>,
  error: unknown,
  { host, url }: Pick<SourceAddress, 'host' | 'url'>,
): unknown {
  if (error instanceof SourceBusy)
    return unavailable('import_source_busy', `The request limit of ${host} has been reached.`, {
      retryAfterSeconds: Math.ceil((error.until - clock.now()) / 1_000),
    });
  if (!isRefusal(error)) return error;
  const field = error.reason === 'source_refused' ? 'token' : 'address';
  return invalid('import_refused', describeFailure(error, url), { field, cause: error });
}

/** The expected result of an import. */
export interface DryRun {
  project: string;
  repository: SourceRepository;
  counts: Awaited<ReturnType<Source['counts']>>;
  /** Lines of the report that are known before the import. */
  problems: { item: string; problem: string }[];
}

/** Checks what an import would transfer, without changing anything. Refuses as `startImport` does. */
export async function tryImport(
  deps: ImportDeps,
  input: Pick<NewImport, 'address' | 'token' | 'kind'>,
): Promise<DryRun> {
  const { token = '' } = input;
  checkInput(token, null);
  const problems: DryRun['problems'] = [];
  const { address, described: repository } = await findSource(deps, input, token);
  const { source } = connectSource(deps, address, token, {
    signal: AbortSignal.timeout(120_000),
    tell: (item, problem) => void problems.push({ item, problem }),
  });
  const counts = await source.counts();
  // The first page tells whose times there are.
  await source.times?.({ since: null, cursor: null });
  const extras = await source.extras?.();
  for (const line of [...(await source.toDo()), ...(extras === undefined ? [] : extrasToDo(extras, false))])
    problems.push({ item: 'to do', problem: line });
  for (const { url } of (await source.hooks()).filter((hook) => !isPokeUrl(deps, hook.url)))
    problems.push({ item: 'to do', problem: `Switch the webhook ${url} on, with its secret.` });
  for (const [item, problem] of whatStays[address.kind]) problems.push({ item, problem });
  return { project: address.project, repository, counts, problems };
}

/** Null for a repository that was not imported. */
export async function findImport(deps: ImportDeps, repositoryId: string): Promise<Import | null> {
  const row = await deps.db.read.findOneBy(importSchema, { repositoryId });
  return row === null ? null : describe(deps, row);
}

/** Whether changes at another forge still come into the repository. */
export const isFollowing = ({ db }: ImportDeps, repositoryId: string): Promise<boolean> =>
  db.read.existsBy(importSchema, { repositoryId, state: Not('ended') });

function describe(
  deps: ImportDeps,
  { secretCiphertext, options, progress, lockedUntil: _, ...row }: ImportRow,
): Import {
  return {
    ...row,
    hasToken: secretCiphertext !== null,
    options: readStoredOptions(options),
    progress: { ...newProgress, ...(JSON.parse(progress) as Partial<Progress>) },
    transfer: deps.mirrors.progressOf(row.repositoryId),
  };
}

/** All imports, newest first, for administrators and the command line. */
export async function listImports(deps: ImportDeps, limit = 1_000): Promise<Import[]> {
  const found = await deps.db.read.find(importSchema, { order: { createdAt: 'DESC', id: 'ASC' }, take: limit });
  return found.map((row) => describe(deps, row));
}

/** The report of an import: missing or changed items, and remaining manual steps. */
export async function listProblems({ db }: ImportDeps, importId: string, limit = 2_000): Promise<ProblemRow[]> {
  return db.read
    .createQueryBuilder(problemSchema, 'p')
    .where('p.import_id = :importId', { importId })
    .orderBy('p.item')
    .addOrderBy('p.problem')
    .limit(limit)
    .getMany();
}

/** A user's request for an existing import. */
interface ImportWish {
  /** Another token; unchanged if omitted. */
  token?: string | undefined;
  /** Whether to compare everything, not only changes. */
  isFull?: boolean;
  /** Whether this is the last run: it compares everything and ends the watch. */
  isLast?: boolean;
  /** Whether the last run makes the source repository read-only. */
  archivesSource?: boolean;
  watchMs?: number | null;
}

/**
 * Reruns an import, possibly for the last time; a paused or failed one resumes. Throws `import_not_found`,
 * `import_ended`, `invalid_import`.
 */
export async function runAgain(
  deps: ImportDeps,
  viewer: Viewer,
  repositoryId: string,
  { token = '', isFull = false, isLast = false, archivesSource, watchMs }: ImportWish,
): Promise<void> {
  checkInput(token, watchMs ?? null);
  const known = await deps.db.read.findOneBy(importSchema, { repositoryId });
  if (known !== null && known.files !== null) await requireFiles(deps, known.id);
  const row = await deps.db.write(async ({ manager, now }) => {
    const found = await manager.findOneBy(importSchema, { repositoryId });
    if (found === null) throw noImport();
    if (found.state === 'ended')
      throw conflict(
        'import_ended',
        'Hearth no longer follows the source because it was switched over to this server.',
      );
    const options = readStoredOptions(found.options);
    await manager.update(
      importSchema,
      { id: found.id },
      {
        ...(token === '' ? {} : { secretCiphertext: encryptToken(deps, found.id, found.host, token) }),
        // A run in progress keeps its position.
        ...(found.state === 'paused' ? { state: 'running' } : {}),
        isFull: found.isFull || isFull || isLast,
        isLast: found.isLast || isLast,
        ...(watchMs === undefined ? {} : { watchMs }),
        options: JSON.stringify({ ...options, archivesSource: archivesSource ?? options.archivesSource }),
        nextAt: now,
        failures: 0,
        lastError: null,
        updatedAt: now,
      },
    );
    return found;
  });
  deps.logger.info(isLast ? 'import.switch_over' : 'import.again', { importId: row.id, by: viewerForLog(viewer) });
}

/** Pauses an import, or ends it: imported data stays. Throws `import_not_found`. */
export async function endImport(deps: ImportDeps, viewer: Viewer, repositoryId: string): Promise<void> {
  const row = await deps.db.read.findOneBy(importSchema, { repositoryId });
  if (row !== null && row.files === null)
    await forgetHook(deps, row.id, () => {
      const signal = AbortSignal.timeout(30_000);
      return connectSource(deps, row, decryptToken(deps, row), { signal, tell: () => {} }).source;
    }).catch((error: unknown) => deps.logger.warn('import.hook_not_removed', { importId: row.id, error }));
  const { affected } = await deps.db.write(({ manager, now }) =>
    manager.update(
      importSchema,
      { repositoryId },
      { state: 'ended', watchMs: null, secretCiphertext: null, updatedAt: now },
    ),
  );
  if (affected === 0) throw noImport();
  deps.logger.info('import.ended_by_hand', { repositoryId, by: viewerForLog(viewer) });
}
