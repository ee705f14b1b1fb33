import { unauthenticated } from '../../kernel/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { listPage, pageLinks } from '../app/list-page.view.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { viewCount, viewSize } from '../app/format-numbers.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import type { RepositoryDeps } from './deps.ts';
import { viewRepositoryRow } from './repository-row.view.ts';

interface ForkForm {
  owner: string;
  name: string;
  description: string;
  default_branch_only: boolean;
}

/** The form needs an account; an anonymous reader of the repository is asked to sign in. */
function requirePerson({ person }: RepositoryContext): void {
  if (person === null) throw unauthenticated('sign_in', 'Sign in first.');
}

async function forkPage(
  context: RepositoryContext,
  { repositories, git }: RepositoryDeps,
  given: ForkForm | null,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { found, viewer } = context;
  const [targets, head] = await Promise.all([
    repositories.forks.listTargets(viewer, found.repository),
    git.refs.head(found.path),
  ]);
  const free = targets.filter(({ fork }) => fork === null);
  const [first] = free;
  const { name, description, sizeBytes, visibility } = found.repository;
  const form: ForkForm = given ?? {
    owner: first?.owner.handle ?? '',
    name: first === undefined ? name : await repositories.forks.freeName(first.owner, name),
    description,
    default_branch_only: false,
  };
  return page('repository/fork', {
    repository: viewRepositoryHeader(found),
    isEmpty: head.oid === null && (await git.queries.cachedRefs(found.path)).count('refs/heads/') === 0,
    isPrivate: visibility === 'PRIVATE',
    defaultBranch: found.repository.defaultBranch,
    size: sizeBytes > 0 ? viewSize(sizeBytes) : null,
    owners: free.map(({ owner }) => owner.handle),
    existing: targets.flatMap(({ fork }) =>
      fork === null ? [] : [{ name: `${fork.owner}/${fork.name}`, url: repositoryUrl(fork) }],
    ),
    form,
    refusal,
  });
}

/** `B/fork`: the form with the owner and the name of the fork. */
export const showFork: Page<RepositoryContext, RepositoryDeps> = (context, deps) => {
  requirePerson(context);
  return forkPage(context, deps, null, null);
};

/** Fields `owner` (default: the user), `name`, `description`, `default_branch_only` (checkbox). */
export const forkRepository: Page<RepositoryContext, RepositoryDeps> = (context, deps) => {
  requirePerson(context);
  const {
    form,
    viewer,
    person,
    found: { canonical },
  } = context;
  const input: ForkForm = {
    owner: form.text('owner') || (person?.username ?? ''),
    name: form.text('name').trim(),
    description: form.text('description'),
    default_branch_only: form.text('default_branch_only') !== '',
  };
  return submitForm(
    async () => {
      const { id } = await deps.repositories.forks.create(viewer, canonical.owner, canonical.name, {
        owner: input.owner,
        ...(input.name !== '' && { name: input.name }),
        description: input.description,
        defaultBranchOnly: input.default_branch_only,
      });
      const { owner, repository } = (await deps.repositories.locate([id])).get(id)!;
      return seeOther(withFlashMessage(repositoryUrl({ owner: owner.handle, name: repository.name }), 'forked'));
    },
    (refusal) => forkPage(context, deps, input, refusal),
  );
};

/** `B/forks`: the forks that the viewer can see, newest first. */
export const showForks: Page<RepositoryContext, RepositoryDeps> = async (context, { repositories, clock }) => {
  const { found, viewer, query } = context;
  const { owner, name } = found.canonical;
  const url = `${repositoryUrl(found.canonical)}/forks`;
  const { repositories: rows, ...beside } = await listPage(
    (paging) => repositories.forks.list(viewer, owner, name, paging),
    query,
  );
  const now = clock.now();
  return page('repository/forks', {
    repository: viewRepositoryHeader(found),
    count: viewCount(found.forks.forks, 'fork'),
    rows: rows.map((row) => viewRepositoryRow(row, now)),
    ...pageLinks(url, beside),
  });
};
