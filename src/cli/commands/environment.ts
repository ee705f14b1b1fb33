import type { Command } from 'commander';
import { Option } from 'commander';
import type { Modules } from '../../app/index.ts';
import type { DeploymentRow, Environment, EnvironmentChange } from '../../ci/index.ts';
import { invalid, shortRef } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { findRepository } from './find-repository.ts';
import { actorOf, splitList } from './issue-output.ts';
import type { AsOption } from './issue-output.ts';
import { readCount } from './read-count.ts';
import { readNumber } from './run-arguments.ts';

/** `hearth environment …`: environments of a repository, and deployments to them. */
export function addEnvironmentCommands(program: Command, run: Run): void {
  const environments = addNoun(program, 'environment', 'environments that jobs deploy to, and deployments');
  const command = (name: string, description: string): Command =>
    environments.command(name).description(description).argument('<owner/name>', 'repository');
  const one = (name: string, description: string): Command =>
    command(name, description).argument('<environment>', 'environment name');
  withExamples(
    command('list', 'list environments and what is deployed to each').action(run(listEnvironments)),
    'hearth environment list alice/garden',
  );
  withExamples(
    one('show', "show an environment's rules").action(run(showEnvironment)),
    'hearth environment show alice/garden production',
  );
  withExamples(
    one('set', 'add an environment, or change its rules; omitted options stay unchanged')
      .option('--reviewers <names>', 'users, and teams as organisation/team, separated by commas; empty for none')
      .option('--wait <minutes>', 'minutes that each job waits')
      .addOption(
        new Option('--refs <policy>', 'branches and tags that can be deployed from').choices([
          'all',
          'protected',
          'custom',
        ]),
      )
      .option('--branches <patterns>', 'branch patterns for --refs custom, separated by commas')
      .option('--tags <patterns>', 'tag patterns for --refs custom, separated by commas')
      .addOption(
        new Option('--self-review <choice>', 'whether users can review runs that they started').choices(['yes', 'no']),
      )
      .addOption(new Option('--needs-write <choice>', 'whether reviewers need write access').choices(['yes', 'no']))
      .addOption(
        new Option('--bypass <choice>', 'whether repository administrators can bypass the rules').choices([
          'yes',
          'no',
        ]),
      )
      .action(run(setEnvironment)),
    'hearth environment set acme/shop production --reviewers bob,acme/operations --self-review no',
    'hearth environment set acme/shop production --refs custom --tags "v*" --wait 10',
  );
  withExamples(
    one('delete', 'delete an environment and its secrets; waiting jobs fail')
      .alias('remove')
      .action(run(deleteEnvironment)),
    'hearth environment delete alice/garden review/12',
  );
  withExamples(
    command('history', 'list deployments, newest first')
      .argument('[environment]', 'environment name (default: all)')
      .option('--limit <count>', 'maximum number to list', '30')
      .action(run(listDeployments)),
    'hearth environment history alice/garden production',
  );
  withExamples(
    command('redeploy', 'deploy a commit again with another attempt of its job')
      .argument('<deployment>', 'deployment number, as shown by history')
      .option('--as <user>', 'act as this user')
      .action(run(redeploy)),
    'hearth environment redeploy alice/garden 12 --as bob',
  );
}

interface Listed {
  environment: Environment;
  present: DeploymentRow | undefined;
  reviewers: string[];
}

const words = (list: readonly string[]): string => (list.length === 0 ? '' : list.join(', '));

const toJson = ({ environment, present, reviewers }: Listed) => ({
  id: environment.id,
  name: environment.name,
  reviewers,
  needsReview: environment.needsReview,
  selfReview: !environment.preventsSelfReview,
  needsWrite: environment.needsWrite,
  bypass: environment.adminsBypass,
  waitMinutes: environment.waitMinutes,
  refs: environment.refPolicy,
  patterns: environment.refs.map(({ kind, pattern }) => ({ kind, pattern })),
  deployed: present === undefined ? null : deploymentJson(present),
});

const deploymentJson = ({ id, environment, state, ref, sha, url, createdAt }: DeploymentRow) => ({
  id,
  environment,
  state,
  ref: shortRef(ref),
  sha,
  url,
  createdAt: isoOrNull(createdAt),
});

const columns: Column<Listed>[] = [
  { title: 'NAME', cell: ({ environment }) => environment.name, whole: true },
  {
    title: 'REVIEWERS',
    cell: ({ reviewers, environment }) => words(reviewers) || (environment.needsReview ? 'all have left' : ''),
  },
  { title: 'WAIT', cell: ({ environment }) => environment.waitMinutes || '', align: 'right' },
  { title: 'REFS', cell: ({ environment }) => environment.refPolicy },
  { title: 'DEPLOYED', cell: ({ present }) => present?.sha.slice(0, 10) ?? '', whole: true },
  { title: 'AT', cell: ({ present }) => never(present?.createdAt ?? null) },
];

async function readListed({ ci }: Modules, environments: readonly Environment[]): Promise<Listed[]> {
  const present = await ci.environments.present(environments.map(({ id }) => id));
  return Promise.all(
    environments.map(async (environment) => ({
      environment,
      present: present.get(environment.id),
      reviewers: await ci.environments.namesOfReviewers(environment),
    })),
  );
}

const listEnvironments: Action<object, [string]> = async (cli, _options, text) => {
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const listed = await readListed(modules, await modules.ci.environments.list(found));
  cli.output.list(listed, columns, ['environment', 'environments'], toJson);
};

const showEnvironment: Action<object, [string, string]> = async (cli, _options, text, name) => {
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const [listed] = await readListed(modules, [await modules.ci.environments.find(found, name)]);
  const { environment, present, reviewers } = listed!;
  cli.output.show(
    [
      ['Name', environment.name],
      ['Reviewers', words(reviewers) || (environment.needsReview ? 'all have left' : 'none')],
      ['Self-review', environment.preventsSelfReview ? 'no' : 'yes'],
      ['Needs write', environment.needsWrite ? 'yes' : 'no'],
      ['Bypass', environment.adminsBypass ? 'yes' : 'no'],
      ['Wait', environment.waitMinutes === 0 ? 'none' : `${environment.waitMinutes} minutes`],
      ['Refs', environment.refPolicy],
      ...environment.refs.map(({ kind, pattern }) => [kind === 'tag' ? 'Tags' : 'Branches', pattern] as const),
      ['Deployed', present === undefined ? 'nothing' : `${present.sha.slice(0, 10)} of ${shortRef(present.ref)}`],
    ],
    toJson(listed!),
  );
};

interface SetOptions {
  reviewers?: string;
  wait?: string;
  refs?: 'all' | 'protected' | 'custom';
  branches?: string;
  tags?: string;
  selfReview?: 'yes' | 'no';
  needsWrite?: 'yes' | 'no';
  bypass?: 'yes' | 'no';
}

const choice = (given: 'yes' | 'no' | undefined): boolean | undefined =>
  given === undefined ? undefined : given === 'yes';

const setEnvironment: Action<SetOptions, [string, string]> = async (cli, options, text, name) => {
  const { reviewers, wait, refs, branches, tags, selfReview, needsWrite, bypass } = options;
  if (wait !== undefined && !/^\d{1,6}$/.test(wait)) throw invalid('usage', '--wait must be a number of minutes.');
  const selfReviews = choice(selfReview);
  const change: EnvironmentChange = {
    reviewers: splitList(reviewers),
    waitMinutes: wait === undefined ? undefined : Number(wait),
    preventsSelfReview: selfReviews === undefined ? undefined : !selfReviews,
    needsWrite: choice(needsWrite),
    adminsBypass: choice(bypass),
    refPolicy: refs,
    refs:
      branches === undefined && tags === undefined
        ? undefined
        : [
            ...(splitList(branches) ?? []).map((pattern) => ({ kind: 'branch' as const, pattern })),
            ...(splitList(tags) ?? []).map((pattern) => ({ kind: 'tag' as const, pattern })),
          ],
  };
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const viewer = await actorOf(modules, {});
  const environment = await modules.ci.environments.set(viewer, found, name, change);
  const [listed] = await readListed(modules, [environment]);
  cli.output.result(`The environment ${environment.name} is saved.`, toJson(listed!));
};

const deleteEnvironment: Action<object, [string, string]> = async (cli, _options, text, name) => {
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const { name: shown } = await modules.ci.environments.find(found, name);
  await modules.ci.environments.remove(await actorOf(modules, {}), found, shown);
  cli.output.result(`The environment ${shown} is deleted.`, { name: shown, deleted: true });
};

const deploymentColumns: Column<DeploymentRow>[] = [
  { title: 'DEPLOYMENT', cell: ({ id }) => id, align: 'right' },
  { title: 'ENVIRONMENT', cell: ({ environment }) => environment },
  { title: 'STATE', cell: ({ state }) => state, whole: true },
  { title: 'COMMIT', cell: ({ sha }) => sha.slice(0, 10), whole: true },
  { title: 'REF', cell: ({ ref }) => shortRef(ref) },
  { title: 'CREATED', cell: ({ createdAt }) => never(createdAt) },
  { title: 'ADDRESS', cell: ({ url }) => url ?? '' },
];

const listDeployments: Action<{ limit: string }, [string, string | undefined]> = async (
  cli,
  { limit },
  text,
  environment,
) => {
  const count = readCount(limit);
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const { environments } = modules.ci;
  if (environment !== undefined) await environments.find(found, environment);
  const { deployments } = await environments.deployments.list(
    found,
    { environment },
    { limit: Math.min(count, 10_000), skip: 0 },
  );
  cli.output.list(deployments, deploymentColumns, ['deployment', 'deployments'], deploymentJson);
};

const redeploy: Action<AsOption, [string, string]> = async (cli, options, text, number) => {
  const id = readNumber(number, 'Enter a deployment number, as shown by hearth environment history.');
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  const found = await findRepository(modules, text, viewer);
  const run = await modules.ci.environments.deployments.again(viewer, found, id);
  cli.output.result(`Run ${run.number} is deploying it again as attempt ${run.attempt}.`, {
    run: run.number,
    attempt: run.attempt,
  });
};
