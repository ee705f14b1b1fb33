import { z } from 'zod';
import { json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { AnyCall, Operation } from '../../operation.ts';
import { findComment, oneCommentAt } from './comments.ts';
import { issueAt, issuesAt, payloadContextOf, repositoryAt, showIssues, usersById } from '../shapes/issues-parts.ts';
import {
  giteaUser,
  heldContribution,
  hideReason,
  issue,
  issueSettings,
  issueSettingsEdit,
} from '../shapes/issues-schemas.ts';
import { isoTime } from '../shapes/payloads.ts';

const common = { tag: 'Moderation', cost: 'rows' } as const;
const write = { access: 'repository:read', scope: 'write' } as const;
const at = '/repos/{owner}/{name}';
const trashAt = `${at}/issue_trash`;
const trashedAt = `${trashAt}/{number}` as const;
const heldAt = `${at}/held_contributors/{username}`;

export const getIssueSettings = operation({
  ...common,
  id: 'getIssueSettings',
  method: 'GET',
  path: `${at}/issue_settings`,
  summary: 'Get the setting for who can open issues and comment',
  access: 'repository:read',
  status: 200,
  response: issueSettings,
  async run({ viewer, found, deps }) {
    const { issuesFrom, holdsNewcomers } = await deps.issues.settingsOf(viewer, repositoryAt(found));
    return json({ issues_from: issuesFrom, holds_newcomers: holdsNewcomers });
  },
});

export const editIssueSettings = operation({
  ...common,
  id: 'editIssueSettings',
  method: 'PATCH',
  path: `${at}/issue_settings`,
  summary: 'Set who can open issues and comment',
  access: 'repository:admin',
  status: 200,
  body: issueSettingsEdit,
  response: issueSettings,
  async run({ viewer, found, body, deps }) {
    await deps.issues.changeSettings(viewer, repositoryAt(found), {
      ...(body.issues_from !== undefined && { issuesFrom: body.issues_from }),
      ...(body.holds_newcomers !== undefined && { holdsNewcomers: body.holds_newcomers }),
    });
    const { issuesFrom, holdsNewcomers } = await deps.issues.settingsOf(viewer, repositoryAt(found));
    return json({ issues_from: issuesFrom, holds_newcomers: holdsNewcomers });
  },
});

export const hideComment = operation({
  ...common,
  ...write,
  id: 'hideComment',
  method: 'PUT',
  path: `${oneCommentAt}/hidden`,
  summary: 'Hide a comment with a reason',
  status: 204,
  body: z.object({ reason: hideReason }),
  async run(call) {
    const { entry, at: where } = await findComment(call);
    await call.deps.issues.hideComment(call.viewer, where, { position: entry.position, reason: call.body.reason });
    return noContent();
  },
});

export const showComment = operation({
  ...common,
  ...write,
  id: 'showComment',
  method: 'DELETE',
  path: `${oneCommentAt}/hidden`,
  summary: 'Unhide a comment',
  status: 204,
  async run(call) {
    const { entry, at: where } = await findComment(call);
    await call.deps.issues.hideComment(call.viewer, where, { position: entry.position, reason: null });
    return noContent();
  },
});

export const listHeld = operation({
  ...common,
  id: 'listHeldContributions',
  method: 'GET',
  path: `${issuesAt}/held`,
  summary: 'List issues and comments that await approval, oldest first',
  access: 'repository:write',
  status: 200,
  response: z.array(heldContribution),
  async run({ viewer, found, deps, origin }) {
    const rows = await deps.issues.listHeld(viewer, repositoryAt(found));
    const user = await usersById(
      deps,
      rows.map(({ userId }) => userId),
      origin,
    );
    return json(
      rows.map(({ userId, number, position, heldAt: since }) => ({
        user: user(userId),
        issue: number,
        position,
        held_at: isoTime(since),
      })),
    );
  },
});

/** All held entries of a user are decided together. */
const deciding = (id: string, method: 'PUT' | 'DELETE', act: 'admit' | 'refuse', summary: string) =>
  operation({
    ...common,
    id,
    method,
    path: heldAt,
    summary,
    access: 'repository:write',
    status: 204,
    async run({ viewer, found, params, deps }) {
      const { id: personId } = await deps.accounts.personByUsername(params.username);
      await deps.issues[act](viewer, repositoryAt(found), personId);
      return noContent();
    },
  });

export const heldOperations = [
  deciding(
    'admitContributor',
    'PUT',
    'admit',
    'Approve a contributor: publish pending contributions, and later ones immediately',
  ),
  deciding(
    'refuseContributor',
    'DELETE',
    'refuse',
    'Reject a user’s pending contributions: move issues to the trash, delete comments',
  ),
];

const listIssueTrash = operation({
  ...common,
  id: 'listIssueTrash',
  method: 'GET',
  path: trashAt,
  summary: 'List deleted issues, most recently deleted first',
  access: 'repository:admin',
  status: 200,
  response: z.array(issue),
  run: async ({ viewer, found, deps, origin }) =>
    json(
      await showIssues(
        deps,
        await deps.issues.listTrash(viewer, repositoryAt(found)),
        payloadContextOf({ found, origin }),
      ),
    ),
});

const inTrash = (id: string, method: 'POST' | 'DELETE', summary: string, act: 'restore' | 'purge') =>
  operation({
    ...common,
    id,
    method,
    path: act === 'restore' ? `${trashedAt}/restore` : trashedAt,
    summary,
    access: 'repository:admin',
    status: 204,
    async run({ viewer, found, params, deps }) {
      await deps.issues[act](viewer, issueAt(found, params.number));
      return noContent();
    },
  });

export const trashOperations = [
  listIssueTrash,
  inTrash('restoreIssue', 'POST', 'Restore an issue from the trash', 'restore'),
  inTrash('purgeIssue', 'DELETE', 'Permanently delete an issue in the trash', 'purge'),
];

/** Blocks by a user or an organisation. */
function blocksOf(word: 'User' | 'Organisation', path: '/user/blocks' | '/orgs/{org}/blocks'): Operation[] {
  const rights = { access: 'account:admin', refuses: [404, 409, 422] } as const;
  const ownerOf = (call: unknown): string => {
    const { viewer, params } = call as AnyCall;
    return params['org'] ?? (viewer.kind === 'person' ? (viewer.username ?? '') : '');
  };
  const one = `${path}/{username}` as const;
  const nameIn = (call: unknown): string => (call as AnyCall).params['username'] ?? '';
  return [
    operation({
      ...common,
      ...rights,
      id: `list${word}Blocks`,
      method: 'GET',
      path,
      summary: `List the users blocked by ${word === 'User' ? 'the caller' : 'an organisation'}`,
      status: 200,
      isPaged: true,
      query: z.object({ after: z.string().max(100).optional() }),
      response: z.array(giteaUser),
      async run(call) {
        const { viewer, deps, origin, query } = call;
        const rows = await deps.issues.listBlocks(viewer, ownerOf(call), query.after);
        const ids = rows.map(({ userId }) => userId);
        const user = await usersById(deps, ids, origin);
        return listed(ids.map(user), rows.length === 100 ? ids.at(-1)! : null);
      },
    }),
    operation({
      ...common,
      ...rights,
      id: `block${word === 'User' ? 'User' : 'UserForOrganisation'}`,
      method: 'PUT',
      path: one,
      summary: 'Block a user from contributing to owned repositories',
      description: 'Members and collaborators keep the access they were granted.',
      status: 204,
      query: z.object({ note: z.string().max(200).optional().describe('Reason, visible only to the owner') }),
      async run(call) {
        const { viewer, deps, query } = call;
        const reason = query.note ?? '';
        await deps.issues.block(viewer, { owner: ownerOf(call), username: nameIn(call), reason });
        return noContent();
      },
    }),
    operation({
      ...common,
      ...rights,
      id: `unblock${word === 'User' ? 'User' : 'UserForOrganisation'}`,
      method: 'DELETE',
      path: one,
      summary: 'Unblock a user',
      status: 204,
      async run(call) {
        await call.deps.issues.unblock(call.viewer, { owner: ownerOf(call), username: nameIn(call) });
        return noContent();
      },
    }),
  ];
}

export const blockOperations = [...blocksOf('User', '/user/blocks'), ...blocksOf('Organisation', '/orgs/{org}/blocks')];
