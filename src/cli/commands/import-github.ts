import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import { invalid, isRefusal } from '../../kernel/index.ts';
import type { RemoteRepository } from '../../mirrors/index.ts';
import type { Action, Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { counted } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { readSecret } from '../terminal/read-secret.ts';
import { showProgress } from '../terminal/progress.ts';

/** `hearth import github`: all repositories of an account on GitHub. */
export function addImportGithubCommand(imports: Command, run: Run): void {
  withExamples(
    imports
      .command('github')
      .description("import a GitHub account's repositories")
      .argument('<login>', 'GitHub account name')
      .requiredOption('--user <name>', 'user or organisation on this server that will own the repositories')
      .option('--stars', "import the account's starred repositories instead of its own")
      .option('--watch', 'keep each repository in sync as a pull mirror')
      .option('--no-releases', 'do not import releases')
      .option('--keep-visibility', 'keep public repositories public (default: all private)')
      .option('--secret-file <file>', 'file with an access token of the account, to import private repositories')
      .option('--secret-stdin', 'read the access token from standard input')
      .option(
        '--api <url>',
        'API URL of another GitHub-compatible server; for Gitea, its URL followed by /api/v1',
        'https://api.github.com',
      )
      .option('--dry-run', 'only list the repositories')
      .action(run(importGithub)),
    'hearth import github alice --user alice --dry-run',
    'hearth import github alice --user alice --keep-visibility --secret-file token',
    'hearth import github alice --user alice --stars --watch',
    'hearth import github alice --user alice --api http://192.168.1.5:3000/api/v1',
  );
}

interface Options {
  user: string;
  stars?: true;
  watch?: true;
  /** Commander sets it to false for `--no-releases`. */
  releases: boolean;
  keepVisibility?: true;
  secretFile?: string;
  secretStdin?: true;
  api: string;
  dryRun?: true;
}

interface Row {
  name: string;
  from: string;
  result: string;
  isFailed: boolean;
}

const columns: Column<Row>[] = [
  { title: 'NAME', cell: ({ name }) => name, whole: true },
  { title: 'FROM', cell: ({ from }) => from },
  { title: 'RESULT', cell: ({ result }) => result, whole: true },
];

const toJson = ({ name, from, result, isFailed }: Row): object => ({ name, from, result, failed: isFailed });

const importGithub: Action<Options, [string]> = async (cli, options, login) => {
  if (!/^[\w.-]{1,100}$/.test(login)) throw invalid('usage', `${JSON.stringify(login)} is not a valid account name.`);
  const secret = options.secretFile === undefined && !options.secretStdin ? '' : await readSecret(cli, options);
  const modules = await cli.openModules();
  const owner = await modules.owners.resolve(options.user);
  if (owner === null) throw invalid('no_such_owner', `No user or organisation is named ${options.user}.`);
  const listed = await modules.mirrors.repositoriesAt({
    api: options.api,
    login,
    isStarred: options.stars === true,
    secret,
  });
  const rows: Row[] = [];
  const progress = showProgress(cli);
  for (const [done, one] of listed.entries()) {
    progress.step({ done, total: listed.length, item: one.fullName });
    const name = `${owner.handle}/${one.name}`;
    rows.push({
      name,
      from: one.fullName,
      ...(await bring(cli, options, { owner: owner.handle, login, secret }, one)),
    });
  }
  progress.end();
  if (rows.some(({ isFailed }) => isFailed)) cli.exitCode = 1;
  cli.output.list(rows, columns, ['repository', 'repositories'], toJson);
  if (listed.length === 0)
    cli.output.message(`${login} has no repositories on that server${secret === '' ? ' that are public' : ''}.`);
};

type Account = { owner: string; login: string; secret: string };

/** A failed import does not stop the others. */
async function bring(
  cli: Cli,
  options: Options,
  { owner, login, secret }: Account,
  one: RemoteRepository,
): Promise<Pick<Row, 'result' | 'isFailed'>> {
  const { repositories, mirrors, git } = await cli.openModules();
  const isThere = await repositories.find(localAdministrator, owner, one.name).then(
    () => true,
    () => false,
  );
  if (isThere) return { result: 'skipped: the name is in use here', isFailed: false };
  const visibility = options.keepVisibility && !one.isPrivate ? 'PUBLIC' : 'PRIVATE';
  if (options.dryRun) return { result: `would be imported, ${visibility.toLowerCase()}`, isFailed: false };
  try {
    const account = secret !== '' && isSameService(options.api, one.cloneUrl) ? { username: login, secret } : {};
    const { id } = await mirrors.import(localAdministrator, {
      owner,
      name: one.name,
      description: one.description,
      visibility,
      address: one.cloneUrl,
      ...account,
      keepMirroring: options.watch === true,
      withReleases: options.releases && /^https?:/.test(one.cloneUrl),
    });
    await mirrors.runDue();
    const error = (await mirrors.find(id))?.lastError;
    const { path } = await repositories.find(localAdministrator, owner, one.name);
    const refs = counted((await git.refs.list(path)).size, 'ref', 'refs');
    if (error != null)
      return {
        result: `is there, ${refs === '0 refs' ? 'but still empty' : `with ${refs}`}: ${error}`,
        isFailed: true,
      };
    return {
      result: `imported, ${visibility.toLowerCase()}: ${refs}`,
      isFailed: false,
    };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { result: `failed: ${error.message}`, isFailed: true };
  }
}

/** The token is sent only to the server that issued it, whatever URLs a response contains. */
function isSameService(api: string, cloneUrl: string): boolean {
  const [apiUrl, url] = [new URL(api), URL.parse(cloneUrl)];
  return (
    url !== null && url.protocol === apiUrl.protocol && (url.host === apiUrl.host || `api.${url.host}` === apiUrl.host)
  );
}
