import type { Environment, EnvironmentChange } from '../../ci/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryPersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { viewTime } from '../app/times.view.ts';
import type { RunsDeps } from './deps.ts';
import { environmentUrl } from '../code/deployment.view.ts';

const settingsUrl = ({ found }: RepositoryPersonContext): string => `${repositoryUrl(found.canonical)}/settings`;
const pageUrl = (context: RepositoryPersonContext, name: string): string => environmentUrl(settingsUrl(context), name);

async function listPage(
  context: RepositoryPersonContext,
  { ci }: RunsDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { found, form, query } = context;
  const environments = await ci.environments.list(found);
  return page('runs/environment-list', {
    repository: viewRepositoryHeader(found),
    environments: environments.map(({ name, needsReview, waitMinutes, refPolicy }) => ({
      name,
      url: pageUrl(context, name),
      isProtected: needsReview || waitMinutes > 0 || refPolicy !== 'all',
    })),
    name: form.text('name'),
    refusal,
    notice: viewFlashMessage(query),
  });
}

export const showEnvironmentList: Page<RepositoryPersonContext, RunsDeps> = (context, deps) =>
  listPage(context, deps, null);

/** Field `name`: creates an environment without rules, and redirects to its settings. */
export const addEnvironment: Page<RepositoryPersonContext, RunsDeps> = (context, deps) =>
  submitForm(
    async () => {
      const { viewer, found, form } = context;
      const { name } = await deps.ci.environments.set(viewer, found, form.text('name'), {});
      return seeOther(withFlashMessage(pageUrl(context, name), 'environment-saved'));
    },
    (refusal) => listPage(context, deps, refusal),
  );

/** The patterns of one kind, one per line. */
const patternsOf = ({ refs }: Environment, kind: 'branch' | 'tag'): string =>
  refs
    .filter((ref) => ref.kind === kind)
    .map(({ pattern }) => pattern)
    .join('\n');

type Part = 'rules' | 'secret' | 'variable';

async function settingsPage(
  context: RepositoryPersonContext,
  deps: RunsDeps,
  name: string,
  { part, refusal }: { part: Part; refusal: FormRefusal | null },
): Promise<PageReply> {
  const { found, form, query } = context;
  const { environments } = deps.ci;
  const environment = await environments.find(found, name);
  const now = deps.clock.now();
  const [secrets, variables] = await Promise.all([
    environments.secrets.list(found, name),
    environments.variables.list(found, name),
  ]);
  const stored = {
    reviewers: (await environments.namesOfReviewers(environment)).join(', '),
    wait: environment.waitMinutes === 0 ? '' : String(environment.waitMinutes),
    preventsSelfReview: environment.preventsSelfReview,
    needsWrite: environment.needsWrite,
    adminsBypass: environment.adminsBypass,
    refPolicy: environment.refPolicy,
    branches: patternsOf(environment, 'branch'),
    tags: patternsOf(environment, 'tag'),
  };
  const wasTyped = part === 'rules' && refusal !== null;
  return page('runs/environment-settings', {
    repository: viewRepositoryHeader(found),
    environment: {
      name: environment.name,
      pageUrl: environmentUrl(repositoryUrl(found.canonical), environment.name),
      hasLostReviewers: environment.needsReview && environment.reviewers.length === 0,
    },
    to: `${settingsUrl(context)}/environments`,
    rules: wasTyped ? typedRules(context) : stored,
    secrets: secrets.map((one) => ({ name: one.name, updated: viewTime(one.updatedAt, now) })),
    variables: variables.map((one) => ({ name: one.name, value: one.value })),
    secretName: part === 'secret' ? form.text('name') : '',
    variable: part === 'variable' ? { name: form.text('name'), value: form.text('value') } : { name: '', value: '' },
    refusal: part === 'rules' ? refusal : null,
    secretRefusal: part === 'secret' ? refusal : null,
    variableRefusal: part === 'variable' ? refusal : null,
    notice: viewFlashMessage(query),
  });
}

const typedRules = ({ form }: RepositoryPersonContext) => ({
  reviewers: form.text('reviewers'),
  wait: form.text('wait_timer'),
  preventsSelfReview: form.text('prevent_self_review') === 'on',
  needsWrite: form.text('needs_write') === 'on',
  adminsBypass: form.text('admins_bypass') === 'on',
  refPolicy: form.text('ref_policy'),
  branches: form.text('branches'),
  tags: form.text('tags'),
});

const linesOf = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** An invalid number of minutes is refused as out of range. */
const minutesIn = (text: string): number =>
  text.trim() === '' ? 0 : /^\d{1,6}$/.test(text.trim()) ? Number(text) : -1;

function readRules(context: RepositoryPersonContext): EnvironmentChange {
  const typed = typedRules(context);
  return {
    reviewers: typed.reviewers.split(/[\s,]+/).filter((name) => name !== ''),
    waitMinutes: minutesIn(typed.wait),
    preventsSelfReview: typed.preventsSelfReview,
    needsWrite: typed.needsWrite,
    adminsBypass: typed.adminsBypass,
    // The check of the rules refuses other values.
    refPolicy: typed.refPolicy as 'all',
    refs: [
      ...linesOf(typed.branches).map((pattern) => ({ kind: 'branch' as const, pattern })),
      ...linesOf(typed.tags).map((pattern) => ({ kind: 'tag' as const, pattern })),
    ],
  };
}

export const showEnvironmentSettings: Page<RepositoryPersonContext, RunsDeps> = (context, deps) =>
  settingsPage(context, deps, context.params['environment'] ?? '', { part: 'rules', refusal: null });

/** A form for one environment, named by its field `environment`. */
const about =
  (
    part: Part,
    notice: string,
    work: (context: RepositoryPersonContext, deps: RunsDeps, name: string) => Promise<unknown>,
  ): Page<RepositoryPersonContext, RunsDeps> =>
  (context, deps): Promise<Reply> => {
    const name = context.form.text('environment');
    return submitForm(
      async () => {
        await work(context, deps, name);
        return seeOther(withFlashMessage(pageUrl(context, name), notice));
      },
      (refusal) => settingsPage(context, deps, name, { part, refusal }),
    );
  };

/**
 * Fields `reviewers`, `wait_timer`, `prevent_self_review`, `needs_write`, `admins_bypass`, `ref_policy`, `branches`,
 * `tags`.
 */
export const saveEnvironment = about('rules', 'environment-saved', async (context, { ci }, name) => {
  // The form must not recreate an environment that was deleted in the meantime.
  await ci.environments.find(context.found, name);
  await ci.environments.set(context.viewer, context.found, name, readRules(context));
});

const input = ({ form }: RepositoryPersonContext) => ({ name: form.text('name'), value: form.text('value') });

/** Fields `name`, `value`. A secret is never shown again. */
export const setEnvironmentSecret = about('secret', 'secret-saved', (context, { ci }, name) =>
  ci.environments.secrets.set(context.found, name, input(context)),
);
export const setEnvironmentVariable = about('variable', 'variable-saved', (context, { ci }, name) =>
  ci.environments.variables.set(context.found, name, input(context)),
);
/** Field `name`. */
export const removeEnvironmentSecret = about('secret', 'secret-removed', (context, { ci }, name) =>
  ci.environments.secrets.remove(context.found, name, context.form.text('name')),
);
export const removeEnvironmentVariable = about('variable', 'variable-removed', (context, { ci }, name) =>
  ci.environments.variables.remove(context.found, name, context.form.text('name')),
);

export const removeEnvironment: Page<RepositoryPersonContext, RunsDeps> = async (context, { ci }): Promise<Reply> => {
  await ci.environments.remove(context.viewer, context.found, context.form.text('environment'));
  return seeOther(withFlashMessage(`${settingsUrl(context)}/environments`, 'environment-removed'));
};
