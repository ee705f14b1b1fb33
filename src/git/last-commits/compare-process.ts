import type { Readable, Writable } from 'node:stream';
import { internal } from '../../kernel/index.ts';
import type { GitDoor, GitProcess } from '../process.ts';

/** A commit and one of its parents. */
export interface Pair {
  oid: string;
  parent: string;
}

const mark = 'done\n';

/**
 * One `git diff-tree` that is asked for many pairs of commits, many at a time. Its answers
 * name the entries of one folder in which the two differ.
 */
export class CompareProcess {
  readonly #git: GitProcess;
  readonly #stdin: Writable;
  readonly #pieces: AsyncIterator<Buffer>;
  /** The folder with a slash at its end, empty for the root; one character per byte. */
  readonly #prefix: string;

  /** @param argument the folder as an argument of git, or null for the root */
  constructor(door: GitDoor, path: string, request: { prefix: string; argument: string | null; timeLimitMs: number; memoryLimitBytes: number }) {
    const { prefix, argument, timeLimitMs, memoryLimitBytes } = request;
    this.#prefix = prefix;
    this.#git = door.start({
      argv: [
        `--git-dir=${path}`, 'diff-tree', '--stdin', '--always', '--raw', '-z', '--no-abbrev', '--no-renames',
        ...(argument === null ? [] : ['-r', '--', argument]),
      ],
      takesInput: true,
      timeLimitMs,
      memoryLimitBytes,
      yields: true,
    });
    this.#stdin = this.#git.stdin!;
    this.#pieces = (this.#git.stdout as Readable)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** For each pair the names in the folder that differ, one character per byte. */
  async differences(pairs: readonly Pair[]): Promise<Set<string>[]> {
    if (pairs.length === 0) return [];
    // A line that is no object id is printed as it is, and with it everything before.
    const sent = new Promise<void>((resolve) => this.#stdin.write(`${pairs.map(({ oid, parent }) => `${oid} ${parent}\n`).join('')}${mark}`, () => resolve()));
    const answers = await this.#read();
    await sent;
    if (answers.length !== pairs.length) throw internal('git compared other commits than it was asked to');
    return answers;
  }

  async #read(): Promise<Set<string>[]> {
    const answers: Set<string>[] = [];
    let rest = '';
    let awaitsName = false;
    for (;;) {
      const { value, done } = await this.#pieces.next();
      if (done === true) throw internal('git stopped comparing commits', { cause: this.#git.complaint() });
      const fields = (rest + value.toString('latin1')).split('\0');
      rest = fields.pop()!;
      for (const field of fields) {
        if (awaitsName) this.#note(answers, field);
        else if (!field.startsWith(':')) answers.push(new Set());
        awaitsName = !awaitsName && field.startsWith(':');
      }
      if (!awaitsName && rest === mark) return answers;
    }
  }

  #note(answers: Set<string>[], name: string): void {
    if (!name.startsWith(this.#prefix)) return;
    const end = name.indexOf('/', this.#prefix.length);
    answers.at(-1)?.add(name.slice(this.#prefix.length, end === -1 ? undefined : end));
  }

  async close(): Promise<void> {
    this.#git.stop('aborted');
    await this.#git.exited;
  }
}
