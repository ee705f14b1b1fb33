import type { Command } from 'commander';
import { conflict, invalid } from '../../kernel/index.ts';
import type { ListedVersion } from '../../packages/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { escapeControls } from '../terminal/escape-controls.ts';
import { counted, readableSize } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { actorOf } from './issue-output.ts';
import type { AsOption } from './issue-output.ts';
import { findOwner } from './find-owner.ts';
import {
  formatPackageReference,
  openPackage,
  packageColumns,
  packageToJson,
  readFormat,
  versionColumns,
  versionToJson,
  visibilityOf,
} from './package-output.ts';
import type { ListedPackage, OpenedPackage, ShownVersion } from './package-output.ts';
import { changeRetention } from './package-retention.ts';
import { readCount } from './read-count.ts';

const name = ['<owner/format/name>', 'package'] as const;
const as = ['--as <user>', 'act as this user'] as const;

/** `hearth package …`: packages of users and organisations. */
export function addPackageCommands(program: Command, run: Run): void {
  const noun = addNoun(program, 'package', 'packages of users and organisations');
  withExamples(
    noun
      .command('list')
      .description('list packages, most recently changed first')
      .argument('[owner]', 'user or organisation (default: all)')
      .option('--format <format>', 'only packages of this format')
      .option('--deleted', 'list deleted versions that can be restored; requires an owner')
      .option('--limit <number>', 'maximum number to list', '100')
      .option('--as <user>', 'show only content visible to this user')
      .action(run(listPackages)),
    'hearth package list alice',
    'hearth package list alice --deleted',
  );
  withExamples(
    noun
      .command('show')
      .description('show a package with its versions, or a version with its files')
      .argument(...name)
      .argument('[version]', 'version or image tag')
      .option('--limit <number>', 'maximum number of versions', '100')
      .option('--as <user>', 'show only content visible to this user')
      .action(run(showPackage)),
    'hearth package show alice/oci/app',
    'hearth package show alice/npm/@alice/lib 1.2.0',
  );
  withExamples(
    noun
      .command('delete')
      .alias('remove')
      .description('delete a version, or all versions; they can be restored from the trash')
      .argument(...name)
      .argument('[version]', 'version or image tag')
      .option('--all', 'delete all versions')
      .option('--dry-run', 'only show what would be deleted')
      .option(...as)
      .action(run(deletePackage)),
    'hearth package delete alice/npm/@alice/lib 1.2.0',
    'hearth package delete alice/oci/app --all',
  );
  withExamples(
    noun
      .command('restore')
      .description('restore a deleted version')
      .argument(...name)
      .argument('<version>', 'version; for images, the digest')
      .option(...as)
      .action(run(restorePackage)),
    'hearth package restore alice/npm/@alice/lib 1.2.0',
  );
  withExamples(
    noun
      .command('link')
      .description('link a package to a repository of the same owner')
      .argument(...name)
      .argument('<repository>', 'repository name without its owner')
      .option(...as)
      .action(run(linkPackage)),
    'hearth package link alice/oci/worker app',
  );
  withExamples(
    noun
      .command('unlink')
      .description('unlink a package from its repository; it becomes private')
      .argument(...name)
      .option(...as)
      .action(run(unlinkPackage)),
    'hearth package unlink alice/oci/worker',
  );
  withExamples(
    noun
      .command('visibility')
      .description('set the visibility of a package that has no repository')
      .argument(...name)
      .argument('<visibility>', 'public or private')
      .option(...as)
      .action(run(setVisibility)),
    'hearth package visibility alice/generic/tool private',
  );
  withExamples(
    noun
      .command('retention')
      .description('show or set the retention rules of a package or an owner (owner, owner/format)')
      .argument('[name]', 'package, owner, or owner/format; omit it with --apply to include all')
      .option('--keep <number>', 'number of newest versions to keep')
      .option('--keep-tags <patterns>', 'keep these versions and tags, separated by commas; "*" matches anything')
      .option('--older-than <days>', 'keep versions younger than this')
      .option('--end', 'remove the rules')
      .option('--dry-run', 'only show the versions that the rules would delete now')
      .option('--apply', 'delete versions that the rules do not keep, like the nightly task')
      .option(...as)
      .action(run(changeRetention)),
    'hearth package retention alice/oci/app --keep 10 --keep-tags "v*" --dry-run',
    'hearth package retention alice/oci --older-than 90',
    'hearth package retention --apply',
  );
  withExamples(
    noun
      .command('gc')
      .description('remove blobs that no version or recent upload uses, like the nightly task')
      .action(run(collect)),
    'hearth package gc',
  );
}

type ListOptions = AsOption & { format?: string; deleted?: true; limit: string };

const listPackages: Action<ListOptions, [string | undefined]> = async (cli, options, handle) => {
  const limit = readCount(options.limit);
  const modules = await cli.openModules();
  const format = options.format === undefined ? {} : { format: readFormat(modules, options.format) };
  const viewer = await actorOf(modules, options);
  const owner = handle === undefined ? null : await findOwner(modules, handle);
  if (options.deleted === true) {
    if (owner === null) throw invalid('usage', '--deleted requires an owner.');
    const rows: ListedVersion[] = [];
    for (const row of await modules.packages.trashOf(owner.id, limit)) {
      const at = { owner: owner.handle, format: row.package.format, name: row.package.name };
      const found = await modules.packages.find(viewer, at).catch(() => null);
      if (found !== null && modules.packages.mayOn(viewer, found, 'delete')) rows.push(row);
    }
    return cli.output.list(rows, deletedColumns, ['deleted version', 'deleted versions'], (row) => ({
      format: row.package.format,
      name: row.package.name,
      ...versionToJson({ row: row.version, tags: [] }),
    }));
  }
  const filter = { ...(owner === null ? {} : { ownerId: owner.id }), ...format, limit };
  const rows = await modules.packages.list(viewer, filter);
  const [owners, located] = await Promise.all([
    modules.owners.ownersById(rows.map(({ ownerId }) => ownerId)),
    modules.repositories.locate(rows.flatMap(({ repositoryId }) => repositoryId ?? [])),
  ]);
  const listed = rows.map(
    (row): ListedPackage => ({
      owner: owners.get(row.ownerId)?.handle ?? row.ownerId,
      row,
      repository: row.repositoryId === null ? null : (located.get(row.repositoryId)?.repository.name ?? null),
    }),
  );
  cli.output.list(listed, packageColumns, ['package', 'packages'], packageToJson);
};

const deletedColumns: Column<ListedVersion>[] = [
  { title: 'FORMAT', cell: (row) => row.package.format },
  { title: 'NAME', cell: (row) => row.package.name, whole: true },
  { title: 'VERSION', cell: (row) => row.version.version, whole: true },
  { title: 'DELETED', cell: (row) => ({ epochMs: row.version.deletedAt, otherwise: '' }) },
];

async function listedOf({ modules, found }: OpenedPackage): Promise<ListedPackage> {
  const { repositoryId } = found.package;
  const located = repositoryId === null ? null : (await modules.repositories.locate([repositoryId])).get(repositoryId);
  return { owner: found.owner.handle, row: found.package, repository: located?.repository.name ?? null };
}

const showPackage: Action<AsOption & { limit: string }, [string, string | undefined]> = async (
  cli,
  options,
  text,
  reference,
) => {
  const limit = readCount(options.limit);
  const opened = await openPackage(cli, options, text);
  const { modules, found } = opened;
  const listed = await listedOf(opened);
  if (reference !== undefined) {
    const { version: row } = await modules.packages.versions.named(found, reference);
    const [files, tags] = await Promise.all([
      modules.packages.files.ofVersion(row.id),
      modules.packages.tags.ofVersion(row.id),
    ]);
    const shown = { row, tags: tags.map((tag) => tag.name) };
    cli.output.show(
      [
        ['Package', formatPackageReference(found)],
        ['Version', row.version],
        ['Tags', shown.tags.join(', ')],
        ['Size', readableSize(row.bytes)],
        ['Downloads', String(row.downloads)],
        ['Published', { epochMs: row.createdAt, otherwise: '' }],
      ],
      {
        ...packageToJson(listed),
        version: versionToJson(shown),
        files: files.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 })),
      },
    );
    if (cli.output.json) return;
    cli.output.print(files.map((file) => `${file.sha256}  ${file.bytes}  ${escapeControls(file.name)}\n`).join(''));
    return;
  }
  const rows = await modules.packages.versions.page(found, { limit });
  const tags = await modules.packages.tags.ofVersions(rows.map(({ id }) => id));
  const versions = rows.map((row): ShownVersion => ({ row, tags: tags.get(row.id) ?? [] }));
  if (cli.output.json) {
    cli.output.show([], { ...packageToJson(listed), items: versions.map(versionToJson) });
    return;
  }
  cli.output.show(
    [
      ['Package', formatPackageReference(found)],
      ['Read by', visibilityOf(listed)],
      ['Versions', String(found.package.versions)],
    ],
    {},
  );
  cli.output.print('\n');
  cli.output.list(versions, versionColumns, ['version', 'versions'], versionToJson);
};

type DeleteOptions = AsOption & { all?: true; dryRun?: true };

const deletePackage: Action<DeleteOptions, [string, string | undefined]> = async (cli, options, text, reference) => {
  if ((reference === undefined) === (options.all === undefined)) throw invalid('usage', 'Specify a version or --all.');
  const opened = await openPackage(cli, options, text);
  const { modules, viewer, found } = opened;
  const at = formatPackageReference(found);
  const json = packageToJson(await listedOf(opened));
  if (reference === undefined) {
    const what = `${at} with ${counted(found.package.versions, 'version', 'versions')}`;
    if (options.dryRun) return cli.output.result(`Would delete ${what}.`, json);
    await cli.confirm(`Delete ${what}?`);
    const deleted = await modules.packages.delete(viewer, found);
    return cli.output.result(`Deleted ${counted(deleted, 'version', 'versions')} of ${at}.`, { ...json, deleted });
  }
  const named = await modules.packages.versions.named(found, reference);
  if (options.dryRun) return cli.output.result(`Would delete ${at} ${reference}.`, json);
  await cli.confirm(`Delete ${at} ${reference}?`);
  const isGone = await modules.packages.versions.deleteReference(viewer, found, named);
  const line = isGone
    ? `Deleted ${at} ${reference}.`
    : `Removed the tag ${reference} of ${at}. Other tags are unchanged.`;
  return cli.output.result(line, { ...json, version: named.version.version, deleted: isGone ? 1 : 0 });
};

const restorePackage: Action<AsOption, [string, string]> = async (cli, options, text, reference) => {
  const opened = await openPackage(cli, options, text);
  const { modules, viewer, found } = opened;
  const row = await modules.packages.versions.trashed(found, reference);
  await modules.packages.versions.restore(viewer, found, row);
  cli.output.result(`Restored ${formatPackageReference(found)} ${row.version}.`, packageToJson(await listedOf(opened)));
};

const linkPackage: Action<AsOption, [string, string]> = async (cli, options, text, repository) => {
  const opened = await openPackage(cli, options, text);
  const { modules, viewer, found } = opened;
  const row = await modules.packages.link(viewer, found, repository);
  const listed = await listedOf({ ...opened, found: { ...found, package: row } });
  cli.output.result(`${formatPackageReference(found)} is now linked to ${repository}.`, packageToJson(listed));
};

const unlinkPackage: Action<AsOption, [string]> = async (cli, options, text) => {
  const opened = await openPackage(cli, options, text);
  const { modules, viewer, found } = opened;
  const row = await modules.packages.unlink(viewer, found);
  const listed = await listedOf({ ...opened, found: { ...found, package: row } });
  cli.output.result(
    `${formatPackageReference(found)} is no longer linked to a repository and is now private.`,
    packageToJson(listed),
  );
};

const setVisibility: Action<AsOption, [string, string]> = async (cli, options, text, wanted) => {
  if (wanted !== 'public' && wanted !== 'private') throw invalid('usage', 'The visibility must be public or private.');
  const opened = await openPackage(cli, options, text);
  const { modules, viewer, found } = opened;
  const row = await modules.packages.setVisibility(viewer, found, wanted === 'public' ? 'PUBLIC' : 'PRIVATE');
  const listed = await listedOf({ ...opened, found: { ...found, package: row } });
  cli.output.result(`${formatPackageReference(found)} is now ${wanted}.`, packageToJson(listed));
};

const collect: Action<object, []> = async (cli) => {
  const modules = await cli.openModules();
  if (await modules.backups.isRunning())
    throw conflict(
      'backup_under_way',
      'A backup is in progress, so nothing can be removed. Try again when it has finished.',
    );
  const removed = await modules.packages.collect();
  cli.output.result(
    `Removed ${counted(removed.versions, 'version', 'versions')}, ${counted(removed.blobs, 'blob', 'blobs')} with ${readableSize(removed.bytes)}, ${counted(removed.uploads, 'upload', 'uploads')} and ${counted(removed.orphans, 'object', 'objects')} missing from the database.`,
    removed,
  );
};
