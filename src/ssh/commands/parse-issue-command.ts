import type { CloseReason } from '../../issues/index.ts';
import { hasOnly, listIn, numberIn, splitOptions } from './command-options.ts';
import type { Options } from './command-options.ts';

/** Commands about issues; texts are read from standard input. */
export type IssueCommand = { owner: string; name: string } & (
  | { kind: 'issue list'; state: 'open' | 'closed' | 'all'; labels: string[] }
  | { kind: 'issue show'; number: number }
  | {
      kind: 'issue new';
      title: string;
      labels: string[];
      assignees: string[];
      milestone: string | null;
      /** The file name of an issue template. */
      template: string | null;
    }
  | { kind: 'issue comment'; number: number; state: 'open' | 'completed' | null }
  | { kind: 'issue close'; number: number; reason: CloseReason }
  | { kind: 'issue reopen'; number: number }
  | { kind: 'issue label' | 'issue assign'; number: number; add: string[]; remove: string[] }
);

const reasons: readonly string[] = ['completed', 'not_planned', 'duplicate'];

/**
 * Parses the words after `issue`: `list OWNER/NAME --state all`, `show OWNER/NAME 7`. The client's shell has removed
 * quotes, so an option's value extends to the next option.
 * @param parsePath reads `OWNER/NAME`
 * @returns null if the input is not an issue command
 */
export function parseIssueCommand(
  words: readonly string[],
  parsePath: (text: string) => { owner: string; name: string } | null,
): IssueCommand | null {
  const [verb, repository = '', ...rest] = words;
  const place = parsePath(repository);
  const split = splitOptions(rest);
  if (place === null || split === null) return null;
  const { plain, options } = split;
  if (verb === 'list' || verb === 'new' || verb === 'add' || verb === 'create') {
    if (plain.length > 0) return null;
    return verb === 'list' ? parseList(place, options) : parseNew(place, options);
  }
  const number = plain.length === 1 ? numberIn(plain[0]!) : null;
  return number === null ? null : parseOne(verb, { ...place, number }, options);
}

type Place = { owner: string; name: string };

function parseList(place: Place, options: Options): IssueCommand | null {
  const state = options.get('--state') ?? 'open';
  if (!hasOnly(options, '--state', '--label') || (state !== 'open' && state !== 'closed' && state !== 'all'))
    return null;
  return { kind: 'issue list', ...place, state, labels: listIn(options.get('--label')) };
}

function parseNew(place: Place, options: Options): IssueCommand | null {
  const title = options.get('--title') ?? '';
  if (!hasOnly(options, '--title', '--label', '--assign', '--milestone', '--template') || title === '') return null;
  return {
    kind: 'issue new',
    ...place,
    title,
    labels: listIn(options.get('--label')),
    assignees: listIn(options.get('--assign')),
    milestone: options.get('--milestone') ?? null,
    template: options.get('--template') ?? null,
  };
}

function parseOne(verb: string | undefined, place: Place & { number: number }, options: Options): IssueCommand | null {
  switch (verb) {
    case 'show':
      return options.size > 0 ? null : { kind: 'issue show', ...place };
    case 'comment': {
      const [close, reopen] = [options.get('--close'), options.get('--reopen')];
      if (!hasOnly(options, '--close', '--reopen') || (close !== undefined && reopen !== undefined)) return null;
      if (close || reopen) return null;
      return {
        kind: 'issue comment',
        ...place,
        state: close !== undefined ? 'completed' : reopen !== undefined ? 'open' : null,
      };
    }
    case 'close': {
      const reason = options.get('--reason') ?? 'completed';
      if (!hasOnly(options, '--reason') || !reasons.includes(reason)) return null;
      return { kind: 'issue close', ...place, reason: reason as CloseReason };
    }
    case 'reopen':
      return options.size > 0 ? null : { kind: 'issue reopen', ...place };
    case 'label':
    case 'assign': {
      const [add, remove] = [listIn(options.get('--add')), listIn(options.get('--remove'))];
      if (!hasOnly(options, '--add', '--remove') || add.length + remove.length === 0) return null;
      return { kind: `issue ${verb}`, ...place, add, remove };
    }
    default:
      return null;
  }
}
