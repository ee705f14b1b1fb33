import { t } from '../../translation/index.ts';
import type { Viewer } from '../../access/index.ts';
import { ownerUrl, repositoryUrl } from '../../http/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { Owner } from '../../owners/index.ts';
import { formatNames, formatOf } from '../../packages/index.ts';
import type { FormatName } from '../../packages/index.ts';
import { readFilter } from '../app/list-page.view.ts';
import { viewFlashMessage } from '../app/flash-messages.view.ts';
import { numberedPage } from '../app/numbered-page.view.ts';
import { viewOrganisationHeader } from '../app/organisation-header.view.ts';
import { movedTo, page } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext, RequestContext } from '../app/request-context.ts';
import { viewTime } from '../app/times.view.ts';
import type { PackagesDeps } from './deps.ts';
import { viewPublishing } from './install-commands.view.ts';
import { viewPackageRows, viewVersionName } from './package-row.view.ts';
import { packagesUrl, versionUrl } from './package-urls.ts';

const maxDeleted = 20;

interface ListOf {
  url: string;
  ownerId?: string;
  repositoryId?: string;
}

/** One page of a list, filtered by `?q=` and `?format=`. */
async function listPart({ viewer, query }: RequestContext, deps: PackagesDeps, { url, ...of }: ListOf) {
  const filter = readFilter(query);
  const format: FormatName | null = formatNames.find((name) => name === query.get('format')) ?? null;
  const { rows, next, previous } = await numberedPage(
    ({ limit, skip }) =>
      deps.packages.list(viewer, {
        ...of,
        ...(format === null ? {} : { format }),
        query: filter,
        limit,
        offset: skip,
      }),
    query,
    url,
  );
  const address = (name: FormatName | null): string => {
    const chosen = new URLSearchParams({ ...(name !== null && { format: name }), ...(filter !== '' && { q: filter }) });
    return chosen.size === 0 ? url : `${url}?${chosen}`;
  };
  return {
    url,
    packages: await viewPackageRows(deps, rows),
    next,
    previous,
    filter,
    isNarrowed: filter !== '' || format !== null,
    others: format === null ? {} : { format },
    formats: [null, ...formatNames].map((name) => ({
      title: name === null ? t('follows.activity.all') : formatOf(name).title,
      url: address(name),
      isChosen: name === format,
    })),
  };
}

/** Deleted versions of an owner that the viewer may restore. */
async function viewDeleted(viewer: Viewer, deps: PackagesDeps, owner: Owner) {
  if (viewer.kind !== 'person') return [];
  const now = deps.clock.now();
  const shown = [];
  for (const row of await deps.packages.trashOf(owner.id, maxDeleted)) {
    const { format, name } = row.package;
    const found = await deps.packages.find(viewer, { owner: owner.handle, format, name }).catch(() => null);
    if (found === null || !deps.packages.mayOn(viewer, found, 'delete')) continue;
    shown.push({
      name: row.package.name,
      format: formatOf(format).title,
      version: viewVersionName(row.version),
      deleted: viewTime(row.version.deletedAt ?? now, now),
      restore: `${versionUrl(found, row.version.version)}/restore`,
    });
  }
  return shown;
}

/** `/packages/{owner}`: the packages of a user or an organisation that the viewer can read. */
export const showOwnerPackages: Page<RequestContext, PackagesDeps> = async (context, deps): Promise<Reply> => {
  const { params, viewer, query, origin } = context;
  const wanted = params['owner'] ?? '';
  const owner = (await deps.owners.resolve(wanted)) ?? (await deps.owners.resolveFormer(wanted));
  const { settings } = deps.packages;
  if (owner === null || !settings.enabled) throw notFound();
  if (owner.handle !== wanted) return movedTo(packagesUrl(owner.handle));
  const role =
    owner.kind === 'organisation' && viewer.kind === 'person'
      ? await deps.organisations.roleOf(viewer.id, owner.id)
      : null;
  const isSelf = viewer.kind === 'person' && viewer.id === owner.id;
  const mayPublish = isSelf || role === 'OWNER' || role === 'MEMBER';
  const [list, deleted] = await Promise.all([
    listPart(context, deps, { url: packagesUrl(owner.handle), ownerId: owner.id }),
    mayPublish ? viewDeleted(viewer, deps, owner) : [],
  ]);
  return page('packages/package-list', {
    owner: owner.handle,
    ownerUrl: ownerUrl(owner),
    organisation:
      owner.kind === 'user'
        ? null
        : viewOrganisationHeader(await deps.organisations.find(owner.handle), owner.avatarAt, role),
    ...list,
    deleted,
    mayPublish,
    recipes: mayPublish && list.packages.length === 0 ? viewPublishing({ origin, owner: owner.handle }) : [],
    notice: viewFlashMessage(query),
  });
};

/** `B/packages`: the packages linked to a repository. */
export const showRepositoryPackages: Page<RepositoryContext, PackagesDeps> = async (context, deps): Promise<Reply> => {
  const { found, origin, query } = context;
  const { settings } = deps.packages;
  if (!settings.enabled) throw notFound();
  const { canonical, repository, level } = found;
  const url = `${repositoryUrl(canonical)}/packages`;
  const list = await listPart(context, deps, { url, repositoryId: repository.id });
  const mayPublish = level === 'write' || level === 'admin';
  return page('packages/repository-packages', {
    repository: viewRepositoryHeader(found),
    all: packagesUrl(canonical.owner),
    ...list,
    mayPublish,
    recipes: mayPublish && list.packages.length === 0 ? viewPublishing({ origin, owner: canonical.owner }) : [],
    notice: viewFlashMessage(query),
  });
};
