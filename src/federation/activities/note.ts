import type { Tx } from '../../db/index.ts';
import { publish } from '../deliveries/publish.ts';
import type { Audience } from '../deliveries/publish.ts';
import type { FederationDeps } from '../deps.ts';
import { activityStreams, publicAudience } from '../documents/contexts.ts';
import { escapeHtml } from '../documents/escape-html.ts';
import type { Json } from '../documents/json-fields.ts';
import type { ActorKind } from '../schema/key-schema.ts';

/** Limit of notes of an actor per hour; further ones are dropped, so that they do not flood timelines. */
const maxPerHour = 12;
const hourMs = 3_600_000;

/** An event in a repository, for human readers: the HTML that a microblog shows, and the page that it links to. */
export interface NewNote {
  actorPath: string;
  repositoryId: string;
  html: string;
  url: string;
  at: number;
}

/**
 * Publishes a note to the followers that read notes, inside the write of the event: the repository publishes to its own
 * followers, the owner to those who follow only the owner. Writes nothing if there are no such followers.
 */
export async function publishNote(deps: FederationDeps, tx: Tx, note: NewNote): Promise<void> {
  const { actorPath, repositoryId } = note;
  const readers: unknown[] = await tx.manager.query(
    `SELECT 1 FROM repository_followers f JOIN federation_peers p ON p.host = f.host
      WHERE f.repository_id = ? AND p.reads = 'note' LIMIT 1`,
    [repositoryId],
  );
  if (readers.length > 0) await publishBy(deps, tx, actorPath, note, { followersOf: repositoryId, reads: 'note' });
  if (!deps.settings.openFollowers) return;
  const [owner]: { kind: ActorKind; id: string }[] = await tx.manager.query(
    `SELECT CASE WHEN owner_org_id IS NULL THEN 'user' ELSE 'organisation' END AS kind,
            coalesce(owner_org_id, owner_user_id) AS id FROM repositories
      WHERE id = ? AND EXISTS (SELECT 1 FROM owner_followers WHERE subject_id = coalesce(owner_org_id, owner_user_id))`,
    [repositoryId],
  );
  const actor = owner === undefined ? null : await deps.localActors.ofOwner(owner.kind, owner.id, tx.manager);
  if (actor === null) return;
  await publishBy(deps, tx, actor.path, note, { followersOfOwner: owner!.id, besides: repositoryId });
}

/** Applies the limit of an actor: further notes are dropped. */
async function publishBy(
  deps: FederationDeps,
  tx: Tx,
  actorPath: string,
  note: NewNote,
  audience: Audience,
): Promise<void> {
  const [recent]: { n: number }[] = await tx.manager.query(
    `SELECT count(*) AS n FROM federation_outbox
      WHERE actor_path = ? AND is_public = 0 AND created_at > ? AND type = 'Create' AND reads IS NULL`,
    [actorPath, tx.now - hourMs],
  );
  if (Number(recent?.n ?? 0) >= maxPerHour) return;
  const content = noteContent(deps.localActors.idOf(actorPath), note, activityStreams);
  await publish(deps, tx, { type: 'Create', actorPath, repositoryId: note.repositoryId, content }, audience);
}

/**
 * The content of a Create of a note by an actor, as a function of the UUID that both share.
 * @param more further fields of the note, whose terms the context defines
 */
export function noteContent(
  actor: string,
  { html, url, at }: Pick<NewNote, 'html' | 'url' | 'at'>,
  context: unknown,
  more: Json = {},
): (uuid: string) => Json {
  const addressed = { to: [publicAudience], cc: [`${actor}/followers`], published: new Date(at).toISOString() };
  return (uuid) => ({
    '@context': context,
    ...addressed,
    object: {
      id: `${actor}/notes/${uuid}`,
      type: 'Note',
      attributedTo: actor,
      ...addressed,
      url,
      content: html,
      ...more,
    },
  });
}

/** Limit of subjects in a note of a push; the page shows all. */
const shownCommits = 3;

interface PushForPeople {
  pusherName: string;
  repositoryName: string;
  repositoryUrl: string;
  branch: string;
  isForced: boolean;
  totalCommits: number;
  commits: readonly { hash: string; subject: string }[];
}

/** `Alice pushed 2 commits to alice/tool (main):` and the newest subjects, each a link. */
export function pushNoteHtml(push: PushForPeople): string {
  const { totalCommits, repositoryUrl, commits } = push;
  const count = `${totalCommits} ${totalCommits === 1 ? 'commit' : 'commits'}`;
  const shown = commits.slice(0, shownCommits).map(({ hash, subject }) => {
    const link = anchor(`${repositoryUrl}/commit/${hash}`, hash.slice(0, 7));
    return `${link} ${escapeHtml(subject.slice(0, 200))}`;
  });
  const more = totalCommits > shown.length && shown.length > 0 ? [`… and ${totalCommits - shown.length} more`] : [];
  const verb = push.isForced ? 'force-pushed' : 'pushed';
  const where = `${anchor(repositoryUrl, push.repositoryName)} (${escapeHtml(push.branch)})`;
  const list = [...shown, ...more];
  const text = `<p>${escapeHtml(push.pusherName)} ${verb} ${count} to ${where}${list.length > 0 ? ':' : ''}</p>`;
  return list.length === 0 ? text : `${text}<p>${list.join('<br>')}</p>`;
}

/** `Released 1.0 of alice/tool`, with the title if it differs from the tag. */
export function releaseNoteHtml(release: {
  repositoryName: string;
  repositoryUrl: string;
  tag: string;
  title: string;
  url: string;
}): string {
  const { repositoryName, repositoryUrl, tag, title, url } = release;
  const name = title === '' || title === tag ? tag : `${tag}: ${title}`;
  return `<p>Released ${anchor(url, name.slice(0, 300))} of ${anchor(repositoryUrl, repositoryName)}</p>`;
}

/** `Alice opened the issue Garden gate #3 in alice/tool`. */
export function entryNoteHtml(entry: {
  author: string;
  act: string;
  title: string;
  url: string;
  repositoryName: string;
  repositoryUrl: string;
}): string {
  const { author, act, title, url, repositoryName, repositoryUrl } = entry;
  const what = anchor(url, title.slice(0, 300));
  return `<p>${escapeHtml(author)} ${act} ${what} in ${anchor(repositoryUrl, repositoryName)}</p>`;
}

const anchor = (url: string, text: string): string => `<a href="${escapeHtml(url)}">${escapeHtml(text)}</a>`;
