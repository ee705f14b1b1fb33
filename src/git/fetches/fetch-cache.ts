import { randomUUID } from 'node:crypto';
import { mkdir, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { GitLimits } from '../limits.ts';
import type { GitRunner, GitExit } from '../processes/git-runner.ts';
import type { RefSnapshot } from '../ref-cache/ref-snapshot.ts';
import type { RefCache } from '../ref-cache/ref-cache.ts';
import { failure } from './serve-fetch.ts';
import type { UploadOutcome, UploadRequest } from './serve-fetch.ts';
import type { Semaphore } from '../../kernel/index.ts';
import { followSpool } from './follow-spool.ts';
import { requestKey } from './request-key.ts';
import { Spool } from './spool.ts';

/**
 * Fetch-pack cache: responses to complete fetch requests. Concurrent equal requests share one response, which stays
 * cached for a while. The key contains everything that a response depends on, including the state of all refs, so a
 * push invalidates it. The caller checks access for every request.
 */
export interface FetchCache {
  /** Serves a complete request; null if it cannot be cached and git should serve it. */
  serve(request: UploadRequest, bytes: Buffer): Promise<UploadOutcome | null>;
  /** Drops the responses of a repository that is removed or moved. */
  forget(repository: string): void;
  close(): void;
}

interface CacheDeps {
  runner: GitRunner;
  slots: Semaphore;
  refCache: RefCache;
  limits: GitLimits;
  /** Folder of the spool files, below `cache/` of the data folder. */
  folder: string;
  /** Free disk space below which nothing is spooled, in bytes. */
  lowDiskFloorBytes: number;
  /** git's version and the digest of the server's settings; part of the key. */
  versions: string;
}

interface CachedResponse {
  key: string;
  repository: string;
  spool: Spool;
  readers: number;
  /** The refs when the response was started. */
  refs: RefSnapshot;
  /** Whether the response surely shows exactly these refs. */
  isCached: boolean;
  /** Fires when the last reader leaves before the end. */
  abandoned: AbortController;
  /** How git exited. A failure before the first byte is thrown instead. */
  exited: Promise<GitExit & { errorText: string }>;
  expiry: NodeJS.Timeout | undefined;
}

export async function createFetchCache(deps: CacheDeps): Promise<FetchCache> {
  const { runner, slots, refCache, limits, folder } = deps;
  /** Least recently used first. Not the kernel's LRU cache: an entry grows while git writes it, and readers hold it. */
  const responses = new Map<string, CachedResponse>();
  await mkdir(folder, { recursive: true, mode: 0o700 });

  async function hasFreeSpace(): Promise<boolean> {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize > deps.lowDiskFloorBytes + limits.fetchCacheBytes;
  }

  function begin(key: string, request: UploadRequest, bytes: Buffer, refs: RefSnapshot): CachedResponse {
    const spool = new Spool(path.join(folder, `answer-${randomUUID()}`));
    const abandoned = new AbortController();
    const response: CachedResponse = {
      key,
      repository: request.path,
      spool,
      readers: 0,
      refs,
      isCached: false,
      abandoned,
      exited: run(request, bytes, spool, abandoned.signal).finally(() => spool.end()),
      expiry: undefined,
    };
    responses.set(key, response);
    response.exited.then(
      async ({ code }) => {
        const now = code === 0 ? await refCache.of(request.path) : null;
        // Refs that moved during the response may or may not be in it.
        if (now?.fingerprint.isSameAs(refs.fingerprint)) store(response);
        else drop(response);
      },
      () => drop(response),
    );
    return response;
  }

  async function run(
    { path: repository, client, protocol }: UploadRequest,
    bytes: Buffer,
    spool: Spool,
    signal: AbortSignal,
  ) {
    const release = await slots.acquire({ repository, client }, signal);
    try {
      const git = runner.start({
        argv: ['upload-pack', '--strict', '--stateless-rpc', repository],
        protocol,
        timeLimitMs: limits.transferMs,
        takesInput: true,
        output: spool.file,
        signal,
        yields: true,
      });
      git.stdin!.end(bytes);
      return { ...(await git.exited), errorText: git.stderrText() };
    } finally {
      release();
    }
  }

  /**
   * An unfinished response is shared only if the refs have not moved at all since it started, not even back and forth.
   */
  function find(key: string, refs: RefSnapshot): CachedResponse | null {
    const response = responses.get(key);
    return response !== undefined && (response.isCached || response.refs.fingerprint.isSameAs(refs.fingerprint))
      ? response
      : null;
  }

  /** Evicts entries for a finished response and restarts its expiry timer. */
  function store(response: CachedResponse): void {
    if (responses.get(response.key) !== response) return drop(response);
    response.isCached = true;
    touch(response);
    let bytes = 0;
    for (const { spool } of responses.values()) bytes += spool.size;
    for (const oldest of responses.values()) {
      if (bytes <= limits.fetchCacheBytes && responses.size <= limits.fetchCacheEntries) return;
      if (!oldest.spool.isEnded) continue;
      bytes -= oldest.spool.size;
      drop(oldest);
    }
  }

  function touch(response: CachedResponse): void {
    clearTimeout(response.expiry);
    responses.delete(response.key);
    responses.set(response.key, response);
    if (response.spool.isEnded) response.expiry = setTimeout(() => drop(response), limits.fetchCacheTtlMs).unref();
  }

  function drop(response: CachedResponse): void {
    clearTimeout(response.expiry);
    if (responses.get(response.key) === response) responses.delete(response.key);
    if (response.readers > 0) return;
    if (!response.spool.isEnded) response.abandoned.abort(new Error('nobody waits for this answer any more'));
    else response.spool.close();
  }

  return {
    async serve(request, bytes) {
      const { output, signal, takesBytesAtOnce = false, stallMs = limits.stallMs } = request;
      const refs = await refCache.of(request.path);
      if (refs === null) return null;
      const key = requestKey([request.path, refs.state(), deps.versions], bytes, request.protocol ?? '');
      // Checked again: another request may have started it during the disk check.
      if (find(key, refs) === null && !(await hasFreeSpace())) return null;
      const response = find(key, refs) ?? begin(key, request, bytes, refs);
      response.readers += 1;
      try {
        touch(response);
        const { bytes: sent, left } = await followSpool(response.spool, { output, takesBytesAtOnce, signal, stallMs });
        if (left) {
          if (sent === 0) signal.throwIfAborted();
          return { exitCode: 1, cutShort: true, bytes: sent };
        }
        const { code, stoppedBy, errorText } = await response.exited;
        if (sent === 0 && code !== 0) throw failure(null, code, stoppedBy, errorText);
        return { exitCode: code ?? 1, cutShort: code === null || stoppedBy !== null, bytes: sent };
      } finally {
        response.readers -= 1;
        if (response.readers === 0 && (responses.get(key) !== response || !response.spool.isEnded)) drop(response);
      }
    },
    forget(repository) {
      for (const response of responses.values()) if (response.repository === repository) drop(response);
    },
    close() {
      for (const response of responses.values()) drop(response);
    },
  };
}
