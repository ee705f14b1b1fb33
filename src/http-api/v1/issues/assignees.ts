import { z } from 'zod';
import { personViewer, repositoryLevel } from '../../../access/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { issueLimits } from '../../../issues/index.ts';
import { notFound, nullIfNotFound } from '../../../kernel/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { Operation } from '../../operation.ts';
import { describeOne, issueAt, oneIssueAt, payloadContextOf, showIssue } from '../shapes/issues-parts.ts';
import { issue } from '../shapes/issues-schemas.ts';

/** Assignees of an issue, at the URLs of Gitea and GitHub. */
const common = { tag: 'Issues', cost: 'rows', refuses: [404] } as const;
const body = z
  .object({ assignees: z.array(z.string()).min(1).max(issueLimits.assigneesPerIssue) })
  .meta({ id: 'IssueAssignees' });

const change = (id: string, method: 'POST' | 'DELETE', act: 'add' | 'remove', status: 200 | 201, summary: string) =>
  operation({
    ...common,
    id,
    method,
    path: `${oneIssueAt}/assignees`,
    summary,
    access: 'repository:read',
    scope: 'write',
    status,
    refuses: [404, 422],
    body,
    response: issue,
    async run({ viewer, found, params, body: { assignees }, deps, origin }) {
      const at = issueAt(found, params.number);
      await deps.issues.triage(viewer, at, { assignees: { [act]: assignees } });
      return json(await showIssue(deps, viewer, at, payloadContextOf({ found, origin })));
    },
  });

/** Throws `unknown_person` if issues cannot be assigned to a user, who needs read access. */
async function requireAssignable({ accounts, repositories }: WebDeps, found: Found, username: string): Promise<void> {
  const person = await accounts.personByUsername(username).catch(nullIfNotFound);
  const level =
    person === null || person.disabledAt !== null
      ? 'none'
      : repositoryLevel(personViewer(person.id, 'read'), await repositories.factsOf(person.id, found.repository));
  if (level === 'none') throw notFound('unknown_person', 'There is no such person.');
}

export const issueAssigneeOperations: readonly Operation[] = [
  change('addIssueAssignees', 'POST', 'add', 201, 'Add assignees to an issue'),
  change('removeIssueAssignees', 'DELETE', 'remove', 200, 'Remove assignees from an issue'),
  operation({
    ...common,
    id: 'isIssueAssignable',
    method: 'GET',
    path: `${oneIssueAt}/assignees/{username}`,
    summary: 'Check whether an issue can be assigned to a user (requires write access)',
    access: 'repository:write',
    status: 204,
    async run({ viewer, found, params, deps }) {
      await describeOne(deps, viewer, issueAt(found, params.number));
      await requireAssignable(deps, found, params.username);
      return noContent();
    },
  }),
  operation({
    ...common,
    id: 'isAssignable',
    method: 'GET',
    path: '/repos/{owner}/{name}/assignees/{username}',
    summary: 'Check whether a repository’s issues can be assigned to a user (requires write access)',
    access: 'repository:write',
    status: 204,
    async run({ found, params, deps }) {
      await requireAssignable(deps, found, params.username);
      return noContent();
    },
  }),
];
