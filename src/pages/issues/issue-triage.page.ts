import { invalid, isDomainError } from '../../kernel/index.ts';
import type { DomainError } from '../../kernel/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { IssueChange, SettableLink } from '../../issues/index.ts';
import { seeOther } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import { submitForm } from '../app/submit-form.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { IssuesDeps } from './deps.ts';
import { issueAt, urlOfIssue } from './conversation.reply.ts';
import type { ShowConversation } from './conversation.reply.ts';
import { issueUrl, readIssueReference } from './issue-urls.ts';

/** Runs a form of the sidebar; when it is refused, the page shows the submitted values again. */
function act<Deps extends IssuesDeps>(
  show: ShowConversation<Deps>,
  context: RepositoryContext,
  deps: Deps,
  work: () => Promise<unknown>,
  typed: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  return submitForm(
    async () => {
      await work();
      return seeOther(urlOfIssue(context));
    },
    (refusal) => show(context, deps, { refusal, side: typed }),
  );
}

const change = <Deps extends IssuesDeps>(
  show: ShowConversation<Deps>,
  context: RepositoryContext,
  deps: Deps,
  wanted: IssueChange,
  typed = {},
): Promise<Reply> =>
  act(show, context, deps, () => deps.issues.triage(context.viewer, issueAt(context), wanted), typed);

const namesIn = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/**
 * Fields `labels` (several), `more` (names with commas), and `before`, the labels at the time the form was rendered,
 * one a line: labels that others have added since then stay.
 */
export const changeLabels =
  <Deps extends IssuesDeps>(show: ShowConversation<Deps>): Page<RepositoryContext, Deps> =>
  (context, deps) => {
    const { form } = context;
    const before = form
      .text('before')
      .split('\n')
      .filter((name) => name !== '');
    const chosen = [...form.all('labels'), ...namesIn(form.text('more'))];
    const add = chosen.filter((name) => !before.includes(name));
    const remove = before.filter((name) => !chosen.includes(name));
    return change(show, context, deps, { labels: { add, remove } }, { more: form.text('more') });
  };

/** Fields `add` (usernames with commas), `remove` (several). */
export const changeAssignees =
  <Deps extends IssuesDeps>(show: ShowConversation<Deps>): Page<RepositoryContext, Deps> =>
  (context, deps) => {
    const { form } = context;
    const add = namesIn(form.text('add')).map((name) => name.replace(/^@/, ''));
    return change(show, context, deps, { assignees: { add, remove: form.all('remove') } }, { add: form.text('add') });
  };

/** Field `milestone`, a title; an empty one removes the issue from its milestone. */
export const changeMilestone =
  <Deps extends IssuesDeps>(show: ShowConversation<Deps>): Page<RepositoryContext, Deps> =>
  (context, deps) =>
    change(show, context, deps, { milestone: context.form.text('milestone') || null });

/** Field `on`: `no` unlocks. */
export const lockIssue =
  <Deps extends IssuesDeps>(show: ShowConversation<Deps>): Page<RepositoryContext, Deps> =>
  (context, deps) =>
    change(show, context, deps, { isLocked: context.form.text('on') !== 'no' });

/** Field `on`: `no` unpins. */
export const pinIssue =
  <Deps extends IssuesDeps>(show: ShowConversation<Deps>): Page<RepositoryContext, Deps> =>
  (context, deps) =>
    change(show, context, deps, { isPinned: context.form.text('on') !== 'no' });

/** Fields `kind` (`closes`, `needs`, `duplicates`), `to` (`#7`, `owner/name#7` or a URL), `action` (`remove`). */
export const changeLinks =
  <Deps extends IssuesDeps>(show: ShowConversation<Deps>): Page<RepositoryContext, Deps> =>
  (context, deps) => {
    const { viewer, form, found, origin } = context;
    const kind = form.text('kind') as SettableLink;
    const typed = { kind, to: form.text('to') };
    const work = async (): Promise<void> => {
      const to = readIssueReference(typed.to, found.canonical, origin);
      if (to === null) throw noSuchIssue();
      const run = form.text('action') === 'remove' ? deps.issues.removeLink : deps.issues.addLink;
      await run(viewer, issueAt(context), kind, to).catch(refuseAbsent(noSuchIssue));
    };
    return act(show, context, deps, work, typed);
  };

/** For a `catch`: an absent or hidden issue is an invalid value of the form. */
const refuseAbsent =
  (refusal: () => DomainError) =>
  (error: unknown): never => {
    throw isDomainError(error) && error.code === 'not_found' ? refusal() : error;
  };

/** Absent and hidden issues are refused alike, beside the field and not with a 404 page. */
const noSuchIssue = () => invalid('unknown_issue', 'This issue does not exist.', { field: 'to' });

/** Field `on`: `no` unsubscribes. */
export const subscribeToIssue =
  <Deps extends IssuesDeps>(show: ShowConversation<Deps>): Page<RepositoryContext, Deps> =>
  (context, deps) =>
    act(show, context, deps, () =>
      deps.issues.setSubscription(context.viewer, issueAt(context), context.form.text('on') !== 'no'),
    );

/** Field `to`, `owner/name`: moves the issue there, and redirects to it. */
export const moveIssue =
  <Deps extends IssuesDeps>(show: ShowConversation<Deps>): Page<RepositoryContext, Deps> =>
  (context, deps) => {
    const { viewer, form } = context;
    const typed = form.text('repository').trim();
    const [, owner, name] = /^([^/\s]{1,100})\/([^/\s]{1,100})$/.exec(typed) ?? [];
    return submitForm(
      async () => {
        if (owner === undefined || name === undefined) throw noSuchRepository();
        const moved = await deps.issues
          .move(viewer, issueAt(context), { owner, name })
          .catch(refuseAbsent(noSuchRepository));
        return seeOther(issueUrl(repositoryUrl({ owner, name }), moved.number, moved.kind));
      },
      (refusal) => show(context, deps, { refusal, side: { repository: typed } }),
      { to: 'repository' },
    );
  };

const noSuchRepository = () =>
  invalid('unknown_repository', 'This repository does not exist, or you cannot move issues to it.', { field: 'to' });
