import type { IssueSettings } from '../../issues/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryPersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import type { IssuesDeps } from './deps.ts';

const settingsUrl = ({ found }: RepositoryPersonContext): string => `${repositoryUrl(found.canonical)}/settings/issues`;

async function settingsPage(
  context: RepositoryPersonContext,
  { issues }: IssuesDeps,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  const { viewer, found, form, query } = context;
  const settings = await issues.settingsOf(viewer, found.canonical);
  return page('issues/issue-settings', {
    repository: viewRepositoryHeader(found),
    section: 'issues',
    form:
      refusal === null
        ? settingsForm(settings)
        : {
            issuesFrom: form.text('issues_from'),
            holdsNewcomers: form.text('holds_newcomers') !== '',
            pullsFrom: form.text('pulls_from'),
            deletesMergedBranches: form.text('deletes_merged_branches') !== '',
            ciApproval: form.text('ci_approval') || settings.ciApproval,
          },
    refusal,
    notice: viewFlashMessage(query),
  });
}

const settingsForm = ({ issuesFrom, holdsNewcomers, pullsFrom, deletesMergedBranches, ciApproval }: IssueSettings) => ({
  issuesFrom,
  holdsNewcomers,
  pullsFrom,
  deletesMergedBranches,
  ciApproval,
});

/** `B/settings/issues`: who may open issues and pull requests, and comment. */
export const showIssueSettings: Page<RepositoryPersonContext, IssuesDeps> = (context, deps) =>
  settingsPage(context, deps);

/**
 * Fields `issues_from` and `pulls_from` (nobody, members, anyone), `ci_approval` (everyone, first_time), and the
 * checkboxes `holds_newcomers` and `deletes_merged_branches`. A choice that the form omits stays unchanged.
 */
export const saveIssueSettings: Page<RepositoryPersonContext, IssuesDeps> = (context, deps) => {
  const { viewer, found, form } = context;
  return submitForm(
    async () => {
      await deps.issues.changeSettings(viewer, found.canonical, {
        issuesFrom: form.text('issues_from') as IssueSettings['issuesFrom'],
        holdsNewcomers: form.text('holds_newcomers') !== '',
        ...(form.text('pulls_from') !== '' && {
          pullsFrom: form.text('pulls_from') as IssueSettings['pullsFrom'],
          deletesMergedBranches: form.text('deletes_merged_branches') !== '',
        }),
        ...(form.text('ci_approval') !== '' && {
          ciApproval: form.text('ci_approval') as IssueSettings['ciApproval'],
        }),
      });
      return seeOther(withFlashMessage(settingsUrl(context), 'settings-saved'));
    },
    (refusal) => settingsPage(context, deps, refusal),
  );
};
