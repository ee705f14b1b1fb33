import { In } from 'typeorm';
import type { Person } from '../../accounts/index.ts';
import type { IssueDeps } from '../deps.ts';
import { milestoneSchema } from '../schema/classification-schema.ts';
import type { Milestone } from '../schema/classification-schema.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import { issueSerialSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';
import { withDetails } from './read-issues.ts';
import type { ListedIssue } from './read-issues.ts';

/** An issue with everything that the API shows of it. */
export interface DescribedIssue extends ListedIssue {
  /** A number of its own on this server, wherever the issue moves. */
  serial: number;
  body: string;
  /** Of the text. */
  revision: number;
  milestone: Milestone | null;
  /** Null for authors elsewhere, and once they are gone. */
  author: Person | null;
  /** Who is to work on it. */
  assigned: Person[];
}

/** Describes a page of issues that the caller has found, in their order, with one query for each kind of detail. */
export async function describeIssues(
  deps: Pick<IssueDeps, 'db' | 'accounts'>,
  issues: readonly Issue[],
): Promise<DescribedIssue[]> {
  if (issues.length === 0) return [];
  const { db, accounts } = deps;
  const ids = issues.map(({ id }) => id);
  const milestoneIds = [...new Set(issues.flatMap(({ milestoneId }) => milestoneId ?? []))];
  const [listed, openings, serials, milestones] = await Promise.all([
    withDetails(deps, issues),
    db.read.findBy(entrySchema, { issueId: In(ids), position: 0 }),
    db.read.findBy(issueSerialSchema, { issueId: In(ids) }),
    milestoneIds.length === 0 ? [] : db.read.findBy(milestoneSchema, { id: In(milestoneIds) }),
  ]);
  const people = await accounts.peopleById([
    ...new Set(listed.flatMap(({ authorId, assignees }) => [...(authorId === null ? [] : [authorId]), ...assignees])),
  ]);
  return listed.map((issue) => {
    const opening = openings.find(({ issueId }) => issueId === issue.id);
    return {
      ...issue,
      serial: serials.find(({ issueId }) => issueId === issue.id)?.serial ?? 0,
      body: opening?.body ?? '',
      revision: opening?.revision ?? 1,
      milestone: milestones.find(({ id }) => id === issue.milestoneId) ?? null,
      author: issue.authorId === null ? null : (people.get(issue.authorId) ?? null),
      assigned: issue.assignees.flatMap((id) => people.get(id) ?? []),
    };
  });
}
