import { In } from 'typeorm';
import type { Person } from '../../accounts/index.ts';
import { idsIn, selectRaw } from '../../db/index.ts';
import type { Attachment } from '../attachments/attachment.ts';
import type { IssueDeps } from '../deps.ts';
import { attachmentSchema, milestoneSchema } from '../schema/classification-schema.ts';
import type { Milestone } from '../schema/classification-schema.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import { issueSerialSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';
import { withDetails } from './read-issues.ts';
import type { ListedIssue } from './read-issues.ts';

/** An issue with all details of the API. */
export interface DescribedIssue extends ListedIssue {
  /** Unique number on this server, stable when the issue moves. */
  serial: number;
  body: string;
  /** Revision of the text. */
  revision: number;
  milestone: Milestone | null;
  /** Null for remote or deleted authors. */
  author: Person | null;
  /** Who is to work on it. */
  assigned: Person[];
  /** The files of its text, oldest first. */
  attachments: Attachment[];
}

/** Describes a page of issues found by the caller, in the same order, with one query per kind of detail. */
export async function describeIssues(
  deps: Pick<IssueDeps, 'db' | 'accounts'>,
  issues: readonly Issue[],
): Promise<DescribedIssue[]> {
  if (issues.length === 0) return [];
  const { db, accounts } = deps;
  const ids = issues.map(({ id }) => id);
  const milestoneIds = [...new Set(issues.flatMap(({ milestoneId }) => milestoneId ?? []))];
  const [listed, openings, serials, milestones, attachments] = await Promise.all([
    withDetails(deps, issues),
    db.read.findBy(entrySchema, { issueId: In(ids), position: 0 }),
    db.read.findBy(issueSerialSchema, { issueId: In(ids) }),
    milestoneIds.length === 0 ? [] : db.read.findBy(milestoneSchema, { id: In(milestoneIds) }),
    attachmentsOf(db, ids),
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
      attachments: attachments.get(issue.id) ?? [],
    };
  });
}

/** The files shown in the texts of issues, by issue. */
async function attachmentsOf(db: IssueDeps['db'], issueIds: readonly string[]): Promise<Map<string, Attachment[]>> {
  const [among, parameters] = idsIn('u.issue_id', issueIds);
  const uses = await selectRaw<{ attachment: string; issue: string }>(
    db.read,
    `SELECT u.attachment_id AS attachment, u.issue_id AS issue FROM attachment_uses u
     WHERE ${among} AND u.position = 0`,
    parameters,
  );
  if (uses.length === 0) return new Map();
  const rows = await db.read.findBy(attachmentSchema, { id: In(uses.map(({ attachment }) => attachment)) });
  const byId = new Map(rows.map((row) => [row.id, row]));
  const found = new Map<string, Attachment[]>();
  for (const { attachment, issue } of uses) {
    const row = byId.get(attachment);
    if (row !== undefined) found.set(issue, [...(found.get(issue) ?? []), row]);
  }
  for (const files of found.values()) files.sort((one, other) => one.createdAt - other.createdAt);
  return found;
}
