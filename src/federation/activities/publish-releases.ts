import type { ReleaseListener } from '../../releases/index.ts';
import type { FederationDeps } from '../deps.ts';
import { readNoteChoices } from '../notes/note-choices.ts';
import { publishNote, releaseNoteHtml } from './note.ts';

/**
 * Subscribes to releases, inside the write that publishes one, and sends notes to the followers that read them. A
 * repository without an actor has no followers yet.
 */
export function releaseListener(deps: FederationDeps): ReleaseListener {
  return async (tx, { action, repository, release }) => {
    if (action !== 'published' || !(await deps.repositories.isPublic(tx.manager, repository.id))) return;
    if (!(await readNoteChoices(tx.manager, repository.id)).releases) return;
    const actor = await deps.localActors.ofOwner('repository', repository.id, tx.manager);
    if (actor === null) return;
    const [owner]: { handle: string }[] = await tx.manager.query(
      `SELECT h.display AS handle FROM repositories r
         JOIN handles h ON h.owner_id = coalesce(r.owner_user_id, r.owner_org_id) AND h.released_at IS NULL
        WHERE r.id = ?`,
      [repository.id],
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
    await publishNote(deps, tx, { actorPath: actor.path, repositoryId: repository.id, html, url, at: tx.now });
  };
}
