import type { PatchFormat, Verdict } from '../../pulls/index.ts';
import { hasOnly, listIn, numberIn, splitOptions } from './command-options.ts';
import type { Options } from './command-options.ts';

type ListState = (typeof listStates)[number];
const listStates = ['open', 'closed', 'merged', 'all'] as const;

type Place = { owner: string; name: string };

/** Commands about pull requests; texts are read from standard input. */
export type PullCommand = Place &
  (
    | { kind: 'pull list'; state: ListState; labels: string[]; base: string | null; head: string | null }
    | { kind: 'pull new'; head: string; base: string | undefined; title: string; isDraft: boolean }
    | { kind: 'pull show' | 'pull stack' | 'pull checkout' | 'pull close' | 'pull reopen'; number: number }
    | { kind: 'pull ready' | 'pull draft'; number: number }
    | {
        kind: 'pull diff';
        number: number;
        round: number | undefined;
        since: number | undefined;
        format: PatchFormat;
      }
    /** Without a number: the list. */
    | { kind: 'pull queue'; number: number | null; act: 'enter' | 'leave' | 'first'; style: string }
    | { kind: 'pull review'; number: number; verdict: Verdict; round: number | undefined }
    | { kind: 'pull reviewers'; number: number; add: string[]; remove: string[] }
    | { kind: 'pull retarget'; number: number; base: string }
    | { kind: 'pull update'; number: number; style: 'MERGE' | 'REBASE' }
    | { kind: 'pull comment'; number: number; state: 'open' | 'completed' | null }
    | {
        kind: 'pull merge';
        number: number;
        style: string;
        /** Message of the new commit; by default the initial value of the form. */
        title: string | undefined;
        round: number | undefined;
        whenReady: boolean;
        deletesBranch: boolean;
      }
  );

const styles = ['merge', 'squash', 'rebase', 'forward'];

/**
 * Parses the words after `pull`: `list OWNER/NAME --state all`, `show OWNER/NAME 7`.
 * @param parsePath reads `OWNER/NAME`
 * @returns null if the input is not a pull request command
 */
export function parsePullCommand(
  words: readonly string[],
  parsePath: (text: string) => Place | null,
): PullCommand | null {
  const [verb, repository = '', ...rest] = words;
  const place = parsePath(repository);
  const split = splitOptions(rest);
  if (place === null || split === null) return null;
  const { plain, options } = split;
  if (verb === 'list') return plain.length > 0 ? null : parseList(place, options);
  if (verb === 'new' || verb === 'add' || verb === 'create') return plain.length > 0 ? null : parseNew(place, options);
  if (verb === 'queue') return parseQueue(place, plain, options);
  const number = plain.length === 1 ? numberIn(plain[0]!) : null;
  return number === null ? null : parseOne(verb, { ...place, number }, options);
}

function parseList(place: Place, options: Options): PullCommand | null {
  const state = listStates.find((each) => each === (options.get('--state') ?? 'open'));
  const [base, head] = [options.get('--base') ?? null, options.get('--head') ?? null];
  if (!hasOnly(options, '--state', '--label', '--base', '--head') || state === undefined) return null;
  if (base === '' || head === '') return null;
  return { kind: 'pull list', ...place, state, labels: listIn(options.get('--label')), base, head };
}

function parseNew(place: Place, options: Options): PullCommand | null {
  const title = options.get('--title') ?? '';
  const head = options.get('--head') ?? '';
  if (!hasOnly(options, '--title', '--head', '--base', '--draft') || title === '' || head === '') return null;
  if (options.get('--draft')) return null;
  const base = options.get('--base');
  return { kind: 'pull new', ...place, head, base, title, isDraft: options.has('--draft') };
}

function parseQueue(place: Place, plain: readonly string[], options: Options): PullCommand | null {
  const [first] = plain;
  const number = first === undefined ? null : numberIn(first);
  const style = options.get('--style') ?? 'merge';
  if (plain.length > 1 || (first !== undefined && number === null) || !styles.includes(style)) return null;
  if (!hasOnly(options, '--style', '--leave', '--first') || options.get('--leave') || options.get('--first'))
    return null;
  const isAlone = options.size <= 1 && (number !== null || options.size === 0);
  const act = options.has('--leave') ? 'leave' : options.has('--first') ? 'first' : 'enter';
  return isAlone ? { kind: 'pull queue', ...place, number, act, style } : null;
}

function parseOne(verb: string | undefined, place: Place & { number: number }, options: Options): PullCommand | null {
  switch (verb) {
    case 'show':
    case 'stack':
    case 'checkout':
    case 'close':
    case 'reopen':
    case 'ready':
    case 'draft':
      return options.size > 0 ? null : { kind: `pull ${verb}`, ...place };
    case 'diff': {
      const [round, since] = [roundIn(options), roundIn(options, '--since')];
      if (!hasOnly(options, '--round', '--since', '--patch') || round === null || since === null) return null;
      if (options.get('--patch')) return null;
      return { kind: 'pull diff', ...place, round, since, format: options.has('--patch') ? 'patch' : 'diff' };
    }
    case 'review':
      return parseReview(place, options);
    case 'reviewers': {
      const [add, remove] = [listIn(options.get('--add')), listIn(options.get('--remove'))];
      if (!hasOnly(options, '--add', '--remove') || add.length + remove.length === 0) return null;
      return { kind: 'pull reviewers', ...place, add, remove };
    }
    case 'retarget': {
      const base = options.get('--base') ?? '';
      return !hasOnly(options, '--base') || base === '' ? null : { kind: 'pull retarget', ...place, base };
    }
    case 'update': {
      const style = options.get('--style') ?? 'merge';
      if (!hasOnly(options, '--style') || (style !== 'merge' && style !== 'rebase')) return null;
      return { kind: 'pull update', ...place, style: style === 'rebase' ? 'REBASE' : 'MERGE' };
    }
    case 'comment': {
      const [close, reopen] = [options.get('--close'), options.get('--reopen')];
      if (!hasOnly(options, '--close', '--reopen') || (close !== undefined && reopen !== undefined)) return null;
      if (close || reopen) return null;
      const state = close !== undefined ? 'completed' : reopen !== undefined ? 'open' : null;
      return { kind: 'pull comment', ...place, state };
    }
    case 'merge':
      return parseMerge(place, options);
    default:
      return null;
  }
}

/** Undefined without the option, null if its value is not a number. */
function roundIn(options: Options, name = '--round'): number | null | undefined {
  const text = options.get(name);
  return text === undefined ? undefined : /^\d{1,6}$/.test(text) ? Number(text) : null;
}

const verdicts: Readonly<Record<string, Verdict>> = {
  '--approve': 'APPROVE',
  '--request-changes': 'REQUEST_CHANGES',
  '--comment': 'COMMENT',
};

function parseReview(place: Place & { number: number }, options: Options): PullCommand | null {
  const given = Object.keys(verdicts).filter((name) => options.has(name));
  const round = roundIn(options);
  if (!hasOnly(options, ...Object.keys(verdicts), '--round') || round === null) return null;
  const [name] = given;
  if (name === undefined || given.length > 1 || options.get(name) !== '') return null;
  return { kind: 'pull review', ...place, verdict: verdicts[name]!, round };
}

function parseMerge(place: Place & { number: number }, options: Options): PullCommand | null {
  const style = options.get('--style') ?? 'merge';
  const round = roundIn(options);
  const known = ['--style', '--title', '--round', '--when-ready', '--delete-branch'];
  if (!hasOnly(options, ...known) || !styles.includes(style) || round === null) return null;
  if (options.get('--when-ready') || options.get('--delete-branch')) return null;
  return {
    kind: 'pull merge',
    ...place,
    style,
    title: options.get('--title') || undefined,
    round,
    whenReady: options.has('--when-ready'),
    deletesBranch: options.has('--delete-branch'),
  };
}
