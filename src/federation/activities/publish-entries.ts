import type { AnnouncedEntry, EntryListener } from '../../issues/index.ts';
import { publicRepositoryById } from '../actors/public-repositories.ts';
import type { FederationDeps } from '../deps.ts';
import { readNoteChoices } from '../notes/note-choices.ts';
import { publishEvent } from './event.ts';
import type { RepositoryEvent } from './event.ts';
import { entryNoteHtml, publishNote } from './note.ts';
import type { NewNote } from './note.ts';

/** What an entry publishes. */
interface Announcement {
  note: NewNote;
  event: RepositoryEvent;
  /** Whether the owner has chosen notes of such entries for people. */
  isChosen: boolean;
}

/**
 * Subscribes to entries of issues and pull requests: opened issues and opened or merged pull requests of a public
 * repository are published to other Hearths, and as notes if the owner has chosen so. Held and imported entries publish
 * nothing.
 */
export function entryListener(deps: FederationDeps): EntryListener<Announcement> {
  return {
    name: 'federation',
    prepare: (announced) => prepareAnnouncement(deps, announced),
    async record(tx, { repository, issue }, { note, event, isChosen }) {
      // Checked again inside the write: either may have been hidden since.
      if (issue.heldAt !== null || !(await deps.repositories.isPublic(tx.manager, repository.id))) return;
      await publishEvent(deps, tx, note, event);
      if (isChosen) await publishNote(deps, tx, note);
    },
  };
}

async function prepareAnnouncement(
  deps: FederationDeps,
  { repository, issue, entry }: AnnouncedEntry,
): Promise<Announcement | null> {
  const isMerge = entry.kind === 'merged';
  if ((entry.kind !== 'opened' && !isMerge) || entry.via === 'import' || issue.heldAt !== null) return null;
  const isPull = issue.kind === 'PULL';
  const actor = await deps.localActors.ofOwner('repository', repository.id);
  const found = actor === null ? null : await publicRepositoryById(deps, repository.id);
  if (actor === null || found === null) return null;
  const { handle } = found.owner;
  const path = `${encodeURIComponent(handle)}/${encodeURIComponent(repository.name)}`;
  const repositoryUrl = `${deps.settings.origin}/repos/${path}`;
  const url = `${repositoryUrl}/${isPull ? 'pulls' : 'issues'}/${issue.number}`;
  const author = await personOf(deps, entry.authorId);
  const html = entryNoteHtml({
    author: author?.displayName || author?.username || 'Somebody',
    act: isMerge ? 'merged the pull request' : isPull ? 'opened the pull request' : 'opened the issue',
    title: `${issue.title} #${issue.number}`,
    url,
    repositoryName: `${handle}/${repository.name}`,
    repositoryUrl,
  });
  const choices = await readNoteChoices(deps.db.read, repository.id);
  return {
    note: { actorPath: actor.path, repositoryId: repository.id, html, url, at: entry.createdAt },
    event: {
      kind: isMerge ? 'merged' : 'opened',
      isPull,
      number: issue.number,
      title: issue.title,
      author: author?.username ?? null,
    },
    isChosen: isPull ? choices.pulls : choices.issues,
  };
}

const personOf = async ({ accounts }: FederationDeps, id: string | null) =>
  id === null ? undefined : (await accounts.peopleById([id])).get(id);
