import { notFound } from '../../kernel/index.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { codeUrl } from '../app/code-urls.ts';
import { authorsOfCommits } from './commit-authors.ts';
import { viewCommitLine } from './commit-line.view.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { viewName } from '../app/printable-names.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, RepositoryPersonContext } from '../app/request-context.ts';
import { branchesPage } from './branches.page.ts';
import type { CodeDeps } from './deps.ts';

/** Fields `name` and `from`. */
export const addBranch: Page<RepositoryPersonContext, CodeDeps> = (context, deps) => {
  const {
    viewer,
    found: { canonical },
    form,
  } = context;
  const wanted = { name: form.text('name').trim(), from: form.text('from').trim() };
  return submitForm(
    async () => {
      const name = await deps.repositories.branches.create(viewer, canonical.owner, canonical.name, wanted);
      return seeOther(withFlashMessage(codeUrl(repositoryUrl(canonical), 'tree', name), 'branch-created'));
    },
    (refusal) => branchesPage(context, deps, { ...wanted, refusal }),
  );
};

/** `B/branches/delete?name=`: confirmation before a branch is deleted. */
export const confirmDeletion: Page<RepositoryPersonContext, CodeDeps> = (context, deps) =>
  deletionPage(context, deps, context.query.get('name') ?? '', null);

async function deletionPage(
  { found }: RepositoryPersonContext,
  deps: CodeDeps,
  name: string,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { git, config, clock } = deps;
  const oid = await git.refs.tip(found.path, `refs/heads/${name}`);
  if (oid === null) throw notFound('branch_gone', 'There is no such branch.');
  const [commit, head] = await Promise.all([git.objects.commit(found.path, oid), git.refs.head(found.path)]);
  const distance = head.oid === null ? null : await git.queries.distance(found.path, head.oid, oid).catch(() => null);
  const authors = await authorsOfCommits(deps, [commit]);
  return page('code/delete-branch', {
    repository: viewRepositoryHeader(found),
    name,
    shown: viewName(name),
    oid,
    commit: viewCommitLine(commit, repositoryUrl(found.canonical), clock.now(), authors),
    lost: distance?.ahead ?? null,
    keptDays: Math.round(config.repositories.undoKeepMs / 86_400_000),
    refusal,
  });
}

/** Fields `name`, and `expected`: the commit that the page showed for it. */
export const removeBranch: Page<RepositoryPersonContext, CodeDeps> = (context, deps) => {
  const {
    viewer,
    found: { canonical },
    form,
  } = context;
  const name = form.text('name');
  return submitForm(
    async () => {
      await deps.repositories.branches.delete(viewer, canonical.owner, canonical.name, {
        name,
        expected: form.text('expected'),
      });
      return seeOther(withFlashMessage(`${repositoryUrl(canonical)}/branches`, 'branch-deleted'));
    },
    (refusal) => deletionPage(context, deps, name, refusal),
  );
};
