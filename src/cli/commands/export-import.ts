import { existsSync, statSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import type { Modules } from '../../app/index.ts';
import { conflict, invalid, isDomainError, notFound } from '../../kernel/index.ts';
import type { ImportRequest, BundleDeps } from '../../mirrors/index.ts';
import type { Action, Run } from '../action.ts';
import { cloneAddresses } from '../serving/addresses.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { readableSize } from '../terminal/output.ts';
import { withHint } from '../report-error.ts';
import { showProgress } from '../terminal/progress.ts';
import { findRepository, splitName } from './find-repository.ts';
import { addImportForgeCommands } from './import-forge.ts';
import { addImportGroupCommands } from './import-group.ts';
import { addImportGithubCommand } from './import-github.ts';
import { repositoryToJson } from './repository-output.ts';

/** `hearth export` and `hearth import`: a repository as one bundle that plain git can read. */
export function addExportImportCommands(program: Command, run: Run): void {
  withExamples(
    program
      .command('export')
      .description('export a repository to a single file: a git bundle with its settings, issues and pull requests')
      .argument('<owner/name>', 'repository')
      .argument('<file>', 'file to write')
      .option('--replace', 'overwrite an existing file')
      .option('--gitea', 'write a folder for gitea restore-repo and forgejo restore-repo instead')
      .action(run(exportRepository)),
    'hearth export alice/garden garden.bundle',
    'git clone garden.bundle              # without Hearth',
    'hearth export alice/garden /srv/garden --gitea',
  );
  const imports = withExamples(
    program
      .command('import')
      .description('import a repository from a file written by hearth export or git bundle')
      .argument('<file>', 'file written by hearth export or git bundle')
      .argument('[owner/name]', 'new repository (default: the name in the file)')
      .option('--public', 'make it public')
      .option('--private', 'make it private')
      .option(
        '--issues',
        'only import issues and pull requests into an existing repository; update the ones imported earlier',
      )
      .action(run(importFile)),
    'hearth import garden.bundle',
    'hearth import garden.bundle bob/garden --private',
    'hearth import garden.bundle bob/garden --issues',
  );
  addImportGithubCommand(imports, run);
  addImportForgeCommands(imports, run);
  addImportGroupCommands(imports, run);
}

/** `hearth repo adopt`: takes over a bare repository of this machine. */
export function addRepoAdoptCommand(repo: Command, run: Run): void {
  withExamples(
    repo
      .command('adopt')
      .description('copy an existing git repository on this machine into Hearth')
      .argument('<path>', 'its folder, bare or with a working tree; it stays unchanged')
      .argument('<owner/name>', 'new repository')
      .option('--public', 'make it public')
      .action(run(adopt)),
    'hearth repo adopt /srv/git/tool.git alice/tool',
  );
}

function bundleDeps(
  { git, repositories, issues, pulls, lfs, releases, clock, config }: Modules,
  random: BundleDeps['random'],
): BundleDeps {
  const temporaryFolder = path.join(config.dataDir, 'tmp');
  return { git, repositories, issues, pulls, lfs, releases, clock, random, temporaryFolder };
}

const exportRepository: Action<{ replace?: true; gitea?: true }, [string, string]> = async (
  cli,
  { replace, gitea },
  text,
  file,
) => {
  const target = path.resolve(cli.process.cwd(), file);
  if (gitea) return exportFolder(cli, text, target);
  if (existsSync(target) && !replace)
    throw conflict('file_exists', `${target} already exists; use --replace to overwrite it.`);
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const [{ exportBundle }, { systemRandom }] = await Promise.all([
    import('../../mirrors/index.ts'),
    import('../../kernel/index.ts'),
  ]);
  const { refs, pullRequests, bytes, leftOut } = await exportBundle(bundleDeps(modules, systemRandom), found, target);
  modules.logger.info('repository.exported', { repositoryId: found.repository.id, bytes });
  const name = `${found.canonical.owner}/${found.canonical.name}`;
  cli.output.result(
    `Wrote ${name} to ${target}: ${refs} branches and tags${pullsInWords(pullRequests)}, ${readableSize(bytes)}.`,
    {
      repository: name,
      file: target,
      refs,
      pullRequests,
      bytes,
      leftOut,
    },
  );
  if (leftOut.pullRequests > 0)
    cli.output.message(
      `Left out${pullsInWords(leftOut.pullRequests).replace(',', ':')} because of missing approval or missing commits. Backups contain all pull requests.`,
    );
};

async function exportFolder(cli: Cli, text: string, target: string): Promise<void> {
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const [{ exportDump }, { systemRandom }] = await Promise.all([
    import('../../imports/index.ts'),
    import('../../kernel/index.ts'),
  ]);
  const temporaryFolder = path.join(modules.config.dataDir, 'tmp');
  const { leftOut, ...counts } = await exportDump({ ...modules, random: systemRandom, temporaryFolder }, found, target);
  const name = `${found.canonical.owner}/${found.canonical.name}`;
  cli.output.result(
    `Wrote ${name} to ${target}: ${counts.issues} issues${pullsInWords(counts.pulls)}, ${counts.releases} releases. Restore it there with: gitea restore-repo --repo_dir ${target} --owner_name OWNER --repo_name NAME`,
    { repository: name, folder: target, ...counts, leftOut },
  );
}

/** `, 3 pull requests`, or nothing. */
const pullsInWords = (count: number): string =>
  count === 0 ? '' : `, ${count === 1 ? '1 pull request' : `${count} pull requests`}`;

interface ImportOptions {
  public?: true;
  private?: true;
  issues?: true;
}

const importFile: Action<ImportOptions, [string, string | undefined]> = async (cli, options, file, text) => {
  if (options.public && options.private) throw invalid('usage', 'Use only one of --public and --private.');
  const source = path.resolve(cli.process.cwd(), file);
  const found = statSync(source, { throwIfNoEntry: false });
  if (found?.isDirectory() === true)
    throw withHint(
      invalid('usage', `${source} is a folder.`),
      `to import a dump-repo folder: hearth import start ADDRESS OWNER/NAME --from ${file}`,
    );
  if (found?.isFile() !== true) throw notFound('no_such_file', `The file ${source} does not exist.`);
  if (!(await isBundle(source))) throw invalid('parcel_unreadable', `${source} is not a git bundle.`);
  if (options.issues) return importIssuesOf(cli, source, text);
  const visibility = options.public ? 'PUBLIC' : options.private ? 'PRIVATE' : undefined;
  await importSource(cli, source, { ...(text === undefined ? {} : splitName(text)), visibility });
};

async function importIssuesOf(cli: Cli, source: string, text: string | undefined): Promise<void> {
  if (text === undefined)
    throw invalid('usage', 'Specify the repository to add the issues to: hearth import FILE OWNER/NAME --issues');
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const [{ updateIssues }, { systemRandom }] = await Promise.all([
    import('../../mirrors/index.ts'),
    import('../../kernel/index.ts'),
  ]);
  const { added, updated } = await updateIssues(bundleDeps(modules, systemRandom), source, found);
  const name = `${found.canonical.owner}/${found.canonical.name}`;
  cli.output.result(`Imported into ${name}: ${issuesInWords({ added, updated })}.`, {
    repository: name,
    added,
    updated,
  });
}

const issuesInWords = ({ added, updated }: { added: number; updated: number }): string =>
  [`${added} ${added === 1 ? 'issue' : 'issues'} added`, ...(updated === 0 ? [] : [`${updated} updated`])].join(', ');

async function isBundle(file: string): Promise<boolean> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(16), 0, 16, 0);
    return /^# v\d git bundle$/.test(buffer.toString('latin1', 0, bytesRead).trimEnd());
  } finally {
    await handle.close();
  }
}

const adopt: Action<{ public?: true }, [string, string]> = async (cli, options, folder, text) => {
  const given = path.resolve(cli.process.cwd(), folder);
  const source = existsSync(path.join(given, '.git')) ? path.join(given, '.git') : given;
  const head = await readFile(path.join(source, 'HEAD'), 'utf8').catch(() => null);
  if (head === null) throw notFound('no_such_folder', `No git repository found in ${given}.`);
  const defaultBranch = /^ref: refs\/heads\/(.+)\n?$/.exec(head)?.[1];
  await importSource(cli, source, {
    ...splitName(text),
    visibility: options.public ? 'PUBLIC' : 'PRIVATE',
    defaultBranch,
  });
};

async function importSource(cli: Cli, source: string, wishes: ImportRequest): Promise<void> {
  const modules = await cli.openModules();
  const [{ importBundle }, { systemRandom }] = await Promise.all([
    import('../../mirrors/index.ts'),
    import('../../kernel/index.ts'),
  ]);
  const shown = showProgress(cli);
  const progress = (text: string): void => {
    const [, share, what] = /(\d+)%.*?(\(.*?\))?/.exec(text) ?? [];
    if (share !== undefined) shown.step({ done: Number(share), total: 100, item: what ?? path.basename(source) });
  };
  const { found, refs, refused, issues, pulls, releases } = await importBundle(
    bundleDeps(modules, systemRandom),
    source,
    wishes,
    {
      progress,
    },
  )
    .catch((error: unknown) => {
      const isUnknownOwner = isDomainError(error) && error.reason === 'no_such_owner' && wishes.owner === undefined;
      throw isUnknownOwner
        ? withHint(
            error,
            'the owner in this bundle does not exist on this server; specify another one: hearth import FILE OWNER/NAME',
          )
        : error;
    })
    .finally(shown.end);
  for (const line of refused) cli.output.message(`not imported: ${line}`);
  const { repository, canonical } = found;
  const clone = cloneAddresses(modules.config, canonical);
  cli.output.result(
    `Created ${repository.visibility.toLowerCase()} repository ${canonical.owner}/${canonical.name}: ${refs} branches and tags${issues === null || issues.added === pulls ? '' : `, ${issues.added - pulls} issues`}${pullsInWords(pulls)}${releases === 0 ? '' : `, ${releases} ${releases === 1 ? 'release' : 'releases'}`}. Clone it with: git clone ${clone.http}`,
    {
      ...repositoryToJson(repository, canonical.owner),
      refs,
      refused,
      issues: (issues?.added ?? 0) - pulls,
      pullRequests: pulls,
      releases,
      cloneHttp: clone.http,
      cloneSsh: clone.ssh,
    },
  );
}
