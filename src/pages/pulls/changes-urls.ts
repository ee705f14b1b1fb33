import { repositoryUrl } from '../../http/index.ts';
import { notFound } from '../../kernel/index.ts';
import { decodePath, encodePath } from '../app/code-urls.ts';
import { contextParameter, readContextLines } from '../code/context-lines.ts';
import type { RepositoryContext } from '../app/request-context.ts';

/** The target of `?comment=`: lines of a file, a file, or the round as a whole. */
export type CommentPosition =
  | { kind: 'lines'; path: Buffer; side: 'OLD' | 'NEW'; line: number }
  | { kind: 'file'; path: Buffer }
  | { kind: 'round' };

/** The query of a page of changes. Invalid values give the default. */
export interface ChangesQuery {
  /** The older round of a comparison; null for the whole round. */
  from: number | null;
  /** The shown round; null for the last. */
  to: number | null;
  /** Compares the two heads directly, without carrying the older round to the newer base. */
  isPlain: boolean;
  layout: 'unified' | 'split';
  ignoreWhitespace: boolean;
  /** Shows this file alone, with wider limits. */
  only: Buffer | null;
  /** Unchanged lines around each change. */
  contextLines: number;
  /** Shows all files, with wider limits. */
  isAll: boolean;
  comment: CommentPosition | null;
}

export function readChangesQuery({ query }: Pick<RepositoryContext, 'query'>): ChangesQuery {
  const number = (name: string): number | null => {
    const text = query.get(name) ?? '';
    return /^[1-9]\d{0,5}$/.test(text) ? Number(text) : null;
  };
  const file = query.get('file');
  return {
    from: number('from'),
    to: number('to'),
    isPlain: query.get('plain') === '1',
    layout: query.get('view') === 'split' ? 'split' : 'unified',
    ignoreWhitespace: query.get('w') === '1',
    only: file === null || file === '' ? null : decodePath(file),
    contextLines: readContextLines(query),
    isAll: query.get('all') === '1',
    comment: readPlace(query.get('comment') ?? ''),
  };
}

function readPlace(text: string): CommentPosition | null {
  if (text === 'round') return { kind: 'round' };
  const [, path = '', side, line] = /^(.+):(?:FILE|(OLD|NEW):([1-9]\d{0,8}))$/s.exec(text) ?? [];
  if (path === '') return null;
  if (line === undefined) return { kind: 'file', path: decodePath(path) };
  return { kind: 'lines', path: decodePath(path), side: side as 'OLD' | 'NEW', line: Number(line) };
}

export const formatPosition = (path: Buffer, at: { side: 'OLD' | 'NEW'; line: number } | null): string =>
  `${encodePath(path)}:${at === null ? 'FILE' : `${at.side}:${at.line}`}`;

/** The URL of the page of changes of a pull request. @param pull its URL */
export const changesUrl = (pull: string): string => `${pull}/changes`;

/** A URL of the page with changed parameters; null removes a parameter. */
export type ChangesUrlBuilder = (change?: Readonly<Record<string, string | null>>) => string;

/**
 * @param page URL of the page without its query
 */
export function createChangesUrlBuilder(page: string, query: ChangesQuery): ChangesUrlBuilder {
  const { from, to, isPlain, layout, ignoreWhitespace, only, contextLines, isAll } = query;
  const kept: Record<string, string | null> = {
    from: from?.toString() ?? null,
    to: to?.toString() ?? null,
    plain: isPlain ? '1' : null,
    view: layout === 'split' ? 'split' : null,
    w: ignoreWhitespace ? '1' : null,
    file: only === null ? null : encodePath(only),
    context: contextParameter(contextLines),
    all: isAll ? '1' : null,
  };
  return (change = {}) => {
    const parts = Object.entries({ ...kept, ...change }).flatMap(([name, value]) =>
      value === null ? [] : [`${name}=${encodeURIComponent(value).replaceAll('%2F', '/').replaceAll('%3A', ':')}`],
    );
    return parts.length === 0 ? page : `${page}?${parts.join('&')}`;
  };
}

/** The number of a pull request in a path. Throws `pull_not_found` for anything else. */
function pullNumber(text: string | undefined): number {
  if (text === undefined || !/^[1-9]\d{0,14}$/.test(text)) throw notFound('pull_not_found', 'Pull request not found');
  return Number(text);
}

export const pullAt = ({ found: { canonical }, params }: RepositoryContext) => ({
  ...canonical,
  number: pullNumber(params['number']),
});

/** The URL of the pull request that a path names. */
export const urlOfPull = ({ found, params }: RepositoryContext): string =>
  `${repositoryUrl(found.canonical)}/pulls/${pullNumber(params['number'])}`;
