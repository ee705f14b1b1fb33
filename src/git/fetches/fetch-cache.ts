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
 * Answers to whole fetch requests. One that is being made is shared by all who ask the
 * same at that time; afterwards it is kept for a while. The key holds everything that an
 * answer depends on, the state of all refs included: after a push nothing old is found.
 * Who may ask is decided before, at every request.
 */
export interface FetchCache {
  /** Serves a request that is complete; null when it is none for the cache and git should answer. */
  serve(request: UploadRequest, bytes: Buffer): Promise<UploadOutcome | null>;
  /** Drops what belongs to a repository that goes away or moves. */
  forget(repository: string): void;
  close(): void;
}

interface CacheDeps {
  door: GitRunner;
  slots: Semaphore;
  tables: RefCache;
  limits: GitLimits;
  /** Where spool files are made; below `cache/` of the data folder. */
  folder: string;
  /** Free bytes that stay free. */
  lowDiskFloorBytes: number;
  /** What answers: git's version and our settings. */
  versions: string;
}

interface CachedResponse {
  key: string;
  repository: string;
  spool: Spool;
  readers: number;
  /** The refs when it was begun. */
  refs: RefSnapshot;
  /** Whether it is known to tell of these refs and no others. */
  isKept: boolean;
  /** Fires when the last reader leaves before the end. */
  abandoned: AbortController;
  /** How git ended, once it has; what it failed with before it began is thrown. */
  exited: Promise<GitExit & { complaint: string }>;
  expiry: NodeJS.Timeout | undefined;
}

export async function createFetchCache(deps: CacheDeps): Promise<FetchCache> {
  const { door, slots, tables, limits, folder } = deps;
  /** Least recently used first. Not the kernel's cache: an entry grows while it is made, and its readers hold it. */
  const answers = new Map<string, CachedResponse>();
  await mkdir(folder, { recursive: true, mode: 0o700 });

  async function hasRoom(): Promise<boolean> {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize > deps.lowDiskFloorBytes + limits.answerCacheBytes;
  }

  function begin(key: string, request: UploadRequest, bytes: Buffer, refs: RefSnapshot): CachedResponse {
    const spool = new Spool(path.join(folder, `answer-${randomUUID()}`));
    const abandoned = new AbortController();
    const answer: CachedResponse = {
      key,
      repository: request.path,
      spool,
      readers: 0,
      refs,
      isKept: false,
      abandoned,
      exited: run(request, bytes, spool, abandoned.signal).finally(() => spool.end()),
      expiry: undefined,
    };
    answers.set(key, answer);
    answer.exited.then(
      async ({ code }) => {
        const now = code === 0 ? await tables.of(request.path) : null;
        // What moved meanwhile may or may not be in the answer.
        if (now?.stamp.isSameAs(refs.stamp)) keep(answer);
        else drop(answer);
      },
      () => drop(answer),
    );
    return answer;
  }

  async function run(
    { path: repository, client, protocol }: UploadRequest,
    bytes: Buffer,
    spool: Spool,
    signal: AbortSignal,
  ) {
    const release = await slots.acquire({ repository, client }, signal);
    try {
      const git = door.start({
        argv: ['upload-pack', '--strict', '--stateless-rpc', repository],
        protocol,
        timeLimitMs: limits.transferMs,
        takesInput: true,
        output: spool.file,
        signal,
        yields: true,
      });
      git.stdin!.end(bytes);
      return { ...(await git.exited), complaint: git.stderrText() };
    } finally {
      release();
    }
  }

  /** One that is still being made counts only while the refs have not moved, not even there and back. */
  function find(key: string, refs: RefSnapshot): CachedResponse | null {
    const answer = answers.get(key);
    return answer !== undefined && (answer.isKept || answer.refs.stamp.isSameAs(refs.stamp)) ? answer : null;
  }

  /** Makes room for a finished answer, which stays as long as somebody asks for it now and then. */
  function keep(answer: CachedResponse): void {
    if (answers.get(answer.key) !== answer) return drop(answer);
    answer.isKept = true;
    touch(answer);
    let bytes = 0;
    for (const { spool } of answers.values()) bytes += spool.size;
    for (const oldest of answers.values()) {
      if (bytes <= limits.answerCacheBytes && answers.size <= limits.answerCacheEntries) return;
      if (!oldest.spool.isEnded) continue;
      bytes -= oldest.spool.size;
      drop(oldest);
    }
  }

  function touch(answer: CachedResponse): void {
    clearTimeout(answer.expiry);
    answers.delete(answer.key);
    answers.set(answer.key, answer);
    if (answer.spool.isEnded) answer.expiry = setTimeout(() => drop(answer), limits.answerKeptMs).unref();
  }

  function drop(answer: CachedResponse): void {
    clearTimeout(answer.expiry);
    if (answers.get(answer.key) === answer) answers.delete(answer.key);
    if (answer.readers > 0) return;
    if (!answer.spool.isEnded) answer.abandoned.abort(new Error('nobody waits for this answer any more'));
    else answer.spool.close();
  }

  return {
    async serve(request, bytes) {
      const { output, signal, takesBytesAtOnce = false, stallMs = limits.stallMs } = request;
      const refs = await tables.of(request.path);
      if (refs === null) return null;
      const key = requestKey([request.path, refs.state(), deps.versions], bytes, request.protocol ?? '');
      // Asked twice: while the disk was looked at, somebody else may have begun it.
      if (find(key, refs) === null && !(await hasRoom())) return null;
      const answer = find(key, refs) ?? begin(key, request, bytes, refs);
      answer.readers += 1;
      try {
        touch(answer);
        const { bytes: sent, left } = await followSpool(answer.spool, { output, takesBytesAtOnce, signal, stallMs });
        if (left) {
          if (sent === 0) signal.throwIfAborted();
          return { exitCode: 1, cutShort: true, bytes: sent };
        }
        const { code, stoppedBy, complaint } = await answer.exited;
        if (sent === 0 && code !== 0) throw failure(null, code, stoppedBy, complaint);
        return { exitCode: code ?? 1, cutShort: code === null || stoppedBy !== null, bytes: sent };
      } finally {
        answer.readers -= 1;
        if (answer.readers === 0 && (answers.get(key) !== answer || !answer.spool.isEnded)) drop(answer);
      }
    },
    forget(repository) {
      for (const answer of answers.values()) if (answer.repository === repository) drop(answer);
    },
    close() {
      for (const answer of answers.values()) drop(answer);
    },
  };
}
