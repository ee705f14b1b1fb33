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
  answers: FetchCache;
  reach: Reachability;
  /** For clones and fetches. */
  slots: Semaphore;
  /** For questions about refs. */
  shortSlots: Semaphore;
}

/**
 * Serves one fetch or clone: from memory what only lists refs, from the cache what was
 * answered before, and by git the rest.
 *
 * Refuses `git_busy` and `fetch_stalled`, `bad_fetch` for a request that git could not read and
 * `internal` when git failed, both only while nothing was written to `output`;
 * what `input` fails with.
 */
export async function uploadPack(deps: UploadDeps, request: UploadRequest): Promise<UploadOutcome> {
  const { input, output, stateless, protocol } = request;
  expectErrors(input);
  expectErrors(output);
  if (stateless) {
    const bytes = await readRequest(input, { quietMs: request.stallMs ?? deps.limits.stallMs, signal: request.signal });
    return answer(deps, request, bytes);
  }
  if (protocol === 'version=2') return negotiate(deps, request, (bytes) => answer(deps, request, bytes));
  return startGit(deps, request);
}

/** One whole request of version 2, or of a stateless fetch before it. */
async function answer(deps: UploadDeps, request: UploadRequest, bytes: Buffer): Promise<UploadOutcome> {
  const isList = request.protocol === 'version=2' && bytes.toString('latin1', 4, 19) === 'command=ls-refs';
  if (isList) {
    const list = await deps.listRefs(request.path, bytes);
    if (list !== null) {
      await send(request.output, list);
      return { exitCode: 0, cutShort: false, bytes: list.length };
    }
  }
  const single: UploadRequest = { ...request, stateless: true, input: Readable.from([bytes], { objectMode: false }) };
  // A question about refs is short and must not wait behind clones.
  if (isList) return startGit({ ...deps, slots: deps.shortSlots }, single);
  // In version 2 git answers for any object that is there, before it for any folder or file; only in a
  // conversation of the older kind does it keep to what it has named.
  const beyond = await deps.reach.firstBeyond(request.path, wantedIds(bytes), request.signal);
  if (beyond !== null) return notOurs(request, beyond);
  const kept = isWholeFetch(bytes, request.protocol) ? await deps.answers.serve(request, bytes) : null;
  return kept ?? startGit(deps, single);
}

/** As git says it of an object that is not there. */
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
