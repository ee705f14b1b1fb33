import type { IssueSettings } from '../../issues/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { viewNotice, withNotice } from '../app/notices.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { viewRepositoryHead } from '../app/repository-head.view.ts';
import type { Page, RepositoryPersonContext } from '../app/request-context.ts';
import { submit } from '../app/submit.ts';
import type { FormRefusal } from '../app/submit.ts';
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
    repository: viewRepositoryHead(found),
    section: 'issues',
    form:
      refusal === null
        ? { issuesFrom: settings.issuesFrom, holdsNewcomers: settings.holdsNewcomers }
        : { issuesFrom: form.text('issues_from'), holdsNewcomers: form.text('holds_newcomers') !== '' },
    refusal,
    notice: viewNotice(query),
  });
}

/** `B/settings/issues`: who may open issues and comment. */
export const showIssueSettings: Page<RepositoryPersonContext, IssuesDeps> = (context, deps) =>
  settingsPage(context, deps);

/** Fields `issues_from` (nobody, members, anyone) and `holds_newcomers` (a check-box). */
export const saveIssueSettings: Page<RepositoryPersonContext, IssuesDeps> = (context, deps) => {
  const { viewer, found, form } = context;
  return submit(
    async () => {
      await deps.issues.changeSettings(viewer, found.canonical, {
        issuesFrom: form.text('issues_from') as IssueSettings['issuesFrom'],
        holdsNewcomers: form.text('holds_newcomers') !== '',
      });
      return seeOther(withNotice(settingsUrl(context), 'settings-saved'));
    },
    (refusal) => settingsPage(context, deps, refusal),
  );
};
