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
    actor: z.string().describe('The address of its actor'),
    handle: z.string().describe('`user@host`, chosen by its server; the address while that has not told it'),
    url: z.string().nullable().describe('Its page'),
    host: z.string(),
    createdAt: time.describe('When it followed, or asked to'),
  })
  .meta({ id: 'Follower' });

const settings = z
  .strictObject({ approvesFollowers: z.boolean().describe('Each new follower waits for approval') })
  .meta({ id: 'FollowerSettings' });

const { page, limit } = numberedPaging;
const numbered = { page, limit };

const namedActor = z.strictObject({ actor: z.string().min(1).max(2_000).describe('As the list has it') });

const noteChoices = z
  .strictObject({ pushes: z.boolean(), releases: z.boolean(), issues: z.boolean(), pulls: z.boolean() })
  .meta({ id: 'NoteChoices' });

const note = z
  .strictObject({
    id: z.uuid(),
    uri: z.string().describe('Its address on this server'),
    url: z.string().describe('The page that it links to'),
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

function followerOperationsAt({ at, word, whose, access, scopeOf, refuses }: CiScopePath) {
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
      summary: `List the followers from other servers ${whose}, the newest first`,
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
      summary: `Remove a follower ${whose}, or decline a request; its server is told`,
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
      summary: `List who waits for approval to follow, the oldest first ${whose}`,
      description: 'The oldest hundred.',
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
      summary: `Accept a request to follow ${whose}`,
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
      summary: `Get whether new followers wait for approval ${whose}`,
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
      summary: `Set whether new followers wait for approval ${whose}`,
      description: 'Requests that wait go on waiting for a decision.',
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
    summary: 'Get the events of a repository that microblogs get notes of',
    status: 200,
    response: noteChoices,
    run: async ({ found, deps }) => json(await deps.federation.noteChoices(found.repository.id)),
  }),
  operation({
    ...ofRepository,
    id: 'chooseNotes',
    method: 'PUT',
    path: `${notesAt}/choices`,
    summary: 'Choose the events of a repository that microblogs get notes of',
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
    summary: 'List the newest notes of a repository; they are kept for thirty days',
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
    summary: 'Delete a note of a public repository; the servers that have it are told',
    status: 204,
    refuses: [404, 409],
    async run({ found, params, deps }) {
      await deps.federation.deleteNote(found.repository.id, params.id);
      return noContent();
    },
  }),
] as const;
