import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import type { Modules } from '../../app/index.ts';
import type { CheckedKind, CopiedKind } from '../../doctor/index.ts';
import { conflict, invalid } from '../../kernel/index.ts';
import type { QueryRows, ObjectKind, ObjectStore } from '../../objects/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import type { Column } from '../terminal/output.ts';
import { showProgress } from '../terminal/progress.ts';

/** `hearth objects …`: objects in a folder or a bucket, and copies between them. */
export function addObjectsCommands(program: Command, run: Run): void {
  const objects = addNoun(program, 'objects', 'attachments, artifacts, logs, images, release files and LFS objects');
  withExamples(
    objects
      .command('check')
      .description('compare the database with the store; exits with 7 for missing, changed or unknown objects')
      .addArgument(new Argument('[kind...]', 'only these kinds, as shown in the list'))
      .option('--read', 'read every object and compare its SHA-256 hash')
      .action(run(check)),
    'hearth objects check',
    'hearth objects check --read "LFS objects"',
  );
  withExamples(
    objects
      .command('copy')
      .description('copy all objects to the configured bucket or to the data folder; can be interrupted and repeated')
      .addArgument(new Argument('[kind...]', 'only these kinds, as shown in the list'))
      .addOption(new Option('--to <store>', 'target of the copy').choices(['s3', 'folder']).makeOptionMandatory())
      .option('--remove', 'remove each object from the source after copying; only if the source is not in use')
      .action(run(copy)),
    'hearth objects copy --to s3',
    'hearth objects copy --to s3 --remove',
    'hearth objects copy --to folder attachments',
  );
}

/** Throws `usage` for an unknown kind. */
function chosen<Kind extends ObjectKind>(kinds: readonly Kind[], all: readonly ObjectKind[], names: string[]): Kind[] {
  const unknown = names.find((name) => !all.some((kind) => kind.name === name));
  if (unknown !== undefined)
    throw invalid('usage', `The kind "${unknown}" does not exist. Kinds: ${all.map(({ name }) => name).join(', ')}.`);
  return kinds.filter(({ name }) => names.length === 0 || names.includes(name));
}

const rowsIn =
  ({ db }: Modules): QueryRows =>
  (sql, parameters) =>
    db.read.query(sql, parameters) as Promise<Record<string, unknown>[]>;

async function check(cli: Cli, { read }: { read?: true }, ...given: (string | string[])[]): Promise<void> {
  const names = given.flat();
  const modules = await cli.openModules();
  const { checkObjects, fileKinds, objectKinds } = await import('../../doctor/index.ts');
  const { objects: store, objectFolder: folder, clock } = modules;
  // In a folder, images are separate files, which the doctor's group `images` checks.
  const kinds = chosen(store.place === 's3' ? objectKinds : fileKinds, objectKinds, names);
  const progress = showProgress(cli);
  const checked: CheckedKind[] = [];
  try {
    for (const kind of kinds) {
      let done = 0;
      const onObject = (item: string): void => progress.step({ done: (done += 1), total: 0, item });
      const options = { store, folder, ask: rowsIn(modules), read: read === true, now: clock.now(), onObject };
      checked.push(await checkObjects(kind, options));
    }
  } finally {
    progress.end();
  }
  if (checked.some(({ faults }) => faults.length > 0)) cli.exitCode = 7;
  const numberOf = (row: CheckedKind, fault: string): number => row.faults.filter((one) => one.fault === fault).length;
  const columns: Column<CheckedKind>[] = [
    { title: 'KIND', cell: (row) => row.kind, whole: true },
    { title: 'OBJECTS', cell: (row) => row.objects, align: 'right' },
    { title: 'SIZE', cell: (row) => ({ bytes: row.bytes }), align: 'right' },
    { title: 'MISSING', cell: (row) => numberOf(row, 'missing') + numberOf(row, 'elsewhere'), align: 'right' },
    { title: 'CHANGED', cell: (row) => numberOf(row, 'changed'), align: 'right' },
    { title: 'FOREIGN', cell: (row) => numberOf(row, 'foreign'), align: 'right' },
  ];
  cli.output.list(checked, columns, ['kind', 'kinds'], (row) => row);
  const words = {
    missing: 'is missing',
    elsewhere: 'is still in the data folder',
    changed: 'is changed',
    foreign: 'belongs to nothing',
  };
  for (const { faults } of checked)
    for (const { key, fault } of faults.slice(0, 20)) cli.output.message(`${key} ${words[fault]}`);
}

interface CopyOptions {
  to: ObjectStore['place'];
  remove?: true;
}

/** Throws `object_store_not_set`, `store_in_use`. */
async function copy(cli: Cli, { to, remove }: CopyOptions, ...given: (string | string[])[]): Promise<void> {
  const names = given.flat();
  const modules = await cli.openModules();
  const { config, clock, logger } = modules;
  if (remove && config.objects.store !== to)
    throw conflict(
      'store_in_use',
      `Objects are read from ${config.objects.store}, so they cannot be removed from it yet.`,
    );
  const [{ copyImages, copyObjects, fileKinds, imageKinds, objectKinds }, { openStoreAs }, app, images, kernel] =
    await Promise.all([
      import('../../doctor/index.ts'),
      import('../../objects/index.ts'),
      import('../../app/index.ts'),
      import('../../images/index.ts'),
      import('../../kernel/index.ts'),
    ]);
  const random = kernel.systemRandom;
  const options = app.storeOptions(config, { clock, random, logger });
  const [folder, bucket] = [await openStoreAs(options, 'folder'), await openStoreAs(options, 's3')];
  const [source, target] = to === 's3' ? [folder, bucket] : [bucket, folder];
  const imagesOf = (store: ObjectStore, kind: (typeof imageKinds)[number]['image']) =>
    store.place === 's3'
      ? images.createObjectImageStore({ objects: store, kind, clock, logger })
      : images.createImageStore({ directory: app.imageFolder(config, kind), clock, random, logger });
  const progress = showProgress(cli);
  const copied: CopiedKind[] = [];
  const following = (): ((item: string) => void) => {
    let done = 0;
    return (item) => progress.step({ done: (done += 1), total: 0, item });
  };
  const shared = { ask: rowsIn(modules), remove: remove === true };
  try {
    for (const kind of chosen(imageKinds, objectKinds, names)) {
      const [from, into] = [imagesOf(source.store, kind.image), imagesOf(target.store, kind.image)];
      copied.push(await copyImages(kind, { ...shared, from, to: into, onObject: following() }));
    }
    for (const kind of chosen(fileKinds, objectKinds, names))
      copied.push(await copyObjects(kind, { ...shared, from: source.store, to: target.store, onObject: following() }));
  } finally {
    progress.end();
    bucket.close();
  }
  const problems = copied.flatMap((kind) => kind.problems);
  if (problems.length > 0) cli.exitCode = 7;
  const columns: Column<CopiedKind>[] = [
    { title: 'KIND', cell: (row) => row.kind, whole: true },
    { title: 'COPIED', cell: (row) => row.copied, align: 'right' },
    { title: 'SIZE', cell: (row) => ({ bytes: row.bytes }), align: 'right' },
    { title: 'PRESENT', cell: (row) => row.present, align: 'right' },
    { title: 'REMOVED', cell: (row) => row.removed, align: 'right' },
    { title: 'PROBLEMS', cell: (row) => row.problems.length, align: 'right' },
  ];
  cli.output.list(copied, columns, ['kind', 'kinds'], (row) => row);
  for (const one of problems.slice(0, 50)) cli.output.message(one);
  if (config.objects.store !== to && problems.length === 0)
    cli.output.message(
      `To switch: stop the server, run this command again, set objects.store = "${to}", start the server, then run hearth objects check`,
    );
}
