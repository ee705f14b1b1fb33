import type { z } from 'zod';
import type { Viewer } from '../../../access/index.ts';
import { repositoryDetails, repositoryPayload } from '../../../gitea-shapes/index.ts';
import type { RepositoryDetails, RepositoryPayload } from '../../../gitea-shapes/index.ts';
import { repositoryImageUrl, viewCloneBox } from '../../../http/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import type { Owner } from '../../../owners/index.ts';
import type { Located, Repository } from '../../../repositories/index.ts';
import { isoTime, isoTimeOrNull } from './payloads.ts';
import type { repository } from './schemas.ts';

/** The base URL of the API: absolute URLs start with it. */
interface Place {
  origin: string;
  deps: WebDeps;
}

type Row = Pick<Located, 'repository' | 'owner'>;

/** A repository, with the one that it was forked from if the viewer can read it. */
export async function showRepository(
  row: Repository,
  owner: Owner,
  viewer: Viewer,
  place: Place,
): Promise<z.output<typeof repository>> {
  const [shown] = await showListed([{ ...row, owner }], viewer, place);
  return shown!;
}

/** The same for several, which reads their additional data at once. */
export async function showListed(
  rows: readonly (Repository & { owner: Owner })[],
  viewer: Viewer,
  place: Place,
): Promise<z.output<typeof repository>[]> {
  const shown = rows.map((row) => ({ repository: row, owner: row.owner }));
  const [details, protectedIds] = await Promise.all([
    detailsOf(place.deps, shown, viewer),
    place.deps.repositories.rules.protectedDefaults(rows),
  ]);
  return shown.map((row) => {
    const { repository } = row;
    const payload = payloadOf(row, details.get(repository.id), place);
    return {
      ...payload,
      visibility: repository.visibility,
      defaultBranch: repository.defaultBranch,
      defaultBranchProtected: protectedIds.has(repository.id),
      acceptsGerritRefs: repository.acceptsGerritRefs,
      createdAt: isoTime(repository.createdAt),
      updatedAt: isoTime(repository.updatedAt),
      pushedAt: isoTimeOrNull(repository.pushedAt),
      imageUrl: payload.avatar_url === '' ? null : payload.avatar_url,
      cloneUrl: payload.clone_url,
      sshUrl: payload.ssh_url === '' ? null : payload.ssh_url,
    };
  });
}

/** Repositories in Gitea's form only, by id, for embedding in other responses. */
export async function showParts(
  rows: readonly Row[],
  viewer: Viewer,
  place: Place,
): Promise<Map<string, RepositoryPayload>> {
  const details = await detailsOf(place.deps, rows, viewer);
  return new Map(
    rows.map((row) => [row.repository.id, payloadOf(row, details.get(row.repository.id), place)] as const),
  );
}

async function detailsOf(deps: WebDeps, rows: readonly Row[], viewer: Viewer): Promise<Map<string, RepositoryDetails>> {
  const [details, mirrors] = await Promise.all([
    repositoryDetails(deps, rows, viewer),
    deps.mirrors.of(rows.map(({ repository }) => repository.id)),
  ]);
  await Promise.all(
    [...details].map(async ([id, known]) => {
      known.watchers = await deps.notifications.watchersOf(id);
      const mirror = mirrors.get(id);
      known.mirror = mirror?.direction === 'pull' ? mirror : null;
    }),
  );
  return details;
}

function payloadOf(row: Row, details: RepositoryDetails | undefined, { origin, deps }: Place): RepositoryPayload {
  const payload = repositoryPayload(row, { baseUrl: origin, sshOrigin: null }, details);
  const { ssh } = viewCloneBox({
    origin,
    owner: row.owner.handle,
    name: row.repository.name,
    ssh: deps.ssh(),
    config: deps.config,
    preferred: 'https',
  });
  const { imageContentType, imageUpdatedAt } = row.repository;
  return {
    ...payload,
    ssh_url: ssh ?? '',
    avatar_url: imageContentType === null ? '' : repositoryImageUrl(payload.html_url, imageUpdatedAt),
  };
}
