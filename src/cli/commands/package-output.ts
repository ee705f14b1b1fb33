import type { PersonViewer } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { FormatName, FoundPackage, PackageRow, PackageVersionRow } from '../../packages/index.ts';
import type { Cli } from '../cli.ts';
import { isoOrNull } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { actorOf } from './issue-output.ts';
import type { AsOption } from './issue-output.ts';

/** Throws `usage`. Gitea calls an image a container. */
export function readFormat({ packages: { formats } }: Modules, text: string): FormatName {
  const name = text === 'container' ? 'oci' : text;
  const format = formats.find((one) => one === name);
  if (format === undefined)
    throw invalid('usage', `${JSON.stringify(text)} is not a package format. Use one of: ${formats.join(', ')}.`);
  return format;
}

/** A package as a command names it, `alice/npm/@alice/lib`. Throws `usage`. */
export function readPackageName(modules: Modules, text: string): { owner: string; format: FormatName; name: string } {
  const [, owner, format, name] = /^\/?([^/]+)\/([^/]+)\/(.+)$/.exec(text) ?? [];
  if (owner === undefined || format === undefined || name === undefined)
    throw invalid('usage', `${JSON.stringify(text)} is not a package. Use owner/format/name.`);
  return { owner, format: readFormat(modules, format), name };
}

export interface OpenedPackage {
  modules: Modules;
  viewer: PersonViewer;
  found: FoundPackage;
}

/** The acting user, and the package. */
export async function openPackage(cli: Cli, options: AsOption, text: string): Promise<OpenedPackage> {
  const modules = await cli.openModules();
  const at = readPackageName(modules, text);
  const viewer = await actorOf(modules, options);
  return { modules, viewer, found: await modules.packages.find(viewer, at) };
}

/** `alice/npm/@alice/lib`. */
export const formatPackageReference = ({ owner, package: { format, name } }: Pick<FoundPackage, 'owner' | 'package'>) =>
  `${owner.handle}/${format}/${name}`;

/** A package in a list, with the names for its ids. */
export interface ListedPackage {
  owner: string;
  row: PackageRow;
  repository: string | null;
}

export const visibilityOf = ({ row, repository }: ListedPackage): string =>
  repository === null ? row.visibility.toLowerCase() : `as ${repository}`;

export const packageColumns: Column<ListedPackage>[] = [
  { title: 'PACKAGE', cell: ({ owner, row }) => `${owner}/${row.format}/${row.name}`, whole: true },
  { title: 'VERSIONS', cell: ({ row }) => row.versions, align: 'right' },
  { title: 'READ BY', cell: visibilityOf },
  { title: 'UPDATED', cell: ({ row }) => ({ epochMs: row.updatedAt, otherwise: '' }) },
];

export const packageToJson = ({ owner, row, repository }: ListedPackage): object => ({
  owner,
  format: row.format,
  name: row.name,
  repository,
  visibility: repository === null ? row.visibility.toLowerCase() : null,
  versions: row.versions,
  createdAt: isoOrNull(row.createdAt),
  updatedAt: isoOrNull(row.updatedAt),
});

export interface ShownVersion {
  row: PackageVersionRow;
  tags: readonly string[];
}

export const versionColumns: Column<ShownVersion>[] = [
  { title: 'VERSION', cell: ({ row }) => row.version, whole: true },
  { title: 'TAGS', cell: ({ tags }) => tags.join(',') },
  { title: 'SIZE', cell: ({ row }) => ({ bytes: row.bytes }), align: 'right' },
  { title: 'DOWNLOADS', cell: ({ row }) => row.downloads, align: 'right' },
  { title: 'PUBLISHED', cell: ({ row }) => ({ epochMs: row.createdAt, otherwise: '' }) },
];

export const versionToJson = ({ row, tags }: ShownVersion): object => ({
  version: row.version,
  tags,
  bytes: row.bytes,
  downloads: row.downloads,
  publishedAt: isoOrNull(row.createdAt),
  deletedAt: isoOrNull(row.deletedAt),
});
