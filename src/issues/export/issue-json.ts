import type { IssueDeps } from '../deps.ts';
import type { ListedIssue } from '../lists/read-issues.ts';
import { issueLinkSchema, milestoneSchema } from '../schema/classification-schema.ts';
import { attachmentsOf, authorOf, iso, isoOrNull, readEntries } from './read-entries.ts';
import { numbersOf, PeopleNames } from './portable-details.ts';
import type { PortablePerson } from './portable-details.ts';

/** Data of an issue in an export, besides its log. */
export interface PortableIssue {
  format: 1;
  /** UUID of the exported repository; with the number it is the origin of the imported issue. */
  repository: string;
  number: number;
  kind: 'issue' | 'pull';
  title: string;
  author: PortablePerson | null;
  state: 'open' | 'closed' | 'merged';
  closeReason: string | null;
  labels: string[];
  milestone: string | null;
  assignees: PortablePerson[];
  dueOn: string | null;
  /** Branch that it is about; empty for none. */
  ref: string;
  isLocked: boolean;
  isPinned: boolean;
  createdAt: string;
  updatedAt: string;
  closedAt: string | null;
  /** Links to issues of the same repository. */
  links: { kind: string; number: number }[];
  attachments: { id: string; name: string; contentType: string; bytes: number; sha256: string; createdAt: string }[];
}

export interface ExportOptions {
  /** Whether to include user ids and previous texts: for the export of a whole repository. */
  isWhole: boolean;
}

const maxLinks = 1_000;
const states = { OPEN: 'open', CLOSED: 'closed', MERGED: 'merged' } as const;

/** The fields before the log. */
export async function portableIssue(
  deps: IssueDeps,
  issue: ListedIssue,
  { isWhole }: ExportOptions,
): Promise<PortableIssue> {
  const people = new PeopleNames(deps, isWhole);
  const [links, milestone, attachments] = await Promise.all([
    deps.db.read.find(issueLinkSchema, {
      where: { fromId: issue.id },
      order: { toId: 'ASC', kind: 'ASC' },
      take: maxLinks,
    }),
    issue.milestoneId === null ? null : deps.db.read.findOneBy(milestoneSchema, { id: issue.milestoneId }),
    attachmentsOf(deps, issue.id),
  ]);
  const numbers = await numbersOf(
    deps,
    issue.repositoryId,
    links.map(({ toId }) => toId),
  );
  await people.read([issue.authorId, ...issue.assignees]);
  return {
    format: 1,
    repository: issue.repositoryId,
    number: issue.number,
    kind: issue.kind === 'PULL' ? 'pull' : 'issue',
    title: issue.title,
    author: authorOf(issue, people),
    state: states[issue.state],
    closeReason: issue.closeReason,
    labels: issue.labels.map(({ name }) => name),
    milestone: milestone?.title ?? null,
    assignees: people.ofAll(issue.assignees),
    dueOn: issue.dueOn,
    ref: issue.ref,
    isLocked: issue.lockedAt !== null,
    isPinned: issue.pinnedAt !== null,
    createdAt: iso(issue.createdAt),
    updatedAt: iso(issue.updatedAt),
    closedAt: isoOrNull(issue.closedAt),
    links: links.flatMap(({ kind, toId }) => {
      const number = numbers.get(toId);
      return number === undefined ? [] : [{ kind, number }];
    }),
    attachments: attachments.map(({ id, name, contentType, bytes, sha256, createdAt }) => ({
      id,
      name,
      contentType,
      bytes,
      sha256,
      createdAt: iso(createdAt),
    })),
  };
}

/**
 * The whole log of an issue as JSON, in chunks: the fields of `PortableIssue`, and `entries`, one per line. Keeps one
 * page of the log in memory.
 */
export async function* issueAsJson(
  deps: IssueDeps,
  issue: ListedIssue,
  options: ExportOptions = { isWhole: false },
): AsyncGenerator<string> {
  const head = JSON.stringify(await portableIssue(deps, issue, options), null, 1);
  yield `${head.slice(0, -2)},\n "entries": [`;
  let separator = '\n';
  for await (const entry of readEntries(deps, issue, new PeopleNames(deps, options.isWhole), options.isWhole)) {
    yield `${separator}${JSON.stringify(entry)}`;
    separator = ',\n';
  }
  yield '\n]}\n';
}
