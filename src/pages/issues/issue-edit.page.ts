import { isDomainError, notFound } from '../../kernel/index.ts';
import type { HideReason, ListedEntry, ReactionKind } from '../../issues/index.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { seeOther } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import { submitForm } from '../app/submit-form.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { IssuesDeps } from './deps.ts';
import { issueAt, urlOfIssue } from './conversation.reply.ts';
import type { ShowConversation } from './conversation.reply.ts';
import { entryUrl } from '../app/entry-urls.ts';
import { readPosition } from './issue-urls.ts';

/**
 * Fields `position`, `body`, `files`, `revision` and `action` (`preview`); on an edit conflict the user gets both texts
 * to compare.
 */
export const editEntry =
  <Deps extends IssuesDeps>(show: ShowConversation<Deps>): Page<RepositoryContext, Deps> =>
  async (context, deps) => {
    const { viewer, form } = context;
    const position = readPosition(form.text('position'));
    const revision = readPosition(form.text('revision'));
    const body = form.text('body');
    return submitForm(
      async () => {
        context.takeFiles();
        if (form.text('action') === 'preview')
          return show(context, deps, { edit: { position, body, revision }, isPreview: true });
        await deps.issues.editText(viewer, issueAt(context), { position, body, revision });
        return seeOther(entryUrl(urlOfIssue(context), position));
      },
      async (refusal) => {
        const entry = await findEntry(context, deps, position);
        const isStale = entry.revision !== revision && entry.body !== null;
        return show(context, deps, {
          refusal,
          edit: { position, body, revision: entry.revision, ...(isStale ? { current: entry.body! } : {}) },
        });
      },
      { files: 'body-files' },
    );
  };

async function findEntry(context: RepositoryContext, { issues }: IssuesDeps, position: number): Promise<ListedEntry> {
  const { entries } = await issues.listEntries(context.viewer, issueAt(context), { from: position, limit: 1 });
  const entry = entries.find((each) => each.position === position);
  if (entry === undefined) throw notFound('entry_not_found', 'Comment not found');
  return entry;
}

/** Fields `position`, `revision` and `line`: checks or unchecks the task-list checkbox in that line of a text. */
export const toggleTaskItem =
  <Deps extends IssuesDeps>(show: ShowConversation<Deps>): Page<RepositoryContext, Deps> =>
  (context, deps) =>
    actOnEntry(show, context, deps, (position) =>
      deps.issues.toggleTask(context.viewer, issueAt(context), {
        position,
        revision: readPosition(context.form.text('revision')),
        line: readPosition(context.form.text('line')),
      }),
    );

/** Field `title`. */
export const editTitle =
  <Deps extends IssuesDeps>(show: ShowConversation<Deps>): Page<RepositoryContext, Deps> =>
  (context, deps) => {
    const title = context.form.text('title');
    return submitForm(
      async () => {
        await deps.issues.setTitle(context.viewer, issueAt(context), title);
        return seeOther(urlOfIssue(context));
      },
      (refusal) => show(context, deps, { title, refusal }),
    );
  };

/** Runs the action of an entry's button; a refusal is shown on the page of the issue. */
async function actOnEntry<Deps extends IssuesDeps>(
  show: ShowConversation<Deps>,
  context: RepositoryContext,
  deps: Deps,
  act: (position: number) => Promise<unknown>,
): Promise<Reply> {
  const position = readPosition(context.form.text('position'));
  return submitForm(
    async () => {
      await act(position);
      return seeOther(entryUrl(urlOfIssue(context), position));
    },
    (refusal) => show(context, deps, { refusal: { ...refusal, field: null } }),
  );
}

/** Fields `position`, and `kind` or, to undo it, `remove`. */
export const reactToEntry =
  <Deps extends IssuesDeps>(show: ShowConversation<Deps>): Page<RepositoryContext, Deps> =>
  (context, deps) =>
    actOnEntry(show, context, deps, (position) =>
      deps.issues.react(context.viewer, issueAt(context), {
        position,
        kind: (context.form.text('remove') || context.form.text('kind')) as ReactionKind,
        isOn: context.form.text('remove') === '',
      }),
    );

/** Fields `position` and `reason`; an empty reason shows the comment again. */
export const hideEntry =
  <Deps extends IssuesDeps>(show: ShowConversation<Deps>): Page<RepositoryContext, Deps> =>
  (context, deps) =>
    actOnEntry(show, context, deps, (position) => {
      const reason = context.form.text('reason');
      return deps.issues.hideComment(context.viewer, issueAt(context), {
        position,
        reason: reason === '' ? null : (reason as HideReason),
      });
    });

/** Fields `position`, and `decision`: `admit` approves the author, `refuse` removes their held entries. */
export const moderateHeldEntry =
  <Deps extends IssuesDeps>(show: ShowConversation<Deps>): Page<RepositoryContext, Deps> =>
  (context, deps) => {
    const { viewer, form, found } = context;
    return submitForm(
      async () => {
        const position = readPosition(form.text('position'));
        const { authorId, heldAt } = await findEntry(context, deps, position);
        const url = urlOfIssue(context);
        // Another member has already decided.
        if (heldAt === null || authorId === null) return seeOther(entryUrl(url, position));
        if (form.text('decision') === 'admit') {
          await deps.issues.admit(viewer, found.canonical, authorId);
          return seeOther(entryUrl(url, position));
        }
        await deps.issues.refuse(viewer, found.canonical, authorId);
        // A refused issue is in the trash, where only an administrator sees it.
        return seeOther(position > 0 ? entryUrl(url, position) : url.replace(/\/\d+$/, ''));
      },
      (refusal) => show(context, deps, { refusal: { ...refusal, field: null } }),
    );
  };

/** Field `position`: deletes that comment; without one, moves the issue to the trash. */
export const deleteEntry =
  <Deps extends IssuesDeps>(show: ShowConversation<Deps>): Page<RepositoryContext, Deps> =>
  (context, deps) => {
    const { viewer, form } = context;
    const { issues } = deps;
    if (form.text('position') !== '')
      return actOnEntry(show, context, deps, (position) => issues.deleteComment(viewer, issueAt(context), position));
    return submitForm(
      async () => {
        await issues.trash(viewer, issueAt(context));
        return seeOther(withFlashMessage(urlOfIssue(context), 'issue-trashed'));
      },
      (refusal) => show(context, deps, { refusal }),
    );
  };

export const restoreIssue: Page<RepositoryContext, IssuesDeps> = async (context, deps) => {
  await deps.issues.restore(context.viewer, issueAt(context)).catch(unlessRestored);
  return seeOther(urlOfIssue(context));
};

/** A second click on the button finds it restored. */
function unlessRestored(error: unknown): void {
  if (!isDomainError(error) || error.reason !== 'issue_not_found') throw error;
}

/** Permanently deletes an issue in the trash. */
export const purgeIssue: Page<RepositoryContext, IssuesDeps> = async (context, deps) => {
  await deps.issues.purge(context.viewer, issueAt(context));
  return seeOther(withFlashMessage(urlOfIssue(context).replace(/\/\d+$/, ''), 'issue-purged'));
};
