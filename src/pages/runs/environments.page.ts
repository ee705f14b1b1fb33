import { allows } from '../../access/index.ts';
import type { Environment } from '../../ci/index.ts';
import { repositoryUrl, runPathNumber } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { numberedPage } from '../app/numbered-page.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext, RepositoryPersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import type { RunsDeps } from './deps.ts';
import { environmentUrl, viewDeployment } from '../code/deployment.view.ts';
import { namesOfDeployers } from '../code/read-deployments.ts';
import { runUrl } from './run-row.view.ts';

/** The deployment rules of an environment, as short phrases. */
async function rulesOf({ ci }: Pick<RunsDeps, 'ci'>, environment: Environment): Promise<string[]> {
  const { needsReview, waitMinutes, refPolicy, refs, preventsSelfReview } = environment;
  const names = needsReview ? await ci.environments.namesOfReviewers(environment) : [];
  return [
    ...(needsReview
      ? [
          names.length === 0
            ? t('runs.environments.all_reviewers_have_left')
            : t('runs.environments.reviewed_by_names', { names: names.join(', ') }),
        ]
      : []),
    ...(needsReview && preventsSelfReview ? [t('runs.environments.not_by_the_user_who_starts')] : []),
    ...(waitMinutes > 0 ? [t('runs.environments.waits_minutes', { count: waitMinutes })] : []),
    ...(refPolicy === 'protected' ? [t('runs.environments.protected_branches_and_tags')] : []),
    ...(refPolicy === 'custom'
      ? [
          refs.length === 0
            ? t('runs.environments.no_branch_or_tag')
            : t('runs.environments.only_patterns', { patterns: refs.map(({ pattern }) => pattern).join(', ') }),
        ]
      : []),
  ];
}

/** All environments, each with its current deployment. */
export const showEnvironments: Page<RepositoryContext, RunsDeps> = async ({ found, query }, deps): Promise<Reply> => {
  const { ci, clock } = deps;
  const head = viewRepositoryHeader(found);
  const environments = await ci.environments.list(found);
  const present = await ci.environments.present(environments.map(({ id }) => id));
  const names = await namesOfDeployers([...present.values()], deps);
  return page('runs/environments', {
    repository: head,
    environments: await Promise.all(
      environments.map(async (environment) => {
        const deployed = present.get(environment.id);
        return {
          name: environment.name,
          url: environmentUrl(head.url, environment.name),
          rules: await rulesOf(deps, environment),
          present: deployed === undefined ? null : viewDeployment(deployed, head.url, names, clock.now()),
        };
      }),
    ),
    mayChange: allows(found.level, 'admin'),
    notice: viewFlashMessage(query),
  });
};

const nameIn = ({ params }: RepositoryContext): string => params['environment'] ?? '';

async function environmentPage(
  context: RepositoryContext,
  deps: RunsDeps,
  name: string,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { found, query } = context;
  const { ci, clock } = deps;
  const head = viewRepositoryHeader(found);
  const environment = await ci.environments.find(found, name);
  const url = environmentUrl(head.url, environment.name);
  const { rows, next, previous } = await numberedPage(
    async (paging) =>
      (await ci.environments.deployments.list(found, { environment: environment.name }, paging)).deployments,
    query,
    url,
  );
  const present = (await ci.environments.present([environment.id])).get(environment.id);
  const names = await namesOfDeployers([...rows, ...(present === undefined ? [] : [present])], deps);
  const view = (row: (typeof rows)[number]) => viewDeployment(row, head.url, names, clock.now());
  return page('runs/environment', {
    repository: head,
    environment: {
      name: environment.name,
      url,
      settingsUrl: allows(found.level, 'admin') ? environmentUrl(`${head.url}/settings`, environment.name) : null,
    },
    rules: await rulesOf(deps, environment),
    present: present === undefined ? null : view(present),
    deployments: rows.map(view),
    next,
    previous,
    mayRedeploy: allows(found.level, 'write') && found.repository.archivedAt === null,
    refusal,
    notice: viewFlashMessage(query),
  });
}

/** One environment: its rules, its current deployment, and the history. Query: `page`. */
export const showEnvironment: Page<RepositoryContext, RunsDeps> = (context, deps) =>
  environmentPage(context, deps, nameIn(context), null);

/** Field `deployment`: deploys its commit again; redirects to the run. */
export const redeploy: Page<RepositoryPersonContext, RunsDeps> = async (context, deps): Promise<Reply> => {
  const { viewer, found, form } = context;
  const { deployments } = deps.ci.environments;
  const { id, environment } = await deployments.find(found, runPathNumber(form.text('deployment')));
  return submitForm(
    async () => {
      const run = await deployments.again(viewer, found, id);
      return seeOther(withFlashMessage(runUrl(repositoryUrl(found.canonical), run.number), 'run-again'));
    },
    (refusal) => environmentPage(context, deps, environment, refusal),
  );
};
