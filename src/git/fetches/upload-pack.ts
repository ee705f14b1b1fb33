import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { Listings } from './advertise-refs.ts';
import type { FetchCache } from './fetch-cache.ts';
import { serveSession } from './serve-session.ts';
import { encodePacket } from '../pkt-line.ts';
import type { Reachability } from '../objects/reachability.ts';
import { maxArchiveRequestBytes, refusedArchiveArgument } from './archive-request.ts';
import { RequestStream } from './request-stream.ts';
import { isDomainError, notFound } from '../../kernel/index.ts';
import { sanitiseLine } from '../pushes/sanitise-text.ts';
import { checkFilter } from './check-filter.ts';
import { isWholeFetch, readRequest, readArguments } from './read-request.ts';
import { serve } from './serve-fetch.ts';
import type { ServeDeps, UploadOutcome, UploadRequest } from './serve-fetch.ts';
import type { Semaphore } from '../../kernel/index.ts';
import { expectErrors, send } from '../transfer.ts';

export type { UploadOutcome, UploadRequest } from './serve-fetch.ts';

interface UploadDeps extends ServeDeps, Listings {
  fetchCache: FetchCache;
  reachability: Reachability;
  /** Slots of clones and fetches. */
  slots: Semaphore;
  /** Slots of ref listings. */
  shortSlots: Semaphore;
}

/**
 * Serves one fetch or clone: ref listings from memory, repeated requests from the cache, everything else by git. Throws
 * `git_busy`, `fetch_stalled`; `bad_fetch` if git cannot parse the request and `internal` if git fails, both only while
 * nothing has been written to `output`; `repository_not_found` if the folder no longer exists; and errors of `input`.
 */
export async function uploadPack(deps: UploadDeps, request: UploadRequest): Promise<UploadOutcome> {
  try {
    return await serveRequest(deps, request);
  } catch (error) {
    // The repository may have been moved to the trash since the lookup.
    if (!isDomainError(error) || error.code !== 'internal' || existsSync(request.path)) throw error;
    throw notFound('repository_not_found', 'Repository not found');
  }
}

async function serveRequest(deps: UploadDeps, request: UploadRequest): Promise<UploadOutcome> {
  const { input, output, stateless, protocol } = request;
  expectErrors(input);
  expectErrors(output);
  if (stateless) {
    const bytes = await readRequest(input, { quietMs: request.stallMs ?? deps.limits.stallMs, signal: request.signal });
    return respond(deps, request, bytes);
  }
  if (protocol === 'version=2') return serveSession(deps, request, (bytes) => respond(deps, request, bytes));
  return startGit(deps, request, withoutFiltersToCheck);
}

/** Serves one complete request of version 2, or a stateless fetch in an earlier version. */
async function respond(deps: UploadDeps, request: UploadRequest, bytes: Buffer): Promise<UploadOutcome> {
  const isList = request.protocol === 'version=2' && bytes.toString('latin1', 4, 19) === 'command=ls-refs';
  if (isList) {
    const list = await deps.listRefs(request.path, bytes);
    if (list !== null) {
      await send(request.output, list);
      return { exitCode: 0, cutShort: false, bytes: list.length };
    }
  }
  const single: UploadRequest = { ...request, stateless: true, input: Readable.from([bytes], { objectMode: false }) };
  // A ref listing is short and must not wait behind clones.
  if (isList) return startGit({ ...deps, slots: deps.shortSlots }, single);
  // In version 2 git serves any object that exists, in earlier versions any tree or blob; only a stateful session of an
  // earlier version is limited to the advertised refs. So reachability is checked here.
  const { wants, filters } = await readArguments(bytes);
  // A client wants each ref at most once, and a repository cannot have more refs.
  if (wants.length > deps.limits.maxRefs)
    return refuse(request, `upload-pack: more than ${deps.limits.maxRefs} objects are wanted in one request`);
  const checked = filters.map(checkFilter);
  const refusal = checked.find((filter) => filter.refusal !== null)?.refusal;
  if (refusal !== undefined) return refuse(request, `upload-pack: ${refusal}`);
  const named = [...wants, ...checked.flatMap(({ blobs }) => blobs)];
  const unreachable = await deps.reachability.firstUnreachable(request.path, named, request.signal);
  // git's wording for an object that does not exist.
  if (unreachable !== null) return refuse(request, `upload-pack: not our ref ${unreachable}`);
  const cached = isWholeFetch(bytes, request.protocol) ? await deps.fetchCache.serve(request, bytes) : null;
  return cached ?? startGit(deps, single);
}

/** Ends a request with an error line that the client prints. */
async function refuse({ output }: Pick<UploadRequest, 'output'>, reason: string): Promise<UploadOutcome> {
  const line = encodePacket(`ERR ${reason}`);
  await send(output, line);
  return { exitCode: 128, cutShort: false, bytes: line.length };
}

/** Settings of a session before version 2, whose requests git reads itself: no filter that needs `checkFilter`. */
const withoutFiltersToCheck = ['sparse:oid', 'combine'].flatMap((kind) => [
  '-c',
  `uploadpackfilter.${kind}.allow=false`,
]);

async function startGit(
  deps: UploadDeps,
  request: UploadRequest,
  settings: readonly string[] = [],
): Promise<UploadOutcome> {
  const { path, client, signal, stateless } = request;
  const release = await deps.slots.acquire({ repository: path, client }, signal);
  try {
    return await serve(deps, request, [
      ...settings,
      'upload-pack',
      '--strict',
      ...(stateless ? ['--stateless-rpc'] : []),
      path,
    ]);
  } finally {
    release();
  }
}

export type ArchiveRequest = Omit<UploadRequest, 'stateless' | 'protocol'>;

/**
 * Serves `git archive --remote`. Same contract as {@link uploadPack}; forbidden options are refused in git's output
 * format.
 */
export async function uploadArchive(deps: UploadDeps, request: ArchiveRequest): Promise<UploadOutcome> {
  const { input, output, signal, stallMs = deps.limits.stallMs } = request;
  expectErrors(input);
  expectErrors(output);
  const requests = new RequestStream({ input, signal, stallMs, maxBytes: maxArchiveRequestBytes });
  const bytes = await requests.next().finally(() => requests.end());
  // Like git, sends nothing to a client that requests nothing.
  if (bytes === null) return { exitCode: 128, cutShort: false, bytes: 0 };
  const refused = refusedArchiveArgument(bytes);
  if (refused !== null) {
    const line = encodePacket(`NACK ${sanitiseLine(refused)} is not allowed here`);
    await send(output, line);
    return { exitCode: 128, cutShort: false, bytes: line.length };
  }
  const release = await deps.slots.acquire({ repository: request.path, client: request.client }, signal);
  try {
    return await serve(
      deps,
      { ...request, input: Readable.from([bytes], { objectMode: false }), stateless: false },
      ['upload-archive', request.path],
      deps.limits.readMemoryBytes,
    );
  } finally {
    release();
  }
}
