import { z } from 'zod';
import type { PersonViewer, Viewer } from '../../../access/index.ts';
import { commentIdOf } from '../../../issues/index.ts';
import type { Found } from '../../../repositories/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { commentPayload } from '../../../gitea-shapes/index.ts';
import { created, json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import {
  describeOne,
  issueAt,
  issuesAt,
  numberIn,
  oneIssueAt,
  payloadContextOf,
  readPageInTurn,
  repositoryAt,
  timeIn,
  usersById,
} from '../shapes/issues-parts.ts';
import { ifMatching, textBytes } from './issues.ts';
import { comment, commentEdit, newComment, numberedPaging, textRevision } from '../shapes/issues-schemas.ts';
import { isoTime } from '../shapes/payloads.ts';

const common = { tag: 'Issue comments', cost: 'rows' } as const;
const write = { access: 'repository:read', scope: 'write' } as const;
export const oneCommentAt = `${issuesAt}/comments/{comment}` as const;

const times = {
  since: z.string().max(40).optional().describe('Only comments written or edited at or after this time'),
  before: z.string().max(40).optional().describe('Only comments written or edited before this time'),
};

export const listIssueComments = operation({
  ...common,
  id: 'listIssueComments',
  method: 'GET',
  path: `${oneIssueAt}/comments`,
  summary: 'List an issue’s comments, oldest first',
  access: 'repository:read',
  status: 200,
  isPaged: true,
  query: z.object({ ...times, ...numberedPaging }),
  response: z.array(comment),
  async run({ viewer, found, params, query, deps, origin }) {
    const at = issueAt(found, params.number);
    const issue = await describeOne(deps, viewer, at);
    const [since, before] = [timeIn(query.since, 'since') ?? 0, timeIn(query.before, 'before') ?? Infinity];
    const { rows, next } = await readPageInTurn(
      query.limit === 0 ? { ...query, limit: 100 } : query,
      async (after, limit) => {
        const from = after === null ? 1 : numberIn(after);
        const page = await deps.issues.listEntries(viewer, at, { from, limit, kinds: ['comment'] });
        const written = page.entries.filter(
          ({ deletedAt, editedAt, createdAt }) =>
            deletedAt === null && (editedAt ?? createdAt) >= since && (editedAt ?? createdAt) < before,
        );
        return { rows: written, next: page.next === null ? null : String(page.next) };
      },
    );
    const user = await peopleOf(deps, rows);
    const isWhole = query.since === undefined && query.before === undefined;
    return listed(
      rows.map((entry) => commentPayload(entry, user(entry.authorId), issue, payloadContextOf({ found, origin }))),
      next,
      isWhole ? issue.commentCount : null,
    );
  },
});

async function peopleOf({ accounts }: WebDeps, entries: readonly { authorId: string | null }[]) {
  const people = await accounts.peopleById(entries.flatMap(({ authorId }) => authorId ?? []));
  return (id: string | null) => (id === null ? null : (people.get(id) ?? null));
}

export const addIssueComment = operation({
  ...common,
  ...write,
  id: 'addIssueComment',
  method: 'POST',
  path: `${oneIssueAt}/comments`,
  summary: 'Comment on an issue',
  description: 'An identical comment within ten seconds is not added again.',
  status: 201,
  maxJsonBytes: textBytes,
  body: newComment,
  response: comment,
  async run({ viewer, found, params, body, deps, origin }) {
    const at = issueAt(found, params.number);
    const entry = await deps.issues.comment(viewer, at, { body: body.body, mayRepeat: true });
    const issue = await describeOne(deps, viewer, at);
    const user = await peopleOf(deps, [entry]);
    return created(
      commentPayload(entry, user(entry.authorId), issue, payloadContextOf({ found, origin })),
      `/repos/${at.owner}/${at.name}/issues/comments/${commentIdOf(issue.serial, entry.position)}`,
    );
  },
});

export const listRepositoryComments = operation({
  ...common,
  id: 'listRepositoryComments',
  method: 'GET',
  path: `${issuesAt}/comments`,
  summary: 'List the comments on all of a repository’s issues, grouped by issue',
  access: 'repository:read',
  status: 200,
  isPaged: true,
  query: z.object({ ...times, ...numberedPaging }),
  response: z.array(comment),
  async run({ viewer, found, query, deps, origin }) {
    const [since, before] = [timeIn(query.since, 'since'), timeIn(query.before, 'before')];
    const range = { ...(since !== undefined && { since }), ...(before !== undefined && { before: before - 1 }) };
    const { rows, next } = await readPageInTurn(query, (after, limit) =>
      deps.issues.listRepositoryComments(viewer, repositoryAt(found), range, { limit, after }),
    );
    const user = await peopleOf(
      deps,
      rows.map(({ entry }) => entry),
    );
    return listed(
      rows.map(({ entry, issue: { kind, number }, serial }) =>
        commentPayload(entry, user(entry.authorId), { kind, number, serial }, payloadContextOf({ found, origin })),
      ),
      next,
    );
  },
});

interface CommentCall {
  viewer: Viewer;
  found: Found;
  params: { comment: string };
  deps: WebDeps;
  origin: string;
}

/** The comment in the path, and its issue. Throws `entry_not_found`. */
export async function findComment({ viewer, found, params, deps }: Omit<CommentCall, 'origin'>) {
  const comment = await deps.issues.findComment(viewer, repositoryAt(found), numberIn(params.comment));
  return { ...comment, at: { ...repositoryAt(found), number: comment.issue.number } };
}

async function showComment(call: CommentCall) {
  const { entry, issue, serial } = await findComment(call);
  const user = await peopleOf(call.deps, [entry]);
  return commentPayload(entry, user(entry.authorId), { ...issue, serial }, payloadContextOf(call));
}

export const getComment = operation({
  ...common,
  id: 'getComment',
  method: 'GET',
  path: oneCommentAt,
  summary: 'Get a comment',
  access: 'repository:read',
  status: 200,
  response: comment,
  run: async (call) => json(await showComment(call)),
});

export const editComment = operation({
  ...common,
  ...write,
  id: 'editComment',
  method: 'PATCH',
  path: oneCommentAt,
  summary: 'Edit a comment and keep its previous text as a revision',
  status: 200,
  takesIfMatch: true,
  maxJsonBytes: textBytes,
  body: commentEdit,
  response: comment,
  async run(call) {
    const { viewer, body, deps, ifMatch } = call;
    const { entry, at } = await findComment(call);
    const { position } = entry;
    await ifMatching(ifMatch, body.revision, (revision = entry.revision) =>
      deps.issues.editText(viewer, at, { position, body: body.body, revision }),
    );
    return json(await showComment(call));
  },
});

export const deleteComment = operation({
  ...common,
  ...write,
  id: 'deleteComment',
  method: 'DELETE',
  path: oneCommentAt,
  summary: 'Delete a comment with its reactions and revisions',
  status: 204,
  async run(call) {
    const { entry, at } = await findComment(call);
    await call.deps.issues.deleteComment(call.viewer, at, entry.position);
    return noContent();
  },
});

async function showRevisions(
  deps: WebDeps,
  viewer: Viewer | PersonViewer,
  at: Parameters<WebDeps['issues']['listRevisions']>[1],
  position: number,
  origin: string,
) {
  const rows = await deps.issues.listRevisions(viewer, at, position);
  const user = await usersById(
    deps,
    rows.map(({ editorId }) => editorId),
    origin,
  );
  return rows.map(({ revision, body, editorId, editedAt }) => ({
    revision,
    body,
    editor: user(editorId),
    edited_at: isoTime(editedAt),
  }));
}

export const listIssueRevisions = operation({
  ...common,
  id: 'listIssueRevisions',
  method: 'GET',
  path: `${oneIssueAt}/revisions`,
  summary: 'List the revisions of an issue’s text, oldest first',
  access: 'repository:read',
  status: 200,
  response: z.array(textRevision),
  run: async ({ viewer, found, params, deps, origin }) =>
    json(await showRevisions(deps, viewer, issueAt(found, params.number), 0, origin)),
});

export const listCommentRevisions = operation({
  ...common,
  id: 'listCommentRevisions',
  method: 'GET',
  path: `${oneCommentAt}/revisions`,
  summary: 'List the revisions of a comment, oldest first',
  access: 'repository:read',
  status: 200,
  response: z.array(textRevision),
  async run(call) {
    const { entry, at } = await findComment(call);
    return json(await showRevisions(call.deps, call.viewer, at, entry.position, call.origin));
  },
});
