import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import { invalid, notFound, nullIfNotFound, isDomainError, unavailable } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { Action, Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { changeSettingsFile } from './change-settings-file.ts';
import { withHint } from '../report-error.ts';
import type { Column } from '../terminal/output.ts';
import { showProgress } from '../terminal/progress.ts';
import { findRepository } from './find-repository.ts';

/** `hearth actions …`: the actions that workflows use, on this server. */
export function addActionsCommands(program: Command, run: Run): void {
  const actions = addNoun(program, 'actions', 'workflow actions on this server, for offline use');
  withExamples(
    actions
      .command('mirror')
      .description('mirror actions, or update existing mirrors; workflows in them do not run')
      .argument('<action...>', 'checkout (short for actions/checkout), or owner/name')
      .option('--owner <person>', 'first owner of an organisation that does not exist yet')
      .option('--from <url>', 'forge to mirror them from', 'https://github.com')
      .option(
        '--bundle <path>',
        'offline: a git bundle, or a folder with one bundle per action, such as checkout.bundle',
      )
      .action(run(mirrorActions)),
    'hearth actions mirror checkout cache upload-artifact --owner alice',
    'hearth actions mirror checkout --bundle checkout.bundle --owner alice',
    'hearth actions mirror checkout docker/login-action --bundle /media/actions',
  );
  withExamples(
    actions
      .command('use')
      .description('write ci.actions_url, the URL that runners fetch actions from, to the settings file')
      .argument('<url>', 'self for this server, or the URL of a forge')
      .action(run(useActions)),
    'hearth actions use self',
    'hearth actions use https://github.com',
  );
}

interface MirrorOptions {
  owner?: string;
  from: string;
  bundle?: string;
}

interface Mirrored {
  name: string;
  source: string;
  state: string;
}

const handle = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;

/** Throws `usage` if it is not the name of an action. */
function splitAction(text: string): { owner: string; name: string } {
  const [owner = '', name = '', ...rest] = text.includes('/') ? text.split('/') : ['actions', text];
  if (rest.length > 0 || !handle.test(owner) || !handle.test(name))
    throw invalid('usage', `“${text}” is not an action: enter checkout, or owner/name.`);
  return { owner, name };
}

/**
 * Each action is a public repository under the owner that workflows name, since `uses: actions/checkout@v4` is looked
 * up there. Its workflows are disabled before anything is fetched. Throws `usage`, `bundle_not_found`, `owner_needed`,
 * and what mirrors and organisations refuse. The first failure ends the command: earlier actions stay; of a newly
 * created action that failed, only its organisation stays.
 */
async function mirrorActions(cli: Cli, options: MirrorOptions, ...given: (string | string[])[]): Promise<void> {
  const wanted = given.flat().map(splitAction);
  const sources = wanted.map((action) =>
    options.bundle === undefined ? null : bundleOf(options.bundle, action, wanted.length),
  );
  const modules = await cli.openModules();
  const rows: Mirrored[] = [];
  for (const [at, action] of wanted.entries()) {
    const { found, isNew } = await prepareRepository(modules, action, options);
    const source = sources[at] ?? `${options.from.replace(/\/+$/, '')}/${action.owner}/${action.name}`;
    const fill = sources[at] == null ? fetchMirror : readBundle;
    const state = await fill(cli, modules, found, source).catch(async (error: unknown) => {
      // Removed, because an empty repository would hide that the action is missing.
      if (isNew) await modules.repositories.trash.discard(found.repository);
      throw error;
    });
    rows.push({ name: `${found.canonical.owner}/${found.canonical.name}`, source, state });
  }
  const columns: Column<Mirrored>[] = [
    { title: 'ACTION', cell: (row) => row.name, whole: true },
    { title: 'FROM', cell: (row) => row.source },
    { title: 'STATE', cell: (row) => row.state },
  ];
  cli.output.list(rows, columns, ['action', 'actions'], (row) => row);
  if (modules.config.ci.actionsUrl !== 'self')
    cli.output.message(
      `Workflows use actions from ${modules.config.ci.actionsUrl}. To use the ones on this server: hearth actions use self`,
    );
}

/**
 * The file of an action: the path itself for a single action, otherwise a file in that folder. Throws
 * `bundle_not_found`.
 */
function bundleOf(given: string, { owner, name }: { owner: string; name: string }, count: number): string {
  const candidates =
    existsSync(given) && statSync(given).isDirectory()
      ? [
          path.join(given, owner, `${name}.bundle`),
          ...(owner === 'actions' ? [path.join(given, `${name}.bundle`)] : []),
        ]
      : count === 1
        ? [given]
        : [];
  const file = candidates.find((one) => existsSync(one));
  if (file === undefined)
    throw withHint(
      notFound('bundle_not_found', `No bundle of ${owner}/${name} found at ${given}.`),
      `on a machine with network access: git clone --mirror https://github.com/${owner}/${name} && git -C ${name}.git bundle create ../${name}.bundle --all`,
    );
  return path.resolve(file);
}

/** Throws `owner_needed` if an organisation must be created. */
async function prepareRepository(
  modules: Modules,
  { owner, name }: { owner: string; name: string },
  { owner: person }: MirrorOptions,
): Promise<{ found: Found; isNew: boolean }> {
  if ((await modules.owners.resolve(owner)) === null) {
    if (person === undefined)
      throw invalid('owner_needed', `The organisation ${owner} does not exist yet. Specify its owner: --owner alice`);
    await modules.organisations.create(localAdministrator, { name: owner, owner: person });
  }
  const text = `${owner}/${name}`;
  let found = await findRepository(modules, text).catch(nullIfNotFound);
  const isNew = found === null;
  if (found === null) {
    const description = `The action ${text}`;
    await modules.repositories.create(localAdministrator, { owner, name, visibility: 'PUBLIC', description });
    found = await findRepository(modules, text);
  }
  await modules.ci.settings.change(localAdministrator, found, { isEnabled: false });
  return { found, isNew };
}

/** Throws `mirror_failed`, and what `mirrors.save` does. */
async function fetchMirror(cli: Cli, { mirrors }: Modules, found: Found, address: string): Promise<string> {
  const { id } = found.repository;
  const before = await mirrors.find(id);
  const progress = showProgress(cli);
  try {
    progress.step({ done: 0, total: 0, item: address });
    if (before === null)
      await mirrors.save(localAdministrator, found, {
        direction: 'pull',
        address,
        intervalMs: 24 * 3_600_000,
        prune: false,
      });
    else await mirrors.sync(id);
    await mirrors.runDue();
  } catch (error) {
    throw isDomainError(error) ? unavailable('mirror_failed', `${address}: ${error.message}`) : error;
  } finally {
    progress.end();
  }
  const after = await mirrors.find(id);
  if (after?.lastError != null) throw unavailable('mirror_failed', `${address}: ${after.lastError}`);
  return before === null ? 'mirrored, daily' : 'up to date';
}

async function readBundle(cli: Cli, modules: Modules, found: Found, source: string): Promise<string> {
  const [{ updateFromBundle }, { systemRandom }] = await Promise.all([
    import('../../mirrors/index.ts'),
    import('../../kernel/index.ts'),
  ]);
  const progress = showProgress(cli);
  try {
    progress.step({ done: 0, total: 0, item: source });
    const temporaryFolder = path.join(modules.config.dataDir, 'tmp');
    const { moved, refused } = await updateFromBundle(
      { git: modules.git, repositories: modules.repositories, random: systemRandom, temporaryFolder },
      found,
      source,
    );
    for (const one of refused.slice(0, 20)) cli.output.message(one);
    return moved === 0 ? 'up to date' : `${moved} branches and tags`;
  } finally {
    progress.end();
  }
}

/** Throws `usage`, `no_settings_file`, `invalid_settings_file`. */
const useActions: Action<object, [string]> = async (cli, _options, url) => {
  if (url !== 'self' && !/^https?:\/\/[^\s/]+/.test(url))
    throw invalid('usage', 'Enter self, or a URL such as https://github.com.');
  const file = await changeSettingsFile(cli, 'ci.actions_url', url);
  cli.output.result(`Set ci.actions_url = "${url}" in ${file}. Restart the server to apply it.`, {
    file,
    actionsUrl: url,
  });
};
