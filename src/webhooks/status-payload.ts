import type { Person } from '../accounts/index.ts';
import type { Commit } from '../git/index.ts';
import { repositoryPayload, statusPayload, userPayload } from '../gitea-shapes/index.ts';
import type { ServerPlace } from '../gitea-shapes/index.ts';
import type { CommitStatus, Located } from '../repositories/index.ts';
import { commitPayload } from './payloads.ts';
import type { JsonObject, PushFacts } from './payloads.ts';

/**
 * The body of a delivery of the event `status`.
 * @param commit null for a missing commit
 * @param sender null for the CI of this server
 */
export function statusEventPayload(
  located: Located,
  status: CommitStatus,
  { commit, people, sender }: { commit: Commit | null; people: PushFacts['people']; sender: Person | null },
  settings: ServerPlace,
): JsonObject {
  const fullName = `${located.owner.handle}/${located.repository.name}`;
  const shown = statusPayload(status, sender, fullName, settings);
  return {
    id: shown.id,
    sha: status.sha,
    commit: commit && commitPayload({ commit, files: [] }, `${settings.baseUrl ?? ''}/repos/${fullName}`, people),
    context: shown.context,
    description: shown.description,
    state: shown.state,
    target_url: shown.target_url,
    created_at: shown.created_at,
    updated_at: shown.updated_at,
    repository: repositoryPayload(located, settings),
    sender: userPayload(sender, settings),
  };
}
