import type { ReleaseListener } from '../../releases/index.ts';
import type { FederationDeps } from '../deps.ts';
import { readNoteChoices } from '../notes/note-choices.ts';
import { publishEvent } from './event.ts';
import { publishNote, releaseNoteHtml } from './note.ts';

/**
 * Subscribes to releases, inside the write that publishes one, and sends notes to the followers that read them, and the
 * event to those on other Hearths. A repository without an actor has no followers yet.
 */
export function releaseListener(deps: FederationDeps): ReleaseListener {
  return async (tx, { action, repository, release }) => {
    if (action !== 'published' || !(await deps.repositories.isPublic(tx.manager, repository.id))) return;
    const actor = await deps.localActors.ofOwner('repository', repository.id, tx.manager);
    if (actor === null) return;
    const [owner]: { handle: string; author: string | null }[] = await tx.manager.query(
      `SELECT h.display AS handle,
              (SELECT a.display FROM handles a WHERE a.owner_id = ? AND a.released_at IS NULL) AS author
         FROM repositories r
         JOIN handles h ON h.owner_id = coalesce(r.owner_user_id, r.owner_org_id) AND h.released_at IS NULL
        WHERE r.id = ?`,
      [release.authorId, repository.id],
    );
    if (owner === undefined) return;
    const path = `${encodeURIComponent(owner.handle)}/${encodeURIComponent(repository.name)}`;
    const repositoryUrl = `${deps.settings.origin}/repos/${path}`;
    const url = `${repositoryUrl}/releases/tag/${encodeURIComponent(release.tag)}`;
    const html = releaseNoteHtml({
      repositoryName: `${owner.handle}/${repository.name}`,
      repositoryUrl,
      tag: release.tag,
      title: release.title,
      url,
    });
    const note = { actorPath: actor.path, repositoryId: repository.id, html, url, at: tx.now };
    const { tag, title } = release;
    await publishEvent(deps, tx, note, { kind: 'release', tag, title, author: owner.author });
    if ((await readNoteChoices(tx.manager, repository.id)).releases) await publishNote(deps, tx, note);
  };
}
