import type { IssueChange, IssueKind } from '../../issues/index.ts';
import { invalid } from '../../kernel/index.ts';
import { seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import type { Page, RepositoryContext, RepositoryPersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { IssuesDeps } from './deps.ts';
import { issueListUrl, readIssueFilter } from './issue-filter.view.ts';
import { listUrl } from './repository-issue-list.ts';
import type { IssueListState } from './repository-issue-list.ts';
import { t } from '../../translation/index.ts';

/** The change of a bulk button. Throws `no_issue_chosen`, `no_action_chosen`. */
function readChange({ form }: RepositoryPersonContext): IssueChange {
  const label = form.text('label');
  const assignee = form.text('assignee').trim();
  const milestone = form.text('milestone');
  const needed = (value: string, sentence: string): string => {
    if (value === '') throw invalid('no_action_chosen', sentence);
    return value;
  };
  switch (form.text('action')) {
    case 'close':
      return { state: 'completed' };
    case 'not-planned':
      return { state: 'not_planned' };
    case 'reopen':
      return { state: 'open' };
    case 'label':
      return { labels: { add: [needed(label, t('issues.bulk_change.choose_a_label_first'))] } };
    case 'unlabel':
      return { labels: { remove: [needed(label, t('issues.bulk_change.choose_a_label_first'))] } };
    case 'assign':
      return { assignees: { add: [needed(assignee, t('issues.bulk_change.choose_a_user_first'))] } };
    case 'unassign':
      return { assignees: { remove: [needed(assignee, t('issues.bulk_change.choose_a_user_first'))] } };
    case 'milestone':
      return {
        milestone:
          needed(milestone, t('issues.bulk_change.choose_a_milestone_first')) === 'none'
            ? null
            : milestone.replace(/^=/, ''),
      };
    default:
      throw invalid('no_action_chosen', 'Choose an action.');
  }
}

/**
 * Fields `number` (several), `action` (close, not-planned, reopen, label, unlabel, assign, unassign, milestone) with
 * `label`, `assignee` or `milestone` (`=title`, or `none`), and `q`, the list to return to. Each issue is changed in a
 * separate write; refused changes are listed.
 * @param show the list that contains the form
 */
export const bulkChange =
  <Deps extends IssuesDeps>(
    kind: IssueKind,
    show: (context: RepositoryContext, deps: Deps, state: IssueListState) => Promise<PageReply>,
  ): Page<RepositoryPersonContext, Deps> =>
  (context, deps) => {
    const { form, found, viewer } = context;
    const numbers = [...new Set(form.all('number').filter((value) => /^[1-9]\d{0,14}$/.test(value)))].map(Number);
    const query = new URLSearchParams(form.text('q') === '' ? {} : { q: form.text('q') });
    return submitForm(
      async () => {
        if (numbers.length === 0)
          throw invalid('no_issue_chosen', kind === 'PULL' ? 'Select pull requests first.' : 'Select issues first.');
        const change = readChange(context);
        const result = await deps.issues.changeMany(viewer, { ...found.canonical, numbers }, change);
        if (result.refused.length > 0)
          return {
            ...(await show(context, deps, { result, query, selected: result.refused.map(({ number }) => number) })),
            status: result.changed.length > 0 ? 200 : 422,
          };
        const back = issueListUrl(listUrl(context, kind), readIssueFilter(query).filter);
        return seeOther(`${back}${back.includes('?') ? '&' : '?'}done=${kind === 'PULL' ? 'pulls' : 'issues'}-changed`);
      },
      (refusal) => show(context, deps, { refusal, query, selected: numbers }),
    );
  };
