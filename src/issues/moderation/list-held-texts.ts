import { In } from 'typeorm';
import type { Viewer } from '../../access/index.ts';
import type { IssueDeps } from '../deps.ts';
import type { RepositoryAt } from '../issue-context.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import { listHeld } from './held-contributions.ts';

/** Held entries of one user, the oldest first. */
interface HeldContributor {
  userId: string;
  texts: { number: number; title: string; position: number; body: string; heldAt: number }[];
}

/** Held entries of a repository, by author, for users who may approve them. Throws permission errors. */
export async function listHeldTexts(deps: IssueDeps, viewer: Viewer, at: RepositoryAt): Promise<HeldContributor[]> {
  const rows = await listHeld(deps, viewer, at);
  if (rows.length === 0) return [];
  const ids = In([...new Set(rows.map(({ issueId }) => issueId))]);
  const positions = In([...new Set(rows.map(({ position }) => position))]);
  const [issues, entries] = await Promise.all([
    deps.db.read.findBy(issueSchema, { id: ids }),
    deps.db.read.findBy(entrySchema, { issueId: ids, position: positions }),
  ]);
  const issueById = new Map(issues.map((issue) => [issue.id, issue]));
  const bodyOf = new Map(entries.map(({ issueId, position, body }) => [`${issueId} ${position}`, body]));
  return [...Map.groupBy(rows, ({ userId }) => userId)].map(([userId, held]) => ({
    userId,
    texts: held.flatMap(({ issueId, position, heldAt }) => {
      const issue = issueById.get(issueId);
      if (issue === undefined) return [];
      const { number, title } = issue;
      return [{ number, title, position, body: bodyOf.get(`${issueId} ${position}`) ?? '', heldAt }];
    }),
  }));
}
