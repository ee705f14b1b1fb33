import { notFound } from '../../../kernel/index.ts';
import { page, seeOther } from '../../responses/reply.ts';
import type { PageReply } from '../../responses/reply.ts';
import type { WebDeps } from '../../deps.ts';
import { submit } from '../../submit.ts';
import type { FormRefusal } from '../../submit.ts';
import { codeUrl } from '../../views/code/code-urls.ts';
import { viewCommitLine } from '../../views/code/commit-line.ts';
import { withNotice } from '../../views/notices.ts';
import { viewName } from '../../views/plain-text.ts';
import { viewRepositoryHead } from '../../views/repository-head.ts';
import { repositoryUrl } from '../../views/urls.ts';
import type { Page, RepositoryPersonContext } from '../../request-context.ts';
import { branchesPage } from './branches.ts';

/** Fields `name` and `from`. */
export const addBranch: Page<RepositoryPersonContext> = (visit, deps) => {
  const {
    viewer,
    found: { canonical },
    form,
  } = visit;
  const wanted = { name: form.text('name').trim(), from: form.text('from').trim() };
  return submit(
    async () => {
      const name = await deps.repositories.createBranch(viewer, canonical.owner, canonical.name, wanted);
      return seeOther(withNotice(codeUrl(repositoryUrl(canonical), 'tree', name), 'branch-created'));
    },
    (refusal) => branchesPage(visit, deps, { ...wanted, refusal }),
  );
};

/** `B/branches/delete?name=`: what goes, before it goes. */
export const confirmDeletion: Page<RepositoryPersonContext> = (visit, deps) =>
  deletionPage(visit, deps, visit.query.get('name') ?? '', null);

async function deletionPage(
  { found }: RepositoryPersonContext,
  { git, config, clock }: WebDeps,
  name: string,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const oid = (await git.refs(found.path)).get(`refs/heads/${name}`);
  if (oid === undefined) throw notFound('branch_gone', 'There is no such branch.');
  const [commit, head] = await Promise.all([git.commit(found.path, oid), git.head(found.path)]);
  const distance = head.oid === null ? null : await git.queries.distance(found.path, head.oid, oid).catch(() => null);
  return page('code/delete-branch', {
    repository: viewRepositoryHead(found),
    name,
    shown: viewName(name),
    oid,
    commit: viewCommitLine(commit, repositoryUrl(found.canonical), clock.now()),
    lost: distance?.ahead ?? null,
    keptDays: Math.round(config.repositories.undoKeepMs / 86_400_000),
    refusal,
  });
}

/** Fields `name`, and `expected`: the commit that the person saw it at. */
export const removeBranch: Page<RepositoryPersonContext> = (visit, deps) => {
  const {
    viewer,
    found: { canonical },
    form,
  } = visit;
  const name = form.text('name');
  return submit(
    async () => {
      await deps.repositories.deleteBranch(viewer, canonical.owner, canonical.name, {
        name,
        expected: form.text('expected'),
      });
      return seeOther(withNotice(`${repositoryUrl(canonical)}/branches`, 'branch-deleted'));
    },
    (refusal) => deletionPage(visit, deps, name, refusal),
  );
};
