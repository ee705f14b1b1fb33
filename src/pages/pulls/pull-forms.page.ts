import { isDomainError, unauthenticated } from '../../kernel/index.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { seeOther } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import { issueAt, urlOfIssue } from '../issues/conversation.reply.ts';
import { issueUrl, readPosition } from '../issues/issue-urls.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { PullsDeps } from './deps.ts';
import { pullPage } from './pull.page.ts';
import type { PullForms } from './pull.page.ts';

type PullForm = Page<RepositoryContext, PullsDeps>;

/** Anonymous clients must sign in before the response reveals anything. */
export const afterSignIn =
  (page: PullForm): PullForm =>
  (context, deps) => {
    if (context.viewer.kind === 'anonymous') throw unauthenticated('sign_in_required', 'Sign in to continue.');
    return page(context, deps);
  };

/** Runs the action of a button and redirects to the page, which also shows a refusal. */
function act(
  context: RepositoryContext,
  deps: PullsDeps,
  work: () => Promise<unknown>,
  { typed = {}, notice = null }: { typed?: PullForms; notice?: string | null } = {},
): Promise<Reply> {
  return submitForm(
    async () => {
      await work();
      const url = urlOfIssue(context);
      return seeOther(notice === null ? url : withFlashMessage(url, notice));
    },
    (refusal) => pullPage(context, deps, { ...typed, refusal }),
    { title: 'message_title', body: 'message', round: 'merge', style: 'merge' },
  );
}

/**
 * Fields `round`, `style`, `message_title`, `message`, `delete_branch` and `bypass` (checkboxes), and `action`:
 * `merge`, `when-ready` or `queue`.
 */
export const mergePull: PullForm = (context, deps) => {
  const { viewer, form } = context;
  const at = issueAt(context);
  const merge = {
    style: form.text('style'),
    title: form.text('message_title'),
    body: form.text('message'),
    deletesBranch: form.text('delete_branch') !== '',
    bypasses: form.text('bypass') !== '',
  };
  const { deletesBranch, bypasses, ...input } = merge;
  const asked = { ...input, round: readPosition(form.text('round')) };
  if (form.text('action') === 'when-ready')
    return act(context, deps, () => deps.pulls.mergeWhenReady(viewer, at, asked), { typed: { merge } });
  if (form.text('action') === 'queue')
    return act(context, deps, () => deps.pulls.queue.enter(viewer, at, asked), { typed: { merge } });
  return act(
    context,
    deps,
    async () => {
      await deps.pulls.merge(viewer, at, { ...asked, bypasses });
      // The merge succeeded. A branch with newer commits is kept; the page offers to delete it.
      if (deletesBranch) await deps.pulls.deleteBranch(viewer, at).catch(ignoreRefusal);
    },
    { typed: { merge }, notice: 'pull-merged' },
  );
};

function ignoreRefusal(error: unknown): void {
  if (!isDomainError(error)) throw error;
}

/** Cancels auto-merge. */
export const cancelMerge: PullForm = (context, deps) =>
  act(context, deps, () => deps.pulls.cancelMergeWhenReady(context.viewer, issueAt(context)));

/** Field `action`: `leave` the merge queue, or move to its front with `first`. */
export const changeQueue: PullForm = (context, deps) => {
  const { leave, moveToFront } = deps.pulls.queue;
  const change = context.form.text('action') === 'first' ? moveToFront : leave;
  return act(context, deps, () => change(context.viewer, issueAt(context)));
};

/** Fields `round`, and `style`: `merge` or `rebase`. */
export const updateBranch: PullForm = (context, deps) => {
  const { form, viewer } = context;
  const style = form.text('style') === 'rebase' ? 'REBASE' : 'MERGE';
  const round = readPosition(form.text('round'));
  return act(context, deps, () => deps.pulls.updateBranch(viewer, issueAt(context), { style, round }));
};

const namesIn = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .map((name) => name.replace(/^@/, ''))
    .filter((name) => name !== '');

/** Fields `add` (usernames with commas) and `remove` (several). */
export const askForReview: PullForm = (context, deps) => {
  const { form, viewer } = context;
  const change = { add: namesIn(form.text('add')), remove: form.all('remove') };
  return submitForm(
    async () => {
      await deps.pulls.attention.request(viewer, issueAt(context), change);
      return seeOther(urlOfIssue(context));
    },
    (refusal) =>
      pullPage(context, deps, { refusal: { ...refusal, field: 'reviewers' }, side: { reviewers: form.text('add') } }),
  );
};

/** Field `base`, a branch. */
export const retargetPull: PullForm = (context, deps) => {
  const base = context.form.text('base').trim();
  return act(context, deps, () => deps.pulls.edit(context.viewer, issueAt(context), { base }), { typed: { base } });
};

/** Field `on`: `no` undoes it. */
export const letMaintainersPush: PullForm = (context, deps) => {
  const maintainersMayPush = context.form.text('on') !== 'no';
  return act(context, deps, () => deps.pulls.edit(context.viewer, issueAt(context), { maintainersMayPush }));
};

export const markDraft: PullForm = (context, deps) =>
  act(context, deps, () => deps.pulls.edit(context.viewer, issueAt(context), { isDraft: true }));

export const markReady: PullForm = (context, deps) =>
  act(context, deps, () => deps.pulls.edit(context.viewer, issueAt(context), { isDraft: false }));

/** Field `action`: `delete` or `restore`. */
export const changeHeadBranch: PullForm = (context, deps) => {
  const change = context.form.text('action') === 'restore' ? deps.pulls.restoreBranch : deps.pulls.deleteBranch;
  return act(context, deps, () => change(context.viewer, issueAt(context)));
};

/** Field `head`: the commit whose waiting workflows may run. */
export const approveRuns: PullForm = (context, deps) => {
  const { viewer, found, form } = context;
  const asked = { number: issueAt(context).number, headOid: form.text('head') };
  return act(context, deps, () => deps.ci.pulls.approveAll(viewer, found, asked), { notice: 'run-approved' });
};

/** Opens a pull request that reverts this one, and redirects to it. */
export const revertPull: PullForm = (context, deps) =>
  submitForm(
    async () => {
      const { issue } = await deps.pulls.revert(context.viewer, issueAt(context));
      return seeOther(issueUrl(repositoryUrl(context.found.canonical), issue.number, 'PULL'));
    },
    (refusal) => pullPage(context, deps, { refusal: { ...refusal, field: null } }),
  );
