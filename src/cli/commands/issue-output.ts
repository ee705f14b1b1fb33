import { localAdministrator } from '../../access/index.ts';
import type { PersonViewer } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { DescribedIssue, IssueAt } from '../../issues/index.ts';
import type { Cli } from '../cli.ts';
import { isoOrNull } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { findPerson, nameOf } from './find-person.ts';
import { findRepository } from './find-repository.ts';

/** Options of every command about issues. */
export interface AsOption {
  as?: string;
}

/** The acting viewer: the administrator of this machine, or a user with their rights. */
export async function actorOf(modules: Modules, { as }: AsOption): Promise<PersonViewer> {
  if (as === undefined) return localAdministrator;
  const { id, username, isAdministrator } = await findPerson(modules, as);
  // As over SSH: with all rights of the user, recorded as done by a command.
  return { kind: 'person', id, username, isAdministrator, via: 'key', scope: 'admin', repositoryIds: null };
}

/** The repository of a command. A former name only improves the hint of the error. */
export async function repositoryOf(modules: Modules, viewer: PersonViewer, text: string) {
  const { canonical } = await findRepository(modules, text, viewer);
  return { owner: canonical.owner, name: canonical.name };
}

export async function issueAt(
  modules: Modules,
  viewer: PersonViewer,
  repository: string,
  number: string,
): Promise<IssueAt> {
  if (!/^#?\d{1,15}$/.test(number)) throw invalid('usage', `${JSON.stringify(number)} is not an issue number.`);
  return { ...(await repositoryOf(modules, viewer, repository)), number: Number(number.replace('#', '')) };
}

export async function describeOne(modules: Modules, viewer: PersonViewer, at: IssueAt): Promise<DescribedIssue> {
  return (await modules.issues.describe([await modules.issues.find(viewer, at)]))[0]!;
}

/** `a, b` as a list; undefined stays undefined. */
export const splitList = (text: string | undefined): string[] | undefined =>
  text
    ?.split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

export const authorOf = ({ author, authorName }: Pick<DescribedIssue, 'author' | 'authorName'>): string =>
  author === null ? (authorName ?? 'ghost') : nameOf(author);

export const issueColumns: Column<DescribedIssue>[] = [
  { title: 'NUMBER', cell: ({ number }) => number, align: 'right' },
  { title: 'TITLE', cell: ({ title }) => title },
  { title: 'STATE', cell: ({ state }) => state.toLowerCase() },
  { title: 'AUTHOR', cell: authorOf },
  { title: 'LABELS', cell: ({ labels }) => labels.map(({ name }) => name).join(',') },
  { title: 'COMMENTS', cell: ({ commentCount }) => commentCount, align: 'right' },
  { title: 'UPDATED', cell: ({ updatedAt }) => ({ epochMs: updatedAt, otherwise: '' }) },
];

export const issueToJson = (issue: DescribedIssue): object => ({
  number: issue.number,
  title: issue.title,
  state: issue.state.toLowerCase(),
  closeReason: issue.closeReason,
  author: authorOf(issue),
  labels: issue.labels.map(({ name }) => name),
  assignees: issue.assigned.map(nameOf),
  milestone: issue.milestone?.title ?? null,
  comments: issue.commentCount,
  locked: issue.lockedAt !== null,
  pinned: issue.pinnedAt !== null,
  held: issue.heldAt !== null,
  createdAt: isoOrNull(issue.createdAt),
  updatedAt: isoOrNull(issue.updatedAt),
  closedAt: isoOrNull(issue.closedAt),
});

/** Output of a command that changed an issue: one line, or the whole issue. */
export async function printChangedIssue(
  cli: Cli,
  modules: Modules,
  viewer: PersonViewer,
  at: IssueAt,
  line: string,
): Promise<void> {
  cli.output.result(line, issueToJson(await describeOne(modules, viewer, at)));
}

/** `alice/garden#7`. */
export const formatIssueReference = ({ owner, name, number }: IssueAt): string => `${owner}/${name}#${number}`;
