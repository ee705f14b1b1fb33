import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { Person } from '../accounts/index.ts';
import type { CommitStatus } from '../repositories/index.ts';
import type { ServerPlace } from './place.ts';
import type { commitStatus } from './status-schema.ts';
import { giteaTime } from './time.ts';
import { userPayload } from './user.ts';

type StatusPayload = z.output<typeof commitStatus>;

/**
 * A commit status in Gitea's form. @param fullName of its repository
 * @param id of an entry in the history; otherwise derived from repository, commit and context
 * @param creator null for the CI of this server, whose URLs are below the page of the repository
 */
export function statusPayload(
  status: CommitStatus,
  creator: Person | null,
  fullName: string,
  place: Pick<ServerPlace, 'baseUrl'>,
  id: number = idOf(status),
): StatusPayload {
  const { sha, context, description, targetUrl, createdAt, updatedAt } = status;
  const state = status.isWarning === true ? ('warning' as const) : status.state;
  const base = place.baseUrl ?? '';
  const shown = targetUrl === null || /^https?:/.test(targetUrl) ? targetUrl : `${base}/repos/${fullName}/${targetUrl}`;
  const times = { created: giteaTime(createdAt), updated: giteaTime(updatedAt) };
  return {
    id,
    status: state,
    target_url: shown ?? '',
    description,
    url: `${base}/api/v1/repos/${fullName}/statuses/${sha}`,
    context,
    creator: creator === null ? null : userPayload(creator, place),
    created_at: times.created,
    updated_at: times.updated,
    state,
    targetUrl: shown,
    createdAt: times.created,
    updatedAt: times.updated,
  };
}

/** A status has no id of its own: it is identified by repository, commit and context. */
function idOf({ repositoryId, sha, context }: CommitStatus): number {
  return createHash('sha256').update(`${repositoryId} ${sha} ${context}`).digest().readUIntBE(0, 6);
}
