import type { Person } from '../accounts/index.ts';
import { releasePayload, repositoryPayload, userPayload } from '../gitea-shapes/index.ts';
import type { ServerPlace } from '../gitea-shapes/index.ts';
import type { ReleaseFile, ReleaseRow } from '../releases/index.ts';
import type { Located } from '../repositories/index.ts';
import type { JsonObject } from './payloads.ts';

/** The body of a delivery of the event `release`. */
export const releaseEventPayload = (
  located: Located,
  action: 'published' | 'updated' | 'deleted',
  release: ReleaseRow & { files: readonly ReleaseFile[] },
  { author, sender }: { author: Person | null; sender: Person | null },
  settings: ServerPlace,
): JsonObject => ({
  action,
  release: releasePayload(release, author, located, settings),
  repository: repositoryPayload(located, settings),
  sender: userPayload(sender, settings),
});
