import { page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { viewActivityPush } from './activity-row.view.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, RepositoryPersonContext, RepositoryContext } from '../app/request-context.ts';
import type { RepositoryDeps } from './deps.ts';

const perPage = 30;

async function activityPage(
  { found, query }: RepositoryContext,
  { repositories, owners, git, config, clock }: RepositoryDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const head = viewRepositoryHeader(found);
  const [{ pushes, next }, refs] = await Promise.all([
    repositories.pushes.listActivity(found, { limit: perPage, after: query.get('after') }),
    git.queries.cachedRefs(found.path),
  ]);
  const pictures = await owners.ownersById(pushes.flatMap(({ person }) => person?.id ?? []));
  const now = clock.now();
  const mayRestore = head.mayWrite && !head.isArchived;
  return page('repository/activity', {
    repository: head,
    pushes: pushes.map((push) => viewActivityPush(push, { url: head.url, refs, pictures, mayRestore, now })),
    keptDays: Math.round(config.repositories.undoKeepMs / 86_400_000),
    isFirst: query.get('after') === null,
    next: next === null ? null : `${head.url}/activity?${new URLSearchParams({ after: next })}`,
    refusal,
    notice: viewFlashMessage(query),
  });
}

/** `B/activity`: every push of the last thirty days, and the commits that refs lost by them. */
export const showActivity: Page<RepositoryContext, RepositoryDeps> = (context, deps) =>
  activityPage(context, deps, null);

/** Fields `id`, `expected`; with `as`, the tip becomes a new branch. */
export const restoreTip: Page<RepositoryPersonContext, RepositoryDeps> = (context, deps): Promise<Reply> => {
  const {
    viewer,
    found: { canonical },
    form,
  } = context;
  const as = form.text('as').trim();
  const request = as === '' ? { id: form.text('id'), expected: form.text('expected') } : { id: form.text('id'), as };
  return submitForm(
    async () => {
      await deps.repositories.pushes.undo(viewer, canonical.owner, canonical.name, request);
      return seeOther(withFlashMessage(`${repositoryUrl(canonical)}/activity`, 'push-undone'));
    },
    // Several rows have a field with this name: only the summary shows the message.
    ({ message }) => activityPage(context, deps, { message, field: null }),
  );
};
