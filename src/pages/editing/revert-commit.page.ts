import { notFound } from '../../kernel/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import { commitUrl } from '../app/code-urls.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryPersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { authorsOfCommits } from '../code/commit-authors.ts';
import { viewCommitLine } from '../code/commit-line.view.ts';
import { openPullOf } from './change-form.ts';
import type { EditingDeps } from './deps.ts';

interface RevertForm {
  branch: string;
  /** A new branch with a pull request; empty for the branch itself. */
  newBranch: string;
}

const idShape = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

function commitIn({ params }: RepositoryPersonContext): string {
  const id = params['id'] ?? '';
  if (!idShape.test(id)) throw notFound();
  return id;
}

/** `B/commit/{id}/revert` */
export const confirmRevert: Page<RepositoryPersonContext, EditingDeps> = (context, deps) =>
  revertPage(context, deps, { branch: context.found.repository.defaultBranch, newBranch: '' }, null);

/** Fields `branch`, and `new_branch` for a pull request. */
export const revert: Page<RepositoryPersonContext, EditingDeps> = (context, deps) => {
  const { viewer, found, form } = context;
  const commit = commitIn(context);
  const { owner, name } = found.canonical;
  const values = { branch: form.text('branch').trim(), newBranch: form.text('new_branch').trim() };
  return submitForm(
    async () => {
      const { oid, branch } = await deps.repositories.contents.revert(viewer, owner, name, {
        commit,
        branch: values.branch,
        newBranch: values.newBranch || undefined,
      });
      if (values.newBranch === '')
        return seeOther(withFlashMessage(commitUrl(repositoryUrl(found.canonical), oid), 'commit-reverted'));
      const { subject } = await deps.git.objects.commit(found.path, oid);
      const body = `This reverts commit ${commit}.`;
      return openPullOf(context, deps, { base: values.branch, head: branch, title: subject.slice(0, 255), body });
    },
    (refusal) => revertPage(context, deps, values, refusal),
  );
};

async function revertPage(
  context: RepositoryPersonContext,
  deps: EditingDeps,
  form: RevertForm,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { found } = context;
  const { git, clock } = deps;
  const oid = await git.refs.resolve(found.path, commitIn(context), { includeUnreachable: true });
  const [commit, refs] = await Promise.all([git.objects.commit(found.path, oid), git.queries.cachedRefs(found.path)]);
  const authors = await authorsOfCommits(deps, [commit]);
  const url = repositoryUrl(found.canonical);
  return page('editing/revert-commit', {
    repository: viewRepositoryHeader(found),
    commit: viewCommitLine(commit, url, clock.now(), authors),
    action: `${commitUrl(url, oid)}/revert`,
    branches: refs.page('refs/heads/', 0, 200).map(({ name }) => name),
    reason:
      commit.parents.length === 1
        ? null
        : commit.parents.length > 1
          ? t('editing.revert_commit.revert_merges_with_git_which_asks')
          : t('editing.revert_commit.the_first_commit_cannot_be_reverted'),
    suggested: `revert-${oid.slice(0, 10)}`,
    form,
    refusal,
  });
}
