import { z } from 'zod';
import type { Viewer } from '../../../access/index.ts';
import {
  formatOfType,
  ownerPayload,
  packageFilePayload,
  packagePayload,
  userPayload,
} from '../../../gitea-shapes/index.ts';
import type { RepositoryPayload } from '../../../gitea-shapes/index.ts';
import { giteaPackage, giteaPackageFile, packageTypes } from '../../../gitea-shapes/schemas.ts';
import type { Person } from '../../../accounts/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import type { Organisation } from '../../../organisations/index.ts';
import { notFound } from '../../../kernel/index.ts';
import { packageNotFound } from '../../../packages/index.ts';
import type { FoundPackage, ListedVersion, PackageAt, PackageRow } from '../../../packages/index.ts';
import { json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { rowsOf } from '../shapes/issues-parts.ts';
import { showParts } from '../shapes/show-repositories.ts';

const ofOwner = '/packages/{owner}';
const one = `${ofOwner}/{type}/{name}` as const;
const version = `${one}/{version}` as const;

const read = { tag: 'Packages', access: 'anyone', cost: 'rows', refuses: [404] } as const;
const write = { ...read, scope: 'write' } as const;

const paging = {
  page: z.int().min(0).max(100_000).default(1).describe('Counted from 1'),
  limit: z.int().min(0).max(100_000).default(0).describe('Results per page, at most 100; 0 means 30'),
};

interface Place {
  viewer: Viewer;
  deps: WebDeps;
  origin: string;
}

/** Versions in Gitea's form. @param shown display name by id; the version's own name if missing */
async function showVersions(
  { viewer, deps, origin }: Place,
  rows: readonly ListedVersion[],
  shown: ReadonlyMap<string, string>,
) {
  const ids = [...new Set(rows.flatMap((row) => row.package.repositoryId ?? []))];
  const [owners, located, creators] = await Promise.all([
    deps.owners.ownersById(rows.map((row) => row.package.ownerId)),
    deps.repositories.locate(ids),
    deps.accounts.peopleById(rows.flatMap((row) => row.version.publisherId ?? [])),
  ]);
  const parts: ReadonlyMap<string, RepositoryPayload> =
    located.size === 0 ? new Map() : await showParts([...located.values()], viewer, { origin, deps });
  const profiles = await profilesOf(deps, [...owners.values()]);
  const place = { baseUrl: origin };
  return rows.flatMap((row) => {
    const owner = owners.get(row.package.ownerId);
    if (owner === undefined) return [];
    const { publisherId } = row.version;
    const name = shown.get(row.version.id);
    return packagePayload(
      { ...row, ...(name === undefined ? {} : { shown: name }) },
      {
        owner: ownerPayload(owner, profiles.get(owner.id) ?? null, place),
        creator: userPayload(publisherId === null ? null : (creators.get(publisherId) ?? null), place),
        // A package that inherits access from a repository is visible to its readers.
        repository: row.package.repositoryId === null ? null : (parts.get(row.package.repositoryId) ?? null),
      },
      place,
    );
  });
}

async function profilesOf(deps: WebDeps, owners: readonly FoundPackage['owner'][]) {
  const ids = (kind: string) => owners.filter((owner) => owner.kind === kind).map(({ id }) => id);
  const [people, organisations] = await Promise.all([
    deps.accounts.peopleById(ids('user')),
    deps.organisations.byIds(new Set(ids('organisation'))),
  ]);
  return new Map<string, Person | Organisation>([...people, ...organisations]);
}

/** An image is shown by a tag if it has one. */
async function shownNames({ deps }: Place, rows: readonly ListedVersion[]): Promise<Map<string, string>> {
  const images = rows.filter((row) => row.package.format === 'oci').map((row) => row.version.id);
  const tags = await deps.packages.tags.ofVersions(images);
  return new Map([...tags].map(([id, names]) => [id, names[0]!]));
}

const placeOf = async (place: Place, rows: readonly ListedVersion[]) =>
  showVersions(place, rows, await shownNames(place, rows));

/** Throws `package_not_found` for an unknown type. */
export function addressOf({ owner, type, name }: { owner: string; type: string; name: string }): PackageAt {
  const format = formatOfType(type);
  if (format === null) throw packageNotFound();
  return { owner, format, name };
}

const versionOf = async (
  deps: WebDeps,
  viewer: Viewer,
  params: Parameters<typeof addressOf>[0] & { version: string },
) => {
  const found = await deps.packages.find(viewer, addressOf(params));
  return { found, named: await deps.packages.versions.named(found, params.version) };
};

function pageOf({ page, limit: asked }: { page: number; limit: number }) {
  const limit = rowsOf({ limit: asked });
  const at = Math.max(page, 1);
  return { limit, offset: (at - 1) * limit, next: (total: number) => (at * limit < total ? at + 1 : null) };
}

async function showOne(
  place: Place,
  row: PackageRow,
  { version, tag }: { version: ListedVersion['version']; tag: string | null },
) {
  const names = tag === null ? await shownNames(place, [{ package: row, version }]) : new Map([[version.id, tag]]);
  return (await showVersions(place, [{ package: row, version }], names))[0]!;
}

export const packageOperations = [
  operation({
    ...read,
    id: 'listPackages',
    method: 'GET',
    path: ofOwner,
    summary: 'List the versions of an owner’s packages, most recently changed package first',
    status: 200,
    isPaged: true,
    query: z.object({
      ...paging,
      type: z
        .enum([...packageTypes, 'oci'])
        .optional()
        .describe('Only packages of this type'),
      q: z.string().max(200).optional().describe('Part of the name'),
    }),
    response: z.array(giteaPackage),
    async run({ params, query, ...place }) {
      const { deps, viewer } = place;
      const owner = (await deps.owners.resolve(params.owner)) ?? (await deps.owners.resolveFormer(params.owner));
      if (owner === null) throw notFound('no_such_owner_here', 'There is no owner with this handle.');
      const { limit, offset, next } = pageOf(query);
      const format = query.type === undefined ? null : formatOfType(query.type);
      const { rows, total } = await deps.packages.versions.list(viewer, {
        ownerId: owner.id,
        ...(format === null ? {} : { format }),
        ...(query.q === undefined ? {} : { query: query.q }),
        limit,
        offset,
      });
      return listed(await placeOf(place, rows), next(total), total);
    },
  }),
  operation({
    ...read,
    id: 'listPackageVersions',
    method: 'GET',
    path: one,
    summary: 'List a package’s versions, newest first',
    status: 200,
    isPaged: true,
    query: z.object(paging),
    response: z.array(giteaPackage),
    async run({ params, query, ...place }) {
      const { deps, viewer } = place;
      const found = await deps.packages.find(viewer, addressOf(params));
      const { limit, offset, next } = pageOf(query);
      const rows = await deps.packages.versions.page(found, { limit, offset });
      const listedRows = rows.map((row) => ({ package: found.package, version: row }));
      const total = found.package.versions;
      return listed(await placeOf(place, listedRows), next(total), total);
    },
  }),
  operation({
    ...write,
    id: 'deletePackage',
    method: 'DELETE',
    path: one,
    summary: 'Delete all versions of a package; they can be restored within the trash retention period',
    status: 204,
    async run({ viewer, params, deps }) {
      const found = await deps.packages.find(viewer, addressOf(params), 'delete');
      await deps.packages.delete(viewer, found);
      return noContent();
    },
  }),
  operation({
    ...write,
    id: 'editPackage',
    method: 'PATCH',
    path: one,
    summary: 'Set the visibility of a package that is not linked to a repository',
    status: 204,
    refuses: [404, 409],
    body: z.strictObject({ visibility: z.enum(['public', 'private']) }),
    async run({ viewer, params, body, deps }) {
      const found = await deps.packages.find(viewer, addressOf(params), 'manage');
      await deps.packages.setVisibility(viewer, found, body.visibility === 'public' ? 'PUBLIC' : 'PRIVATE');
      return noContent();
    },
  }),
  operation({
    ...read,
    id: 'getLatestPackageVersion',
    method: 'GET',
    path: `${one}/-/latest`,
    summary: 'Get the newest version of a package, or the most recently tagged version of an image',
    status: 200,
    response: giteaPackage,
    async run({ params, ...place }) {
      const { deps, viewer } = place;
      const found = await deps.packages.find(viewer, addressOf(params));
      const latest = await deps.packages.versions.latest(found.package);
      if (latest === null) throw packageNotFound();
      return json(await showOne(place, found.package, latest));
    },
  }),
  operation({
    ...write,
    id: 'linkPackage',
    method: 'POST',
    path: `${one}/-/link/{repository}`,
    summary: 'Link a package to a repository of its owner',
    status: 201,
    refuses: [404, 409],
    async run({ viewer, params, deps }) {
      const found = await deps.packages.find(viewer, addressOf(params), 'manage');
      await deps.packages.link(viewer, found, params.repository);
      return noContent();
    },
  }),
  operation({
    ...write,
    id: 'unlinkPackage',
    method: 'POST',
    path: `${one}/-/unlink`,
    summary: 'Unlink a package from its repository, which makes the package private',
    status: 201,
    refuses: [404, 409],
    async run({ viewer, params, deps }) {
      const found = await deps.packages.find(viewer, addressOf(params), 'manage');
      await deps.packages.unlink(viewer, found);
      return noContent();
    },
  }),
  operation({
    ...read,
    id: 'getPackage',
    method: 'GET',
    path: version,
    summary: 'Get a package version; for an image, by tag or digest',
    status: 200,
    response: giteaPackage,
    async run({ params, ...place }) {
      const { found, named } = await versionOf(place.deps, place.viewer, params);
      return json(await showOne(place, found.package, named));
    },
  }),
  operation({
    ...write,
    id: 'deletePackageVersion',
    method: 'DELETE',
    path: version,
    summary: 'Delete a package version; it can be restored within the trash retention period',
    description:
      'For an image: a digest deletes the version; a tag deletes only the tag if another tag points to the same version.',
    status: 204,
    async run({ viewer, params, deps }) {
      const found = await deps.packages.find(viewer, addressOf(params), 'delete');
      const named = await deps.packages.versions.named(found, params.version);
      await deps.packages.versions.deleteReference(viewer, found, named);
      return noContent();
    },
  }),
  operation({
    ...read,
    id: 'listPackageFiles',
    method: 'GET',
    path: `${version}/files`,
    summary: 'List the files of a version; for an image, its manifest, config and layers',
    status: 200,
    response: z.array(giteaPackageFile),
    async run({ params, deps, viewer }) {
      const { named } = await versionOf(deps, viewer, params);
      return json((await deps.packages.files.ofVersion(named.version.id)).map(packageFilePayload));
    },
  }),
  operation({
    ...write,
    id: 'restorePackageVersion',
    method: 'POST',
    path: `${version}/restore`,
    summary: 'Restore a deleted package version',
    status: 200,
    response: giteaPackage,
    async run({ params, ...place }) {
      const { deps, viewer } = place;
      const found = await deps.packages.find(viewer, addressOf(params), 'delete');
      const row = await deps.packages.versions.trashed(found, params.version);
      await deps.packages.versions.restore(viewer, found, row);
      return json(await showOne(place, found.package, { version: row, tag: null }));
    },
  }),
];
