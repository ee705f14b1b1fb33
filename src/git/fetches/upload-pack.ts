import { Readable } from 'node:stream';
import type { Listings } from './advertise-refs.ts';
import type { FetchCache } from './fetch-cache.ts';
import { negotiate } from './negotiate.ts';
import { encodePacket } from '../pkt-line.ts';
import type { Reachability } from '../objects/reachability.ts';
import { isWholeFetch, readRequest, wantedIds } from './read-request.ts';
import { serve } from './serve-fetch.ts';
import type { ServeDeps, UploadOutcome, UploadRequest } from './serve-fetch.ts';
import type { Semaphore } from '../../kernel/index.ts';
import { expectErrors, send } from '../transfer.ts';

export type { UploadOutcome, UploadRequest } from './serve-fetch.ts';

export interface UploadDeps extends ServeDeps, Listings {
  fetchCache: FetchCache;
  reachability: Reachability;
  /** Slots of clones and fetches. */
  slots: Semaphore;
  /** Slots of ref listings. */
  shortSlots: Semaphore;
}

/**
 * Serves one fetch or clone: ref listings from memory, repeated requests from the cache, everything else by git.
 * Refuses `git_busy` and `fetch_stalled`, `bad_fetch` for a request that git could not parse and `internal` when git
 * failed, both only while nothing was written to `output`; and what `input` fails with.
 */
export async function uploadPack(deps: UploadDeps, request: UploadRequest): Promise<UploadOutcome> {
  const { input, output, stateless, protocol } = request;
  expectErrors(input);
  expectErrors(output);
  if (stateless) {
    const bytes = await readRequest(input, { quietMs: request.stallMs ?? deps.limits.stallMs, signal: request.signal });
    return respond(deps, request, bytes);
  }
  if (protocol === 'version=2') return negotiate(deps, request, (bytes) => respond(deps, request, bytes));
  return startGit(deps, request);
}

/** Serves one complete request of version 2, or of a stateless fetch before it. */
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
  // In version 2 git serves any object that exists, before it any tree or blob; only a stateful session of an older
  // version is limited to the advertised refs. So reachability is checked here.
  const beyond = await deps.reachability.firstBeyond(request.path, wantedIds(bytes), request.signal);
  if (beyond !== null) return notOurs(request, beyond);
  const cached = isWholeFetch(bytes, request.protocol) ? await deps.fetchCache.serve(request, bytes) : null;
  return cached ?? startGit(deps, single);
}

/** Reports an object in the words that git uses for one that does not exist. */
async function notOurs({ output }: UploadRequest, oid: string): Promise<UploadOutcome> {
  const words = encodePacket(`ERR upload-pack: not our ref ${oid}`);
  await send(output, words);
  return { exitCode: 128, cutShort: false, bytes: words.length };
}

async function startGit(deps: UploadDeps, request: UploadRequest): Promise<UploadOutcome> {
  const { path, client, signal, stateless } = request;
  const release = await deps.slots.acquire({ repository: path, client }, signal);
  try {
    return await serve(deps, request, ['upload-pack', '--strict', ...(stateless ? ['--stateless-rpc'] : []), path]);
  } finally {
    release();
  }
}

export type ArchiveRequest = Omit<UploadRequest, 'stateless' | 'protocol'>;

/**
 * Serves `git archive --remote`. Same contract as {@link uploadPack}.
 */
export async function uploadArchive(deps: UploadDeps, request: ArchiveRequest): Promise<UploadOutcome> {
  expectErrors(request.input);
  expectErrors(request.output);
  const release = await deps.slots.acquire({ repository: request.path, client: request.client }, request.signal);
  try {
    return await serve(
      deps,
      { ...request, stateless: false },
      ['upload-archive', request.path],
      deps.limits.readMemoryBytes,
    );
  } finally {
    release();
  }
}
