import { hash } from 'node:crypto';
import { isDomainError, unauthenticated } from '../../kernel/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { checkAnswers, composeForm, explainRefusal, findTemplates } from '../../issues/index.ts';
import type { AnswerFaults, IssueTemplate, IssueTemplates } from '../../issues/index.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { renderText, renderTexts } from '../markdown/render-text.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import type { IssuesDeps } from './deps.ts';
import { keepText } from './issue-comment.page.ts';
import { issueUrl } from './issue-urls.ts';
import { viewLabel } from './label.view.ts';
import { firstFault, initialValues, readDraft, readNewIssue, viewFields, writeDraft } from './new-issue-form.ts';
import type { NewIssueValues } from './new-issue-form.ts';

const noFaults: AnswerFaults = new Map();

/** `?template=` of an issue without a template; file names always have an extension. */
const blank = 'blank';

/**
 * Query: `template`, a file name or `blank`; `title` and `body` fill the form. With several templates, shows a chooser.
 */
export const showNewIssue: Page<RepositoryContext, IssuesDeps> = async (context, deps) => {
  const refused = await refusedPage(context, deps);
  if (refused !== null) return refused;
  const found = await findTemplates(deps, context.found);
  const chosen = await choose(context, deps, found, context.query.get('template'));
  if (chosen === null) return chooser(context, found, await mayOpenBlank(context, deps, found));
  const initial = initialValues(chosen.template, context.query);
  const draft = await deps.issues.findDraft(context.viewer, draftOf(context, chosen.template));
  const draftValues = draft === null ? null : readDraft(draft.body, initial);
  return formPage(context, deps, {
    found,
    template: chosen.template,
    values: draftValues ?? initial,
    isDraft: draftValues !== null,
  });
};

/**
 * Fields `title`, `body` and `files` or the answers of a form, `template`, and `action` (`preview`, `draft`); users who
 * may triage also send `labels`, `assignees` and `milestone`.
 */
export const openIssue: Page<RepositoryContext, IssuesDeps> = async (context, deps) => {
  const { viewer, form, found: here } = context;
  const { issues } = deps;
  const found = await findTemplates(deps, here);
  const template = templateOf(found, form.text('template'));
  const values = readNewIssue(form, template);
  const again = (more: Partial<Shown> = {}): Promise<PageReply> =>
    formPage(context, deps, { found, template, values, ...more });
  const mayOpen = (await issues.rightsIn(viewer, here.canonical))('contribute') === null;
  const base = `${repositoryUrl(here.canonical)}/issues`;
  return submitForm(
    async () => {
      context.takeFiles();
      if (form.text('action') === 'preview') return again({ isPreview: mayOpen });
      if (form.text('action') === 'draft') {
        await issues.saveDraft(viewer, draftOf(context, template), writeDraft(values));
        return seeOther(`${withFlashMessage(`${base}/new`, 'draft-saved')}&template=${template?.key ?? blank}`);
      }
      const faults = template === null ? noFaults : checkAnswers(template, values.answers);
      if (template !== null && faults.size > 0)
        return { ...(await again({ faults, refusal: firstFault(template, faults) })), status: 422 };
      const mayTriage = (await issues.rightsIn(viewer, here.canonical))('triage') === null;
      const body = template === null || template.body !== null ? values.body : composeForm(template, values.answers);
      const wanted = {
        title: values.title,
        body,
        ...(mayTriage
          ? {
              labels: values.labels,
              assignees: namesIn(values.assignees),
              milestone: values.milestone || null,
            }
          : { template }),
      };
      const { number } = await issues.open(viewer, here.canonical, wanted).catch(keepText);
      await issues.saveDraft(viewer, draftOf(context, template), '').catch(ignoreRefusal);
      return seeOther(issueUrl(repositoryUrl(here.canonical), number));
    },
    (refusal) => again({ refusal }),
    { files: 'body-files' },
  );
};

const namesIn = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .map((name) => name.replace(/^@/, ''))
    .filter((name) => name !== '');

/** The issue was created: failing to delete the draft is not an error. */
function ignoreRefusal(error: unknown): void {
  if (!isDomainError(error)) throw error;
}

/** The reason why this viewer cannot open an issue here; null when they can. Anonymous clients are sent to sign in. */
async function refusedPage(context: RepositoryContext, { issues }: IssuesDeps): Promise<PageReply | null> {
  const refusal = (await issues.rightsIn(context.viewer, context.found.canonical))('contribute');
  if (refusal === null) return null;
  if (refusal === 'sign_in') throw unauthenticated('sign_in_required', 'Sign in to continue.');
  const locals = { repository: viewRepositoryHeader(context.found), why: explainRefusal(refusal) };
  return page('issues/new-issue-refused', locals, { status: 403 });
}

const templateOf = ({ templates }: IssueTemplates, key: string | null): IssueTemplate | null =>
  templates.find((template) => template.key === key) ?? null;

/** Members can always open an issue without a template. */
async function mayOpenBlank(
  { viewer, found: { canonical } }: RepositoryContext,
  { issues }: IssuesDeps,
  found: IssueTemplates,
): Promise<boolean> {
  return (
    found.blankIssues || found.templates.length === 0 || (await issues.rightsIn(viewer, canonical))('triage') === null
  );
}

/** The template of the form, itself null for a blank issue; null when the user must choose first. */
async function choose(
  context: RepositoryContext,
  deps: IssuesDeps,
  found: IssueTemplates,
  key: string | null,
): Promise<{ template: IssueTemplate | null } | null> {
  const named = templateOf(found, key);
  if (named !== null) return { template: named };
  if (key === blank && (await mayOpenBlank(context, deps, found))) return { template: null };
  if (found.templates.length + found.contactLinks.length + found.problems.length === 0) return { template: null };
  const [only] = found.templates;
  const isOne = found.templates.length === 1 && found.contactLinks.length + found.problems.length === 0;
  return isOne && only !== undefined ? { template: only } : null;
}

function chooser({ found, query }: RepositoryContext, templates: IssueTemplates, isBlankOffered: boolean): PageReply {
  const head = viewRepositoryHeader(found);
  const address = (key: string): string => {
    const others = new URLSearchParams([...query].filter(([name]) => name === 'title' || name === 'body'));
    others.set('template', key);
    return `${head.url}/issues/new?${others}`;
  };
  return page('issues/choose-template', {
    repository: head,
    templates: templates.templates.map(({ key, name, about }) => ({ name, about, url: address(key) })),
    blankUrl: isBlankOffered ? address(blank) : null,
    contactLinks: templates.contactLinks,
    problems: templates.problems,
  });
}

/** Key under which the draft of a form is stored: each template has its own. */
const draftOf = ({ found }: RepositoryContext, template: IssueTemplate | null): string =>
  template === null
    ? `new:${found.repository.id}`
    : `new:${found.repository.id}:${hash('sha256', template.key).slice(0, 16)}`;

interface Shown {
  found: IssueTemplates;
  template: IssueTemplate | null;
  values: NewIssueValues;
  isDraft?: boolean;
  isPreview?: boolean;
  faults?: AnswerFaults;
  refusal?: FormRefusal | null;
}

async function formPage(
  context: RepositoryContext,
  deps: IssuesDeps,
  { found, template, values, isDraft = false, isPreview = false, faults = noFaults, refusal = null }: Shown,
): Promise<PageReply> {
  const { viewer, found: here } = context;
  const { issues } = deps;
  const mayTriage = (await issues.rightsIn(viewer, here.canonical))('triage') === null;
  const [labels, milestones, { texts }] = await Promise.all([
    mayTriage ? issues.listLabels(viewer, here.canonical) : [],
    mayTriage ? issues.listMilestones(viewer, here.canonical, 'open') : [],
    renderTexts(
      context,
      deps,
      (template?.fields ?? []).flatMap((field) => (field.kind === 'markdown' ? [{ body: field.text }] : [])),
    ),
  ]);
  const text = template === null || template.body !== null ? values.body : composeForm(template, values.answers);
  const chosen = new Set(values.labels.map((name) => name.toLowerCase()));
  const isSeveral = found.templates.length + found.contactLinks.length > 1;
  return page('issues/new-issue', {
    repository: viewRepositoryHeader(here),
    template: template && { key: template.key, name: template.name, about: template.about },
    chooserUrl: isSeveral ? `${repositoryUrl(here.canonical)}/issues/new` : null,
    form: values,
    fields: template === null || template.body !== null ? null : viewFields(template, values.answers, faults, texts),
    preview: isPreview && text.trim() !== '' ? await renderText(context, deps, text) : null,
    choices: mayTriage
      ? {
          labels: labels
            .slice(0, maxLabelBoxes)
            .map((label) => ({ ...viewLabel(label), isOn: chosen.has(label.nameFolded) })),
          milestones: milestones.map(({ title }) => ({ title, isOn: title === values.milestone })),
        }
      : null,
    isDraft,
    problems: found.problems,
    refusal,
  });
}

const maxLabelBoxes = 200;
