import { repositoryUrl } from '../../http/index.ts';
import type { IssueKind } from '../../issues/index.ts';
import { notFound } from '../../kernel/index.ts';

/**
 * @param repository URL of the repository
 */
export const issueUrl = (repository: string, number: number, kind: IssueKind = 'ISSUE'): string =>
  `${repository}/${kind === 'PULL' ? 'pulls' : 'issues'}/${number}`;

/** The issue number in a path. Throws `issue_not_found` for anything else. */
export function issueNumber(text: string | undefined): number {
  if (text === undefined || !/^[1-9]\d{0,14}$/.test(text)) throw notFound('issue_not_found', 'Issue not found');
  return Number(text);
}

/** A position in a form; -1, which no entry has, for an invalid one. */
export const readPosition = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : -1);

/** Parses `#7`, `7`, `owner/name#7` or the URL of an issue or pull request of this server; null for anything else. */
export function readIssueReference(
  text: string,
  home: { owner: string; name: string },
  origin: string,
): { owner: string; name: string; number: number } | null {
  const given = text.trim();
  const path = given.startsWith(`${origin}/`) ? given.slice(origin.length) : given;
  const [, owner, name, number] =
    /^\/repos\/([^/\s]{1,100})\/([^/\s]{1,100})\/(?:issues|pulls)\/([1-9]\d{0,14})(?:[?#].*)?$/.exec(path) ??
    /^(?:([^/\s#]{1,100})\/([^/\s#]{1,100})#|#?)([1-9]\d{0,14})$/.exec(path) ??
    [];
  if (number === undefined) return null;
  return { owner: owner ?? home.owner, name: name ?? home.name, number: Number(number) };
}

/** The shortest reference to an issue from `home`: `#7`, elsewhere `owner/name#7`. */
export function issueName(
  { owner, name }: { owner: string; name: string },
  number: number,
  home: { owner: string; name: string },
): string {
  return repositoryUrl({ owner, name }) === repositoryUrl(home) ? `#${number}` : `${owner}/${name}#${number}`;
}
