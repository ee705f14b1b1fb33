import { z } from 'zod';
import type { FollowSubject, ShownFollower } from '../../../federation/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { AnyCall } from '../../operation.ts';
import { ciScopePaths } from '../shapes/ci-scopes.ts';
import type { CiScopePath } from '../shapes/ci-scopes.ts';
import { rowsOf } from '../shapes/issues-parts.ts';
import { numberedPaging } from '../shapes/issues-schemas.ts';
import { isoTime } from '../shapes/payloads.ts';
import { time } from '../shapes/schemas.ts';

const follower = z
  .strictObject({
    actor: z.string().describe('URL of its ActivityPub actor'),
    handle: z.string().describe('`user@host`, chosen by its server; the actor URL until the server provides it'),
    url: z.string().nullable().describe('URL of its page'),
    host: z.string(),
    createdAt: time.describe('Time of the follow or the request'),
  })
  .meta({ id: 'Follower' });

const settings = z
  .strictObject({ approvesFollowers: z.boolean().describe('Whether new followers require approval') })
  .meta({ id: 'FollowerSettings' });

const { page, limit } = numberedPaging;
const numbered = { page, limit };

const namedActor = z.strictObject({ actor: z.string().min(1).max(2_000).describe('Actor URL from the list') });

const noteChoices = z
  .strictObject({ pushes: z.boolean(), releases: z.boolean(), issues: z.boolean(), pulls: z.boolean() })
  .meta({ id: 'NoteChoices' });

const note = z
  .strictObject({
    id: z.uuid(),
    uri: z.string().describe('URL on this server'),
    url: z.string().describe('URL of the page that it links to'),
    content: z.string().describe('HTML'),
    publishedAt: time,
  })
  .meta({ id: 'Note' });

/** More notes than a repository sends per day; its pages show older ones. */
const mostNotes = 100;

const showFollower = ({ actorId: actor, handle, url, host, since }: ShownFollower): z.infer<typeof follower> => ({
  actor,
  handle,
  url,
  host,
  createdAt: isoTime(since),
});

/** The server as a whole has no followers. */
const places = ciScopePaths.filter(({ access }) => access !== 'administrator');
const common = { tag: 'Follows', cost: 'rows' } as const;
const owners: Partial<Record<string, string>> = {
  Repository: 'of a repository',
  Organisation: 'of an organisation',
  My: 'of the caller',
};

function followerOperationsAt({ at, word, access, scopeOf, refuses }: CiScopePath) {
  const whose = owners[word] ?? '';
  const subjectOf = (call: unknown) => scopeOf(call as AnyCall) as FollowSubject;
  const beside = { ...common, access, refuses };
  const changing = { ...beside, refuses: [404, 409, 422] } as const;
  const read = (call: { deps: WebDeps }, limit: number, skip: number) =>
    call.deps.federation.listSubjectFollowers(subjectOf(call), { limit, skip });
  return [
    operation({
      ...beside,
      id: `list${word}RemoteFollowers`,
      method: 'GET',
      path: `${at}/federation/followers`,
      summary: `List the followers ${whose} from other servers, newest first`,
      status: 200,
      isPaged: true,
      refuses: [...refuses, 422],
      query: z.object(numbered),
      response: z.array(follower),
      async run(call) {
        const limit = rowsOf(call.query);
        const page = Math.max(call.query.page, 1);
        const { followers, total } = await read(call, limit, (page - 1) * limit);
        return listed(followers.map(showFollower), page * limit < total ? page + 1 : null, total);
      },
    }),
    operation({
      ...changing,
      id: `remove${word}RemoteFollower`,
      method: 'DELETE',
      path: `${at}/federation/followers`,
      summary: `Remove a follower ${whose} or decline a request, and notify the follower’s server`,
      status: 204,
      query: namedActor,
      async run(call) {
        await call.deps.federation.removeFollower(subjectOf(call), call.query.actor);
        return noContent();
      },
    }),
    operation({
      ...beside,
      id: `list${word}FollowRequests`,
      method: 'GET',
      path: `${at}/federation/requests`,
      summary: `List the pending followers ${whose}, oldest first`,
      description: 'Returns at most the oldest hundred.',
      status: 200,
      response: z.array(follower),
      async run(call) {
        return json((await read(call, 1, 0)).requests.map(showFollower));
      },
    }),
    operation({
      ...changing,
      id: `accept${word}FollowRequest`,
      method: 'POST',
      path: `${at}/federation/requests/accept`,
      summary: `Accept a pending follower ${whose}`,
      status: 204,
      body: namedActor,
      async run(call) {
        await call.deps.federation.acceptFollower(subjectOf(call), call.body.actor);
        return noContent();
      },
    }),
    operation({
      ...beside,
      id: `get${word}FollowerSettings`,
      method: 'GET',
      path: `${at}/federation`,
      summary: `Get whether new followers ${whose} require approval`,
      status: 200,
      response: settings,
      async run(call) {
        return json({ approvesFollowers: (await read(call, 1, 0)).approves });
      },
    }),
    operation({
      ...beside,
      id: `edit${word}FollowerSettings`,
      method: 'PUT',
      path: `${at}/federation`,
      summary: `Set whether new followers ${whose} require approval`,
      description: 'Pending requests remain pending.',
      status: 200,
      refusesUnknownKeys: true,
      body: settings,
      response: settings,
      async run(call) {
        await call.deps.federation.setApproval(subjectOf(call), call.body.approvesFollowers);
        return json(call.body);
      },
    }),
  ];
}

const ofRepository = { ...common, access: 'repository:admin' } as const;
const notesAt = '/repos/{owner}/{name}/federation/notes';

export const followerOperations = [
  ...places.flatMap(followerOperationsAt),
  operation({
    ...ofRepository,
    id: 'getNoteChoices',
    method: 'GET',
    path: `${notesAt}/choices`,
    summary: 'Get the repository events that are published as notes to microblogs',
    status: 200,
    response: noteChoices,
    run: async ({ found, deps }) => json(await deps.federation.noteChoices(found.repository.id)),
  }),
  operation({
    ...ofRepository,
    id: 'chooseNotes',
    method: 'PUT',
    path: `${notesAt}/choices`,
    summary: 'Set the repository events that are published as notes to microblogs',
    status: 200,
    refusesUnknownKeys: true,
    body: noteChoices,
    response: noteChoices,
    async run({ found, body, deps }) {
      await deps.federation.chooseNotes(found.repository.id, body);
      return json(body);
    },
  }),
  operation({
    ...ofRepository,
    id: 'listNotes',
    method: 'GET',
    path: notesAt,
    summary: 'List a repository’s newest notes, which are kept for thirty days',
    status: 200,
    query: z.object({ limit: z.int().min(1).max(mostNotes).default(20) }),
    response: z.array(note),
    async run({ found, query, deps }) {
      const notes = await deps.federation.listNotes(found.repository.id, query);
      return json(
        notes.map(({ id, uri, url, html, publishedAt }) => ({
          ...{ id, uri, url },
          ...{ content: html, publishedAt: isoTime(publishedAt) },
        })),
      );
    },
  }),
  operation({
    ...ofRepository,
    id: 'deleteNote',
    method: 'DELETE',
    path: `${notesAt}/{id}`,
    summary: 'Delete a public repository’s note and notify the servers that received it',
    status: 204,
    refuses: [404, 409],
    async run({ found, params, deps }) {
      await deps.federation.deleteNote(found.repository.id, params.id);
      return noContent();
    },
  }),
] as const;
