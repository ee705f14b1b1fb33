import type { AnnouncedEntry, EntryListener } from '../../issues/index.ts';
import { publicRepositoryById } from '../actors/public-repositories.ts';
import type { FederationDeps } from '../deps.ts';
import { readNoteChoices } from '../notes/note-choices.ts';
import { entryNoteHtml, publishNote } from './note.ts';
import type { NewNote } from './note.ts';

/**
 * Subscribes to entries of issues and pull requests: if the owner has chosen so, opened issues and opened or merged
 * pull requests of a public repository become notes. Held and imported entries publish nothing.
 */
export function entryListener(deps: FederationDeps): EntryListener<NewNote> {
  return {
    name: 'federation',
    prepare: (announced) => prepareNote(deps, announced),
    async record(tx, { repository, issue }, note) {
      // Checked again inside the write: either may have been hidden since.
      if (issue.heldAt === null && (await deps.repositories.isPublic(tx.manager, repository.id)))
        await publishNote(deps, tx, note);
    },
  };
}

async function prepareNote(
  deps: FederationDeps,
  { repository, issue, entry }: AnnouncedEntry,
): Promise<NewNote | null> {
  const isMerge = entry.kind === 'merged';
  if ((entry.kind !== 'opened' && !isMerge) || entry.via === 'import' || issue.heldAt !== null) return null;
  const isPull = issue.kind === 'PULL';
  const choices = await readNoteChoices(deps.db.read, repository.id);
  if (!(isPull ? choices.pulls : choices.issues)) return null;
  const actor = await deps.localActors.ofOwner('repository', repository.id);
  const found = actor === null ? null : await publicRepositoryById(deps, repository.id);
  if (actor === null || found === null) return null;
  const { handle } = found.owner;
  const path = `${encodeURIComponent(handle)}/${encodeURIComponent(repository.name)}`;
  const repositoryUrl = `${deps.settings.origin}/repos/${path}`;
  const url = `${repositoryUrl}/${isPull ? 'pulls' : 'issues'}/${issue.number}`;
  const html = entryNoteHtml({
    author: await nameOf(deps, entry.authorId),
    act: isMerge ? 'merged the pull request' : isPull ? 'opened the pull request' : 'opened the issue',
    title: `${issue.title} #${issue.number}`,
    url,
    repositoryName: `${handle}/${repository.name}`,
    repositoryUrl,
  });
  return { actorPath: actor.path, repositoryId: repository.id, html, url, at: entry.createdAt };
}

async function nameOf({ accounts }: FederationDeps, authorId: string | null): Promise<string> {
  const person = authorId === null ? undefined : (await accounts.peopleById([authorId])).get(authorId);
  return person?.displayName || person?.username || 'Somebody';
}
