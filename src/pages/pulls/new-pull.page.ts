import { isDomainError, unauthenticated } from '../../kernel/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Form } from '../../http/index.ts';
import { explainRefusal } from '../../issues/index.ts';
import { viewName } from '../app/printable-names.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { keepText } from '../issues/issue-comment.page.ts';
import { issueUrl } from '../issues/issue-urls.ts';
import { viewLabel } from '../issues/label.view.ts';
import { renderText } from '../markdown/render-text.ts';
import type { PullsDeps } from './deps.ts';
import { compareForPull, findHeadBranch, suggestBranches } from './new-pull-comparison.ts';

/** The values in the form. */
interface NewPullValues {
  base: string;
  head: string;
  /** Null until the branches are compared. */
  title: string | null;
  body: string | null;
  isDraft: boolean;
  maintainersMayPush: boolean;
  publishes: boolean;
  labels: string[];
  assignees: string;
  milestone: string;
}

/** Query: `base` and `head` (`branch` or `owner/name:branch`), `title` and `body`. Anonymous clients sign in first. */
export const showNewPull: Page<RepositoryContext, PullsDeps> = async (context, deps) => {
  const { query, found } = context;
  const refused = await refusedPage(context, deps);
  if (refused !== null) return refused;
  return formPage(context, deps, {
    ...blank,
    base: query.get('base')?.trim() || found.repository.defaultBranch,
    head: query.get('head')?.trim() ?? '',
    title: query.get('title'),
    body: query.get('body'),
  });
};

const blank = {
  isDraft: false,
  maintainersMayPush: true,
  publishes: false,
  labels: [],
  assignees: '',
  milestone: '',
};

const readForm = (form: Form): NewPullValues => ({
  base: form.text('base').trim(),
  head: form.text('head').trim(),
  title: form.text('title'),
  body: form.text('body'),
  isDraft: form.text('action') === 'draft',
  maintainersMayPush: form.text('maintainers_may_push') !== '',
  publishes: form.text('publishes') !== '',
  labels: form.all('labels'),
  assignees: form.text('assignees'),
  milestone: form.text('milestone'),
});

/**
 * Fields `base`, `head`, `title`, `body`, `files`, `maintainers_may_push` and `publishes` (checkboxes), and `action`
 * (`open`, `draft`, `preview`); users who may triage also send `labels`, `assignees` and `milestone`.
 */
export const openPull: Page<RepositoryContext, PullsDeps> = (context, deps) => {
  const { viewer, form, found } = context;
  const values = readForm(form);
  return submitForm(
    async () => {
      context.takeFiles();
      if (form.text('action') === 'preview') return formPage(context, deps, values, { isPreview: true });
      const mayTriage = (await deps.issues.rightsIn(viewer, found.canonical, 'PULL'))('triage') === null;
      const { base, head, isDraft, maintainersMayPush, publishes } = values;
      const { issue } = await deps.pulls
        .open(viewer, found.canonical, {
          base,
          head,
          isDraft,
          maintainersMayPush,
          publishes,
          title: values.title ?? '',
          body: values.body ?? '',
          ...(mayTriage && {
            labels: values.labels,
            assignees: namesIn(values.assignees),
            milestone: values.milestone || null,
          }),
        })
        .catch(keepText);
      return seeOther(issueUrl(repositoryUrl(found.canonical), issue.number, 'PULL'));
    },
    (refusal) => formPage(context, deps, values, { refusal }),
    { files: 'body-files' },
  );
};

const namesIn = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .map((name) => name.replace(/^@/, ''))
    .filter((name) => name !== '');

/**
 * The reason why this viewer cannot open a pull request here; null when they can. Anonymous clients are sent to sign
 * in.
 */
export async function refusedPage(context: RepositoryContext, { issues }: PullsDeps): Promise<PageReply | null> {
  const refusal = (await issues.rightsIn(context.viewer, context.found.canonical, 'PULL'))('contribute');
  if (refusal === null) return null;
  if (refusal === 'sign_in') throw unauthenticated('sign_in_required', 'Sign in to continue.');
  const locals = { repository: viewRepositoryHeader(context.found), why: explainRefusal(refusal, 'PULL') };
  return page('pulls/no-new-pull', locals, { status: 403 });
}

async function formPage(
  context: RepositoryContext,
  deps: PullsDeps,
  values: NewPullValues,
  { refusal = null, isPreview = false }: { refusal?: FormRefusal | null; isPreview?: boolean } = {},
): Promise<PageReply> {
  const { viewer, found } = context;
  const { issues, git } = deps;
  const [suggestions, refs, head, may] = await Promise.all([
    suggestBranches(context, deps),
    git.queries.cachedRefs(found.path),
    values.head === '' ? null : findHeadBranch(context, deps, values.head),
    issues.rightsIn(viewer, found.canonical, 'PULL'),
  ]);
  const baseOid = refs.get(`refs/heads/${values.base}`) ?? null;
  const isSame = head !== null && head.found.repository.id === found.repository.id && head.branch === values.base;
  const comparison =
    baseOid === null || head === null || isSame
      ? null
      : await compareForPull(context, deps, { base: values.base, baseOid, head }).catch(nullIfBusy);
  const text = comparison === null ? null : await readTexts(deps, found.path, baseOid!, values, comparison.messages);
  const isFork = head !== null && head.found.repository.id !== found.repository.id;
  const mayTriage = may('triage') === null;
  const [labels, milestones] = await Promise.all([
    mayTriage ? issues.listLabels(viewer, found.canonical) : [],
    mayTriage ? issues.listMilestones(viewer, found.canonical, 'open') : [],
  ]);
  const chosen = new Set(values.labels.map((name) => name.toLowerCase()));
  return page('pulls/new-pull', {
    repository: viewRepositoryHeader(found),
    form: { ...values, title: text?.title ?? values.title ?? '', body: text?.body ?? values.body ?? '' },
    names: { base: viewName(values.base), head: viewName(values.head) },
    suggestions,
    missing:
      baseOid === null ? viewName(values.base) : values.head !== '' && head === null ? viewName(values.head) : null,
    isSame,
    comparison: comparison && { ...comparison, messages: null },
    isBusy: comparison === null && baseOid !== null && head !== null && !isSame,
    isFork,
    /** Commits of a private fork become visible to all readers of this repository. */
    publishes: isFork && head.found.repository.visibility === 'PRIVATE' && found.repository.visibility !== 'PRIVATE',
    preview: isPreview && (values.body ?? '').trim() !== '' ? await renderText(context, deps, values.body!) : null,
    choices: mayTriage
      ? {
          labels: labels
            .slice(0, maxLabelBoxes)
            .map((label) => ({ ...viewLabel(label), isOn: chosen.has(label.nameFolded) })),
          milestones: milestones.map(({ title }) => ({ title, isOn: title === values.milestone })),
        }
      : null,
    refusal,
  });
}

const maxLabelBoxes = 200;

function nullIfBusy(error: unknown): null {
  if (isDomainError(error) && error.code === 'unavailable') return null;
  throw error;
}

const maxTitle = 255;

/** The entered title and text; by default the message of a single commit, or the branch name and the subjects. */
async function readTexts(
  deps: PullsDeps,
  path: string,
  baseOid: string,
  { title, body, head }: NewPullValues,
  commits: readonly { subject: string; message: string }[],
): Promise<{ title: string; body: string }> {
  const [only] = commits;
  const isSingle = commits.length === 1 && only !== undefined;
  const branch = head
    .slice(head.indexOf(':') + 1)
    .replace(/[-_/]+/g, ' ')
    .trim();
  const begun = isSingle ? only.subject : branch.charAt(0).toUpperCase() + branch.slice(1);
  if (body !== null) return { title: title ?? begun.slice(0, maxTitle), body };
  const template = await deps.pulls.template(path, baseOid);
  const said = isSingle ? bodyOf(only.message) : template === '' ? subjectsOf(commits) : '';
  return {
    title: title ?? begun.slice(0, maxTitle),
    body: [said, template].filter((part) => part !== '').join('\n\n'),
  };
}

/** A message after its first paragraph, without the trailers that git and its hooks add. */
function bodyOf(message: string): string {
  const [, ...paragraphs] = message.trim().split(/\n{2,}/);
  const isTrailers = /^(?:(?:Signed-off-by|Change-Id|Co-authored-by): .*\n?)+$/;
  if (isTrailers.test(paragraphs.at(-1) ?? '')) paragraphs.pop();
  return paragraphs.join('\n\n').slice(0, 20_000);
}

/** The oldest first. */
const subjectsOf = (commits: readonly { subject: string }[]): string =>
  commits
    .toReversed()
    .map(({ subject }) => `* ${subject}`)
    .join('\n');
