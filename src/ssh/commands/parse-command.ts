import type { LfsRequest } from './authenticate-lfs.ts';
import { parseInboxCommand } from './parse-inbox-command.ts';
import type { InboxCommand } from './parse-inbox-command.ts';
import { parseIssueCommand } from './parse-issue-command.ts';
import type { IssueCommand } from './parse-issue-command.ts';
import { parsePullCommand } from './parse-pull-command.ts';
import type { PullCommand } from './parse-pull-command.ts';

/** All commands that a client can request over SSH. */
export type Command =
  | InboxCommand
  | IssueCommand
  | PullCommand
  | { kind: 'git'; service: GitService; owner: string; name: string }
  /** The request by git-lfs before an upload or download. */
  | ({ kind: 'lfs' } & LfsRequest)
  /** A git service with a path that cannot name a repository, and the path that was probably meant. */
  | { kind: 'wrong path'; meant: { owner: string; name: string } | null }
  | { kind: 'greet' }
  | { kind: 'help' }
  | { kind: 'whoami' }
  | { kind: 'repo list'; all: boolean }
  | { kind: 'repo info'; owner: string; name: string }
  | { kind: 'repo create'; owner?: string; name: string; visibility: 'PUBLIC' | 'PRIVATE'; description: string };

export type GitService = 'upload-pack' | 'receive-pack' | 'upload-archive';

const longest = 1_024;
const git = /^git[- ](upload-pack|receive-pack|upload-archive) +(?:'([^']*)'|"([^"]*)"|([^\s'"]+))$/;
const lfs =
  /^git-lfs-(authenticate|transfer) +(?:'([^']*)'|"([^"]*)"|([^\s'"]+)) +(upload|download)(?: +[0-9a-f]{64})?$/;
/** Characters of a path as a user may have typed it, without those that a shell interprets. */
const pathLike = /^[\w.~/-]+$/;
// The words of a path can never be `~user`, `.`, `..` or an option.
const path =
  /^\/*([a-z0-9][a-z0-9._-]{0,99})\/((?!\.{1,2}(?:\.git)?\/*$)[a-z0-9._][a-z0-9._-]{0,99}?(?:\.wiki)?)(?:\.git)?\/*$/i;
const word = /^[a-z0-9][a-z0-9._-]{0,99}$/i;

/**
 * Parses a complete command line; no shell is ever involved (security F04). The path may be quoted, with or without
 * leading slashes and `.git`; the lookup ignores its case. `git upload-pack` is equivalent to `git-upload-pack`, and a
 * leading `hearth` is allowed before the other commands.
 *
 * @returns `null` if it is not exactly one of the commands
 */
export function parseCommand(line: string): Command | null {
  if (line.length > longest) return null;
  const [, service, single, double, bare] = git.exec(line) ?? [];
  if (service !== undefined) {
    const place = parsePath(single ?? double ?? bare ?? '');
    if (place !== null) return { kind: 'git', service: service as GitService, ...place };
    const text = single ?? double ?? bare ?? '';
    return pathLike.test(text) ? { kind: 'wrong path', meant: parseForeignPath(text) } : null;
  }
  const [, program, lfsSingle, lfsDouble, lfsBare, operation] = lfs.exec(line) ?? [];
  if (operation !== undefined) {
    const place = parsePath(lfsSingle ?? lfsDouble ?? lfsBare ?? '');
    const request = { kind: 'lfs', program, operation } as Pick<LfsRequest, 'program' | 'operation'> & { kind: 'lfs' };
    return place === null ? null : { ...request, ...place };
  }
  const words = line.split(' ').filter((each) => each !== '');
  if (words[0] === 'hearth') words.shift();
  return parseWords(words);
}

function parseWords(words: string[]): Command | null {
  const [first, second, ...rest] = words;
  if (words.length === 1 && (first === 'help' || first === '--help')) return { kind: 'help' };
  if (words.length === 1 && first === 'whoami') return { kind: 'whoami' };
  if (first === 'inbox') return parseInboxCommand(words.slice(1));
  if (first === 'issue') return parseIssueCommand(words.slice(1), parsePath);
  if (first === 'pull') return parsePullCommand(words.slice(1), parsePath);
  if (first !== 'repo') return null;
  switch (second) {
    case 'list':
      return parseList(rest);
    case 'info':
    case 'show':
      return parseInfo(rest);
    case 'create':
    case 'add':
      return parseCreate(rest);
    default:
      return null;
  }
}

function parseList(words: string[]): Command | null {
  if (words.length === 0) return { kind: 'repo list', all: false };
  return words.length === 1 && words[0] === '--all' ? { kind: 'repo list', all: true } : null;
}

function parseInfo([text, ...rest]: string[]): Command | null {
  const place = parsePath(text ?? '');
  return place === null || rest.length > 0 ? null : { kind: 'repo info', ...place };
}

/** `[OWNER/]NAME [--public|--private] [--description WORDS…]` */
function parseCreate(words: string[]): Command | null {
  let target = '';
  let visibility: 'PUBLIC' | 'PRIVATE' = 'PRIVATE';
  let description = '';
  for (const [index, each] of words.entries()) {
    if (each === '--description') {
      // The client's shell removed the quotes, so the rest of the line is the text.
      description = words.slice(index + 1).join(' ');
      break;
    }
    if (each === '--public') visibility = 'PUBLIC';
    else if (each === '--private') visibility = 'PRIVATE';
    else if (target === '') target = each;
    else return null;
  }
  const place = word.test(target) ? { name: target } : parsePath(target);
  return place === null ? null : { kind: 'repo create', ...place, visibility, description };
}

function parsePath(text: string): { owner: string; name: string } | null {
  const [, owner, name] = path.exec(text) ?? [];
  return owner === undefined || name === undefined ? null : { owner, name };
}

/** The last part of a path on another server or in a web URL (`~/alice/site`, `alice//site`, `/git/alice/site.git`). */
function parseForeignPath(text: string): { owner: string; name: string } | null {
  const words = text.split('/').filter((each) => each !== '' && each !== '~');
  if (words.length < 2 || words.includes('..')) return null;
  return parsePath(words.slice(-2).join('/').replace(/^~/, ''));
}
