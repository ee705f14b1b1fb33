import { statfs } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { allows, isLocalAdministrator, repositoryLevel } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { repositoryFacts } from '../find-repository.ts';
import type { Found } from '../find-repository.ts';
import type { PushJournal, RefResult, RefUpdate } from './push-journal.ts';
import { settleFromRefs } from './settle-from-refs.ts';
import type { RepositoryRoom } from '../room.ts';
import { pushSchema } from './push-schema.ts';
import { repositorySchema } from '../repository-schema.ts';

export interface IncomingPush {
  viewer: Viewer;
  via: 'http' | 'ssh';
  /** Value of `Git-Protocol` or `GIT_PROTOCOL`, already checked by the edge. */
  protocol: string | null;
  /** What the client sends after the advertisement. */
  input: Readable;
  /** Where git's answer goes. */
  output: Writable;
  /** Aborts when the client has gone. */
  signal: AbortSignal;
  /** How long the client may hold the push up, in milliseconds; left out, what the git room allows. */
  stallMs?: number;
}

type Verdict = { accept: true; remarks: string[] } | { accept: false; reason: string };

/**
 * Receives a push: journals its commands, lets git act, settles the journal with
 * git's verdict. The same for every transport.
 *
 * The client learns a refusal (`no longer allowed`, `archived`, disk space) as a
 * report for each command; git is not started then and nothing is journalled.
 * @returns the id of the journalled push when at least one command took effect, else `null`
 */
export async function receivePush(
  room: RepositoryRoom,
  journal: PushJournal,
  opened: Found,
  incoming: IncomingPush,
): Promise<string | null> {
  let pushId: string | null = null;
  let settled: readonly RefResult[] | null = null;
  try {
    await room.git.receivePack({
      path: opened.path,
      protocol: incoming.protocol,
      input: incoming.input,
      output: incoming.output,
      signal: incoming.signal,
      client: incoming.viewer.kind === 'person' ? incoming.viewer.id : undefined,
      stallMs: incoming.stallMs,
      observer: {
        async decide({ updates, options }) {
          const verdict = await decide(room, opened, incoming, options);
          if (!verdict.accept) return verdict;
          pushId = await begin(journal, opened, incoming, updates, options);
          return verdict;
        },
        async settled(results) {
          if (pushId === null) return;
          await journal.settle(pushId, results);
          settled = results;
        },
      },
    });
  } finally {
    // git ended without a report (killed, crashed, client gone): the refs know.
    if (pushId !== null && settled === null) settled = await settleNow(room, journal, opened, pushId);
  }
  return settled?.some((result) => result.ok) ? pushId : null;
}

function begin(
  journal: PushJournal,
  opened: Found,
  { viewer, via }: IncomingPush,
  updates: readonly RefUpdate[],
  options: readonly string[],
): Promise<string> {
  const userId = viewer.kind === 'person' && !isLocalAdministrator(viewer) ? viewer.id : null;
  return journal.begin({ repositoryId: opened.repository.id, userId, via, options, updates });
}

/** Asked again when the commands are known: a right may have gone while the client was sending. */
async function decide(
  room: RepositoryRoom,
  opened: Found,
  { viewer }: IncomingPush,
  options: readonly string[],
): Promise<Verdict> {
  const repository = await room.db.read.findOneBy(repositorySchema, { id: opened.repository.id });
  if (repository === null) return { accept: false, reason: 'repository not found' };
  const facts = await repositoryFacts({ read: room.db.read, organisations: room.organisations }, viewer, repository);
  if (!allows(repositoryLevel(viewer, facts), 'write')) return { accept: false, reason: 'you may no longer write here' };
  if (repository.archivedAt !== null) return { accept: false, reason: 'this repository is archived and read-only' };
  const { bavail, bsize } = await statfs(opened.path);
  if (bavail * bsize < room.settings.lowDiskFloorBytes) {
    return { accept: false, reason: 'the server is low on disk space; reading still works' };
  }
  return { accept: true, remarks: options.map((option) => `push option ignored: ${option}`) };
}

async function settleNow(room: RepositoryRoom, journal: PushJournal, opened: Found, pushId: string): Promise<RefResult[]> {
  const push = await room.db.read.findOneByOrFail(pushSchema, { id: pushId });
  return settleFromRefs(journal, push, await room.git.refs(opened.path));
}
