import type { MergeStyle } from '../../git/index.ts';
import { parseBody, parseTitle } from '../../issues/index.ts';
import { invalid } from '../../kernel/index.ts';
import { limits } from '../limits.ts';

/** Options of a push to `refs/for/<branch>`; null or empty if not given. */
export interface PushForOptions {
  title: string | null;
  description: string | null;
  isDraft: boolean | null;
  topic: string | null;
  /** Whether each commit gets its own pull request. */
  isStack: boolean;
  /** Number of the pull request to which the push adds. */
  pull: number | null;
  /** Note of the round. */
  note: string;
  labels: string[];
  /** Usernames. */
  reviewers: string[];
  /** Style of the merge to be made when everything is ready, or `usual` for the default. */
  merge: MergeStyle | 'usual' | null;
  /** Options of other modules, and unknown ones. */
  others: string[];
}

const styles: Readonly<Record<string, MergeStyle>> = {
  merge: 'MERGE',
  squash: 'SQUASH',
  rebase: 'REBASE',
  forward: 'FORWARD',
};

/** Limit of labels, and of reviewers, per push. */
const maxNames = 20;

/**
 * Parses push options. Values are one line: `\n` stands for a line feed, and `{base64}…` for any text, as on other
 * forges. Throws `bad_push_option`, and the errors of titles and texts.
 */
export function readPushOptions(options: readonly string[]): PushForOptions {
  const read: PushForOptions = {
    title: null,
    description: null,
    isDraft: null,
    topic: null,
    isStack: false,
    pull: null,
    note: '',
    labels: [],
    reviewers: [],
    merge: null,
    others: [],
  };
  for (const option of options) if (!readOption(read, option)) read.others.push(option);
  if (read.labels.length > maxNames || read.reviewers.length > maxNames)
    throw bad(`a push names at most ${maxNames} labels and ${maxNames} reviewers`);
  return read;
}

/**
 * Whether options remain to be applied once the round is recorded; the write that opens a pull request applies the
 * others.
 */
export const setsMore = (
  { title, description, isDraft, labels, reviewers, merge }: PushForOptions,
  isFirst: boolean,
): boolean =>
  reviewers.length > 0 ||
  merge !== null ||
  (!isFirst && (title !== null || description !== null || isDraft !== null || labels.length > 0));

/** Parses one of the options above; returns false for any other. */
function readOption(read: PushForOptions, option: string): boolean {
  const equals = option.indexOf('=');
  const name = equals === -1 ? option : option.slice(0, equals);
  const value = equals === -1 ? null : decode(option.slice(equals + 1));
  switch (name) {
    case 'title':
      read.title = parseTitle(needed(name, value));
      return true;
    case 'description':
      read.description = parseBody(needed(name, value));
      return true;
    case 'note':
      read.note = parseBody(needed(name, value)).replaceAll('\n', ' ').slice(0, limits.noteLength);
      return true;
    case 'draft':
    case 'ready':
      read.isDraft = name === 'draft';
      return true;
    case 'stack':
      read.isStack = true;
      return true;
    case 'topic':
      read.topic = needed(name, value);
      return true;
    case 'pull':
      if (!/^#?[1-9]\d{0,14}$/.test(needed(name, value))) throw bad('pull takes a number: -o pull=7');
      read.pull = Number(value!.replace('#', ''));
      return true;
    case 'label':
      read.labels.push(needed(name, value));
      return true;
    case 'reviewer':
      read.reviewers.push(needed(name, value).replace(/^@/, ''));
      return true;
    case 'merge':
      read.merge = value === null ? 'usual' : (styles[value.toLowerCase()] ?? null);
      if (read.merge === null) throw bad(`merge takes ${Object.keys(styles).join(', ')}`);
      return true;
    default:
      return false;
  }
}

function needed(name: string, value: string | null): string {
  if (value === null || value === '') throw bad(`${name} needs a value: -o ${name}=…`);
  return value;
}

function decode(value: string): string {
  const [, encoded] = /^\{base64[:}]([A-Za-z0-9+/_=-]*)\}?$/.exec(value) ?? [];
  if (encoded !== undefined) return Buffer.from(encoded, 'base64').toString('utf8').toWellFormed();
  return value.replace(/\\([n\\])/g, (_, letter: string) => (letter === 'n' ? '\n' : '\\'));
}

const bad = (message: string) => invalid('bad_push_option', message);
