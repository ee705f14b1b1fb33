import type { Writable } from 'node:stream';
import { currentCharge, freeMemory, internal, unavailable } from '../../kernel/index.ts';
import { usageOf } from '../processes/cpu-time-account.ts';
import type { GitRunner, GitProcess } from '../processes/git-runner.ts';

type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

interface ObjectInfo {
  oid: string;
  type: ObjectType;
  /** Size of the content in bytes. */
  size: number;
}

export interface GitObject extends ObjectInfo {
  content: Buffer;
}

interface ObjectReaderOptions {
  responseTimeoutMs: number;
  ttlMs: number;
  environment?: Readonly<Record<string, string>> | undefined;
}

interface QuestionOptions {
  /** Whether the response includes content. */
  withContent: boolean;
  /** Whether its content was still incomplete when the response was delivered. */
  isKept: boolean;
  /** Content beyond this size is dropped as it arrives. */
  maxBytes: number;
}

interface Question extends QuestionOptions {
  resolve(response: GitObject | null): void;
  reject(error: Error): void;
}

const maxQuestions = 20_000;

/** One long-lived `git cat-file` process. Responses arrive in request order, so many may be in flight at once. */
export class ObjectReader {
  readonly #process: GitProcess;
  readonly #stdin: Writable;
  readonly #answerMs: number;
  readonly #questions: Question[] = [];
  #head = 0;
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  /** Number of new bytes below which parsing is not retried: a large object arrives in many chunks. */
  #wantedBytes = 0;
  /** Whether a response in the current bytes keeps a slice of them. */
  #isKept = false;
  /** Number of bytes still to arrive of an object above its limit. */
  #droppedBytes = 0;
  #watchdog: NodeJS.Timeout | undefined;
  readonly #usage = usageOf(() => this.#process.pid);
  /** CPU time of the process when it was last charged. */
  #chargedMs = 0;

  /**
   * @param options.responseTimeoutMs time limit of one response
   * @param options.ttlMs time limit of the process
   * @param options.environment variables for this process alone
   */
  constructor(runner: GitRunner, path: string, { responseTimeoutMs, ttlMs, environment }: ObjectReaderOptions) {
    this.#answerMs = responseTimeoutMs;
    this.#process = runner.start({
      // Half of the value in the settings: the process lives for a minute, and reads at most an eighth slower.
      argv: [`--git-dir=${path}`, '-c', 'core.deltaBaseCacheLimit=16m', 'cat-file', '--batch-command', '--buffer'],
      takesInput: true,
      timeLimitMs: ttlMs,
      isShared: true,
      environment,
    });
    this.#stdin = this.#process.stdin!;
    this.#process.stdout!.on('data', (chunk: Buffer) => this.#receive(chunk));
    void this.#process.exited.then(() => this.#usage.close());
    void this.#process.exited.then(() =>
      this.#fail(internal(`the object reader ended: ${this.#process.stderrText()}`.trim())),
    );
  }

  get isIdle(): boolean {
    return this.#pending === 0;
  }

  get exited(): Promise<unknown> {
    return this.#process.exited;
  }

  get #pending(): number {
    return this.#questions.length - this.#head;
  }

  /** Type and size of each object, or null for a name without an object. One round trip. */
  infos(names: readonly string[]): Promise<(ObjectInfo | null)[]> {
    return this.#request(names, { withContent: false, isKept: false, maxBytes: Infinity }, (info) => info);
  }

  /**
   * The whole object, or null; without content above `maxBytes`. git sends the content in any case, so query the size
   * first if an object may be large: a file.
   */
  async object(oid: string, { maxBytes = Infinity }: { maxBytes?: number } = {}): Promise<GitObject | null> {
    const options = { withContent: true, isKept: true, maxBytes };
    return (await this.#request([oid], options, (object) => object))[0] ?? null;
  }

  /**
   * The result of `use` for each object, in one round trip; objects are as `object` returns them. Content is available
   * only while `use` runs: its memory is reused at once, where V8 would let a hundred megabytes accumulate first.
   */
  mapObjects<Result>(
    names: readonly string[],
    use: (object: GitObject | null) => Result,
    { maxBytes = Infinity }: { maxBytes?: number } = {},
  ): Promise<Result[]> {
    return this.#request(names, { withContent: true, isKept: false, maxBytes }, use);
  }

  close(): void {
    this.#stdin.end();
  }

  /**
   * @param names object ids or full ref names with a suffix; without line breaks
   */
  async #request<Result>(
    names: readonly string[],
    options: QuestionOptions,
    use: (object: GitObject | null) => Result,
  ): Promise<Result[]> {
    const charge = currentCharge();
    if (charge === null) return this.#put(names, options, use);
    // Excludes CPU time of uncharged requests since then.
    if (this.isIdle) this.#chargedMs = this.#usage.ms() ?? this.#chargedMs;
    const startedAt = performance.now();
    try {
      return await this.#put(names, options, use);
    } finally {
      const used = this.#usage.ms();
      charge(used === null ? performance.now() - startedAt : Math.max(0, used - this.#chargedMs));
      this.#chargedMs = used ?? this.#chargedMs;
    }
  }

  #put<Result>(
    names: readonly string[],
    options: QuestionOptions,
    use: (object: GitObject | null) => Result,
  ): Promise<Result[]> {
    if (names.some((name) => name.includes('\n'))) return Promise.reject(internal('an object name has no line break'));
    if (this.#pending + names.length > maxQuestions) {
      return Promise.reject(
        unavailable('git_busy', 'The server is busy. Try again in a moment.', { retryAfterSeconds: 5 }),
      );
    }
    if (this.#pending === 0) this.#startWatchdog();
    const responses = names.map(
      () =>
        new Promise<Result>((resolve, reject) => {
          const handOn = (object: GitObject | null): void => {
            try {
              resolve(use(object));
            } catch (error) {
              reject(error as Error);
            }
          };
          this.#questions.push({ ...options, resolve: handOn, reject });
        }),
    );
    const verb = options.withContent ? 'contents' : 'info';
    this.#stdin.write(`${names.map((name) => `${verb} ${name}\n`).join('')}flush\n`);
    return Promise.all(responses);
  }

  #startWatchdog(): void {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => this.#process.stop('time_limit'), this.#answerMs);
  }

  #receive(received: Buffer): void {
    let chunk = received;
    if (this.#droppedBytes > 0) {
      chunk = received.subarray(this.#droppedBytes);
      this.#droppedBytes -= received.length - chunk.length;
      if (chunk.length === 0) return void this.#watchdog?.refresh();
    }
    this.#unread.push(chunk);
    this.#unreadBytes += chunk.length;
    if (this.#unreadBytes < this.#wantedBytes) return;
    const whole = this.#unread.length === 1 ? chunk : Buffer.concat(this.#unread);
    if (this.#unread.length > 1) this.#unread.forEach(freeMemory);
    let bytes = whole;
    this.#isKept = false;
    for (let rest = this.#readResponse(bytes); rest !== null; rest = this.#readResponse(bytes)) bytes = rest;
    if (!this.#isKept && bytes.length < whole.length) {
      bytes = Buffer.from(bytes);
      freeMemory(whole);
    }
    this.#unread = bytes.length === 0 ? [] : [bytes];
    this.#unreadBytes = bytes.length;
    if (this.#pending === 0) clearTimeout(this.#watchdog);
  }

  /**
   * Resolves the oldest request with the first response in `bytes`; returns the rest, or null if the response is
   * incomplete.
   */
  #readResponse(bytes: Buffer): Buffer | null {
    const question = this.#questions[this.#head];
    const lineEnd = bytes.indexOf(0x0a);
    if (question === undefined || lineEnd === -1) {
      this.#wantedBytes = 0;
      return null;
    }
    const [, oid, type, digits] =
      /^([0-9a-f]+) (commit|tree|blob|tag) (\d+)$/.exec(bytes.toString('latin1', 0, lineEnd)) ?? [];
    if (oid === undefined) return this.#response(null, bytes, lineEnd + 1);
    const size = Number(digits);
    const end = question.withContent ? lineEnd + 1 + size + 1 : lineEnd + 1;
    const isDropped = question.withContent && size > question.maxBytes;
    if (isDropped) {
      this.#droppedBytes = Math.max(0, end - bytes.length);
      const response = { oid, type: type as ObjectType, size, content: noContent };
      return this.#response(response, bytes, Math.min(end, bytes.length));
    }
    if (bytes.length < end) {
      this.#wantedBytes = end;
      return null;
    }
    const content = question.withContent ? bytes.subarray(lineEnd + 1, end - 1) : noContent;
    this.#isKept ||= question.isKept;
    return this.#response({ oid, type: type as ObjectType, size, content }, bytes, end);
  }

  #response(response: GitObject | null, bytes: Buffer, end: number): Buffer {
    this.#questions[this.#head]!.resolve(response);
    this.#head += 1;
    if (this.#head === this.#questions.length) this.#questions.length = this.#head = 0;
    if (this.#pending > 0) this.#watchdog?.refresh();
    this.#wantedBytes = 0;
    return bytes.subarray(end);
  }

  #fail(error: Error): void {
    clearTimeout(this.#watchdog);
    for (const question of this.#questions.splice(0).slice(this.#head)) question.reject(error);
    this.#head = 0;
  }
}

const noContent: Buffer = Buffer.alloc(0);
