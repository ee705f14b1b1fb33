import { z } from 'zod';
import { isDomainError, notFound } from '../../../kernel/index.ts';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { AnyCall, Operation } from '../../operation.ts';
import { deleteComment, editComment } from './comments.ts';
import { payloadContextOf, repositoryAt, showIssues } from '../shapes/issues-parts.ts';
import { issue } from '../shapes/issues-schemas.ts';

/** Older URLs of Gitea that some clients still call, and membership checks for lists. */

/** The same operation at another path. */
const alias = (one: Operation, id: string, path: string): Operation => ({
  ...one,
  id,
  path,
  description: `Older URL of ${one.id}.`,
});

const commentAt = '/repos/{owner}/{name}/issues/{number}/comments/{comment}';

const renameOrganisation = operation({
  id: 'renameOrganisation',
  method: 'POST',
  path: '/orgs/{org}/rename',
  tag: 'Organisations',
  summary: 'Rename an organisation; the old name redirects to the new one and remains reserved',
  access: 'account:admin',
  cost: 'rows',
  status: 204,
  refuses: [404, 409],
  body: z.object({ new_name: z.string() }),
  async run({ viewer, params, body, deps }) {
    await deps.organisations.rename(viewer, params.org, body.new_name);
    return noContent();
  },
});

const blockCheck = (id: string, path: '/user/blocks/{username}' | '/orgs/{org}/blocks/{username}') =>
  operation({
    id,
    method: 'GET',
    path,
    tag: 'Moderation',
    summary: `Check whether ${path.startsWith('/user') ? 'the caller' : 'an organisation'} has blocked a user`,
    access: 'account:admin',
    cost: 'rows',
    status: 204,
    refuses: [404],
    async run(call) {
      const { viewer, params, deps } = call as unknown as AnyCall;
      const owner = params['org'] ?? (viewer.kind === 'person' ? (viewer.username ?? '') : '');
      const absent = () => notFound('not_blocked', 'This user is not blocked.');
      const person = await deps.accounts.personByUsername(params['username'] ?? '').catch((error: unknown) => {
        if (isDomainError(error) && error.code === 'not_found') throw absent();
        throw error;
      });
      for (let after: string | undefined; ; ) {
        const rows = await deps.issues.listBlocks(viewer, owner, after);
        if (rows.some(({ userId }) => userId === person.id)) return noContent();
        if (rows.length < 100) throw absent();
        after = rows.at(-1)!.userId;
      }
    },
  });

const listPinnedPulls = operation({
  id: 'listPinnedPulls',
  method: 'GET',
  path: '/repos/{owner}/{name}/pulls/pinned',
  tag: 'Pull requests',
  summary: 'List a repository’s pinned pull requests as issues',
  access: 'repository:read',
  cost: 'rows',
  status: 200,
  response: z.array(issue),
  async run({ viewer, found, deps, origin }) {
    const pulls = await deps.issues.listPinned(viewer, repositoryAt(found), 'PULL');
    return json(await showIssues(deps, pulls, payloadContextOf({ found, origin })));
  },
});

const validateConfig = operation({
  id: 'validateIssueConfig',
  method: 'GET',
  path: '/repos/{owner}/{name}/issue_config/validate',
  tag: 'Issues',
  summary: 'Validate the issue configuration; always valid, because invalid entries are ignored',
  access: 'repository:read',
  cost: 'free',
  status: 200,
  response: z.strictObject({ valid: z.boolean(), message: z.string() }).meta({ id: 'IssueConfigValidation' }),
  run: async () => json({ valid: true, message: '' }),
});

const signingKey = <const Path extends '/signing-key.pub' | '/repos/{owner}/{name}/signing-key.pub'>(
  id: string,
  path: Path,
) =>
  operation({
    id,
    method: 'GET',
    path,
    tag: 'Miscellaneous',
    summary: 'Get the SSH key with which the server signs commits',
    access: path === '/signing-key.pub' ? 'anyone' : 'repository:read',
    cost: 'rows',
    status: 200,
    response: 'bytes',
    async run({ deps }) {
      const { publicKey } = await deps.signing.currentInstanceKey();
      return { kind: 'bytes', type: 'text/plain; charset=utf-8', body: Buffer.from(`${publicKey}\n`), headers: {} };
    },
  });

export const aliasOperations: readonly Operation[] = [
  alias(editComment, 'editCommentOfIssue', commentAt),
  alias(deleteComment, 'deleteCommentOfIssue', commentAt),
  renameOrganisation,
  blockCheck('isBlockedByUser', '/user/blocks/{username}'),
  blockCheck('isBlockedByOrganisation', '/orgs/{org}/blocks/{username}'),
  validateConfig,
  signingKey('getSigningKey', '/signing-key.pub'),
  signingKey('getRepositorySigningKey', '/repos/{owner}/{name}/signing-key.pub'),
];

/** Must precede `{number}`, which would also match. */
export const pinnedPullOperations: readonly Operation[] = [listPinnedPulls];
