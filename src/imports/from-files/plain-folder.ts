import { createHash } from 'node:crypto';
import { appendFile, lstat, mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent } from '../../files/index.ts';
import type { RemoteRelease } from '../../mirrors/index.ts';
import type {
  SourceComment,
  SourceHook,
  SourceIssue,
  SourceLabel,
  SourceMilestone,
  SourcePull,
  SourceRepository,
  SourceReview,
  SourceReviewComment,
  SourceRule,
} from '../sources/source.ts';

/**
 * The folder to which archives of GitHub and exports of GitLab are converted before they are read: lists of the shapes
 * of `Source`, one item per line.
 */

/** Rows of each list, with the numbers of the source. */
export interface PlainLists {
  labels: SourceLabel;
  milestones: SourceMilestone;
  issues: SourceIssue;
  /** The discussions of pull requests. */
  talks: SourceIssue;
  pulls: SourcePull;
  comments: SourceComment;
  /** Belongs to pull requests. */
  'pull-comments': SourceComment;
  releases: RemoteRelease;
  rules: SourceRule;
  hooks: SourceHook;
}

/** A row of the reviews of a pull request. */
export type PlainReview = { review: SourceReview } | { note: SourceReviewComment };

/** Properties of the whole folder. */
export interface PlainFacts {
  repository: Omit<SourceRepository, 'url' | 'cloneUrl'>;
  toDo: string[];
  /** Lines of the report. */
  problems: [item: string, problem: string][];
  counts: Record<'issues' | 'pulls' | 'releases' | 'labels' | 'milestones', number>;
  pullRefs: string[];
  /** Whether issues and pull requests are numbered separately. */
  isApart: boolean;
}

export const factsFile = 'facts.json';
/** An attached file, keyed by its reference in texts. */
export const attachedFile = (key: string): string => `files/${createHash('sha256').update(key).digest('hex')}`;
export const reviewsFile = (number: number): string => `reviews/${number}`;

const heldCharacters = 4 * 1024 * 1024;
const mostProblems = 2_000;

/** Writes such a folder; `finish` must be called last. Buffers only a few MB of rows. */
export class PlainFolder {
  readonly #from: string;
  readonly #to: string;
  readonly #held = new Map<string, string[]>();
  #characters = 0;
  readonly #counts = new Map<string, number>();
  readonly #problems: PlainFacts['problems'] = [];

  /**
   * @param from source folder of moved files
   */
  constructor(from: string, to: string) {
    this.#from = from;
    this.#to = to;
  }

  readonly tell = (item: string, problem: string): void => {
    if (this.#problems.length < mostProblems) this.#problems.push([item, problem]);
  };

  async add<Name extends keyof PlainLists>(name: Name, ...rows: PlainLists[Name][]): Promise<void> {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + rows.length);
    await this.#write(name, rows);
  }

  /** Belongs to a pull request, by its number at the source. */
  addReview = (number: number, ...rows: PlainReview[]): Promise<void> => this.#write(reviewsFile(number), rows);

  /**
   * Moves a file or a folder of the archive to a name here.
   * @returns its length; null if the archive does not contain it
   */
  async move(name: string, to: string): Promise<number | null> {
    const source = path.resolve(this.#from, name);
    if (!source.startsWith(this.#from + path.sep)) return null;
    const found = await lstat(source).catch(nullIfAbsent);
    if (found === null) return null;
    const target = path.join(this.#to, to);
    await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
    await rename(source, target);
    return found.size;
  }

  async finish(facts: Omit<PlainFacts, 'problems' | 'counts'>): Promise<void> {
    await this.#flush();
    const countOf = (name: keyof PlainLists): number => this.#counts.get(name) ?? 0;
    const whole: PlainFacts = {
      ...facts,
      problems: this.#problems,
      counts: {
        issues: countOf('issues'),
        pulls: countOf('pulls'),
        releases: countOf('releases'),
        labels: countOf('labels'),
        milestones: countOf('milestones'),
      },
    };
    await mkdir(this.#to, { recursive: true, mode: 0o700 });
    await writeFile(path.join(this.#to, factsFile), JSON.stringify(whole), { mode: 0o600 });
  }

  async #write(file: string, rows: readonly unknown[]): Promise<void> {
    const lines = this.#held.get(file) ?? [];
    for (const row of rows) {
      const line = `- ${JSON.stringify(row, vouchForNothing)}\n`;
      lines.push(line);
      this.#characters += line.length;
    }
    this.#held.set(file, lines);
    if (this.#characters > heldCharacters) await this.#flush();
  }

  async #flush(): Promise<void> {
    for (const [file, lines] of this.#held) {
      const target = path.join(this.#to, file);
      await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
      await appendFile(target, lines.join(''), { mode: 0o600 });
    }
    this.#held.clear();
    this.#characters = 0;
  }
}

/**
 * Removes e-mail addresses, which a file's author could invent; a file has less data about a user than the API of a
 * forge.
 */
function vouchForNothing(_key: string, value: unknown): unknown {
  const isPerson = value !== null && typeof value === 'object' && 'login' in value && 'email' in value;
  return isPerson ? { ...value, id: '', email: '', url: '', isNameOnly: true } : value;
}
