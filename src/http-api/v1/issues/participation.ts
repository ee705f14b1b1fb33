import { z } from 'zod';
import type { Viewer } from '../../../access/index.ts';
import { forbidden } from '../../../kernel/index.ts';
import type { IssueAt, ReactionKind } from '../../../issues/index.ts';
import type { Found } from '../../../repositories/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { created, json } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { Operation } from '../../operation.ts';
import { findComment, oneCommentAt } from './comments.ts';
import { issueAt, oneIssueAt, signedIn, usersById } from '../shapes/issues-parts.ts';
import { giteaUser, newReaction, reaction, subscription } from '../shapes/issues-schemas.ts';

const common = { tag: 'Issues', cost: 'rows' } as const;
const write = { access: 'repository:read', scope: 'write' } as const;

async function showReactions(deps: WebDeps, viewer: Viewer, at: IssueAt, position: number, origin: string) {
  const rows = await deps.issues.listReactions(viewer, at, position);
  const user = await usersById(
    deps,
    rows.flatMap(({ userId }) => userId ?? []),
    origin,
  );
  return rows.map(({ userId, person, kind }) => ({
    user: person === null ? user(userId) : { ...user(null), login: person, username: person },
    content: kind,
    created_at: null,
  }));
}

interface ReactionCall {
  viewer: Viewer;
  found: Found;
  params: Record<string, string>;
  deps: WebDeps;
  origin: string;
}

/** The reactions to an issue and to a comment: the two texts are found differently. */
function reactionsOf(
  word: 'Issue' | 'Comment',
  at: typeof oneIssueAt | typeof oneCommentAt,
  textOf: (call: ReactionCall) => Promise<{ at: IssueAt; position: number }>,
): Operation[] {
  const path = `${at}/reactions` as const;
  const react = async (call: ReactionCall & { body: { content: ReactionKind } }, isOn: boolean) => {
    const { body, deps, origin } = call;
    const viewer = signedIn(call.viewer);
    const text = await textOf(call);
    await deps.issues.react(viewer, text.at, { position: text.position, kind: body.content, isOn });
    const user = await usersById(deps, [viewer.id], origin);
    return created({ user: user(viewer.id), content: body.content, created_at: null });
  };
  return [
    operation({
      ...common,
      id: `list${word}Reactions`,
      method: 'GET',
      path,
      summary: `List the reactions to ${word === 'Issue' ? 'an issue' : 'a comment'}`,
      access: 'repository:read',
      status: 200,
      response: z.array(reaction),
      async run(call) {
        const text = await textOf(call);
        return json(await showReactions(call.deps, call.viewer, text.at, text.position, call.origin));
      },
    }),
    operation({
      ...common,
      ...write,
      id: `add${word}Reaction`,
      method: 'POST',
      path,
      summary: 'Add a reaction; adding it twice has no effect',
      status: 201,
      body: newReaction,
      response: reaction,
      run: (call) => react(call, true),
    }),
    operation({
      ...common,
      ...write,
      id: `remove${word}Reaction`,
      method: 'DELETE',
      path,
      summary: 'Remove a reaction',
      status: 200,
      body: newReaction,
      response: reaction,
      run: (call) => react(call, false),
    }),
  ];
}

export const reactionOperations = [
  ...reactionsOf('Issue', oneIssueAt, async ({ found, params }) => ({
    at: issueAt(found, params['number'] ?? ''),
    position: 0,
  })),
  ...reactionsOf('Comment', oneCommentAt, async (call) => {
    const { at, entry } = await findComment({ ...call, params: { comment: call.params['comment'] ?? '' } });
    return { at, position: entry.position };
  }),
];

const checkSubscription = operation({
  ...common,
  id: 'checkIssueSubscription',
  method: 'GET',
  path: `${oneIssueAt}/subscriptions/check`,
  summary: 'Get the caller’s subscription to an issue',
  access: 'repository:read',
  scope: 'read',
  status: 200,
  response: subscription,
  async run({ viewer, found, params, deps, origin }) {
    const at = issueAt(found, params.number);
    const row = await deps.issues.subscriptionOf(viewer, at);
    const repository = `${origin}/api/v1/repos/${at.owner}/${at.name}`;
    return json({
      subscribed: row?.isOn === true,
      ignored: row?.isOn === false,
      reason: null,
      subscribed_as: row?.reason ?? null,
      created_at: null,
      url: `${repository}/issues/${at.number}/subscriptions/check`,
      repository_url: repository,
    });
  },
});

const maxListed = 500;

const listSubscribers = operation({
  ...common,
  id: 'listIssueSubscribers',
  method: 'GET',
  path: `${oneIssueAt}/subscriptions`,
  summary: 'List the subscribers of an issue',
  description: `Requires write access. Lists at most the first ${maxListed}.`,
  access: 'repository:write',
  status: 200,
  response: z.array(giteaUser),
  async run({ viewer, found, params, deps, origin }) {
    const { id } = await deps.issues.find(viewer, issueAt(found, params.number));
    const ids = (await deps.issues.listSubscribers(id)).slice(0, maxListed).map(({ userId }) => userId);
    const user = await usersById(deps, ids, origin);
    return json(ids.map(user));
  },
});

/** Users can subscribe and unsubscribe only themselves. */
const subscribing = (id: string, method: 'PUT' | 'DELETE', summary: string) =>
  operation({
    ...common,
    ...write,
    id,
    method,
    path: `${oneIssueAt}/subscriptions/{username}`,
    summary,
    // Gitea's statuses: 200 if nothing changes.
    status: 201,
    alsoStatus: 200,
    async run({ viewer, found, params, deps }) {
      if (signedIn(viewer).username?.toLowerCase() !== params.username.toLowerCase())
        throw forbidden('not_allowed_on_issue', 'You may not do this for another person.');
      const at = issueAt(found, params.number);
      const wasOn = (await deps.issues.subscriptionOf(viewer, at))?.isOn === true;
      await deps.issues.setSubscription(viewer, at, method === 'PUT');
      return wasOn === (method === 'PUT') ? { kind: 'nothing', status: 200 } : { kind: 'nothing' };
    },
  });

export const subscriptionOperations = [
  checkSubscription,
  listSubscribers,
  subscribing('subscribeToIssue', 'PUT', 'Subscribe to an issue'),
  subscribing('unsubscribeFromIssue', 'DELETE', 'Unsubscribe from an issue'),
];
