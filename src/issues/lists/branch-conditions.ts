import { visibleRepositories } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { IssueDeps } from '../deps.ts';
import type { IssueCondition } from './issue-condition.ts';
import type { IssueFilter } from './parse-issue-query.ts';

/** Head branch of a pull request, as written by a user. */
interface HeadName {
  /** Null: the repository of the pull request. */
  owner: string | null;
  name: string | null;
  branch: string;
}

/** Parses `branch`, `owner:branch` or `owner/name:branch`. A branch name contains no colon. */
export function parseHeadName(text: string): HeadName {
  const colon = text.indexOf(':');
  const branch = text.slice(colon + 1);
  if (colon === -1) return { owner: null, name: null, branch };
  const [owner = '', name = null] = text.slice(0, colon).split('/', 2);
  return { owner, name, branch };
}

/**
 * Condition on head branches of pull requests. Branches of forks hidden from the viewer match no name. Null if the
 * owner does not exist.
 * @param isInRepository whether `:repositoryId` is the repository of the list
 */
export async function branchConditions(
  { owners }: Pick<IssueDeps, 'owners'>,
  viewer: Viewer,
  isInRepository: boolean,
  { base, head }: Pick<IssueFilter, 'base' | 'head'>,
): Promise<IssueCondition[] | null> {
  const found: IssueCondition[] = [];
  if (base !== null)
    found.push({
      sql: 'EXISTS (SELECT 1 FROM pulls p WHERE p.issue_id = i.id AND p.base_branch = :base)',
      parameters: { base },
      ...(isInRepository && {
        ids: 'SELECT p.issue_id AS id FROM pulls p WHERE p.repository_id = :repositoryId AND p.base_branch = :base',
      }),
    });
  if (head === null) return found;
  const { owner: handle, name, branch } = parseHeadName(head);
  const ofHead = { head: branch };
  if (handle === null) {
    found.push({
      sql: `EXISTS (SELECT 1 FROM pulls p WHERE p.issue_id = i.id AND p.head_branch = :head
        AND p.head_repository_id = i.repository_id)`,
      parameters: ofHead,
      ...(isInRepository && {
        ids: 'SELECT p.issue_id AS id FROM pulls p WHERE p.head_repository_id = :repositoryId AND p.head_branch = :head',
      }),
    });
    return found;
  }
  const owner = await owners.resolve(handle);
  if (owner === null) return null;
  const column = owner.kind === 'user' ? 'owner_user_id' : 'owner_org_id';
  const visible = visibleRepositories(viewer, 'h');
  // The planner reads the repository by its id, so that the policy is also evaluated only for this row.
  const isTheirs = `h.${column} = :headOwner ${name === null ? '' : 'AND h.name_folded = :headName'}
    AND h.deleted_at IS NULL AND (${visible.sql})`;
  found.push({
    sql: `EXISTS (SELECT 1 FROM pulls p JOIN repositories h ON h.id = p.head_repository_id
      WHERE p.issue_id = i.id AND p.head_branch = :head AND CASE WHEN ${isTheirs} THEN 1 ELSE 0 END = 1)`,
    parameters: {
      ...ofHead,
      ...visible.parameters,
      headOwner: owner.id,
      ...(name !== null && { headName: name.toLowerCase() }),
    },
  });
  return found;
}
