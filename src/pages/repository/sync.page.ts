import { notFound } from '../../kernel/index.ts';
import type { ForkDivergence } from '../../repositories/index.ts';
import { repositoryUrl, viewCloneBox } from '../../http/index.ts';
import { codeUrl } from '../app/code-urls.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewName } from '../app/printable-names.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext, RepositoryPersonContext } from '../app/request-context.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import type { RepositoryDeps } from './deps.ts';
import { viewForkDivergence } from './fork-divergence.view.ts';
import { shellWord } from './push-instructions.view.ts';

/** A longer drop-down is not readable; users then type the name. */
const maxChoices = 200;

/** Commands for cases that need a merge or a rebase. */
function mergeCommands(context: RepositoryContext, deps: RepositoryDeps, { source, branch }: ForkDivergence): string {
  const { origin, preferences } = context;
  const clone = viewCloneBox({
    origin,
    ...source,
    ssh: deps.ssh(),
    config: deps.config,
    preferred: preferences.clone,
  });
  const address = clone.chosen === 'ssh' && clone.ssh !== null ? clone.ssh : clone.https;
  return [
    `git remote add upstream ${address}`,
    'git fetch upstream',
    `git checkout ${shellWord(branch)}`,
    `git merge ${shellWord(`upstream/${branch}`)}`,
    `git push origin ${shellWord(branch)}`,
  ].join('\n');
}

async function syncPage(
  context: RepositoryContext,
  deps: RepositoryDeps,
  wanted: string,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { found, viewer, query } = context;
  // Absent and hidden sources get the same response.
  if (found.forks.source === null) throw notFound();
  const branch = wanted === '' ? found.repository.defaultBranch : wanted;
  const [distance, refs] = await Promise.all([
    deps.repositories.forks.compare(viewer, found, branch),
    deps.git.queries.cachedRefs(found.path),
  ]);
  const repository = viewRepositoryHeader(found);
  const names = refs.page('refs/heads/', 0, maxChoices + 1).map(({ name }) => name);
  return page('repository/sync', {
    repository,
    source: repository.forkedFrom,
    branch,
    shownBranch: viewName(branch),
    branches: names.length > 0 && names.length <= maxChoices ? names : null,
    distance: distance === null ? null : viewForkDivergence(distance, repositoryUrl(found.canonical)),
    isNew: distance?.oid === null,
    canFastForward:
      repository.mayWrite && !repository.isArchived && distance !== null && distance.ahead === 0
        ? distance.behind > 0 || distance.oid === null
        : false,
    mayMerge:
      repository.mayWrite && !repository.isArchived && distance !== null && distance.ahead > 0 && distance.behind > 0,
    commands:
      distance !== null && distance.ahead > 0 && distance.behind > 0 ? mergeCommands(context, deps, distance) : null,
    refusal,
    notice: viewFlashMessage(query),
  });
}

/** `B/sync?branch=`: the divergence of a fork's branch from the same branch of its source. */
export const showSync: Page<RepositoryContext, RepositoryDeps> = (context, deps) =>
  syncPage(context, deps, context.query.get('branch')?.trim() ?? '', null);

/** Fields `branch`, omitted for the default branch, and `merge` for a branch with its own commits. */
export const syncRepository: Page<RepositoryPersonContext, RepositoryDeps> = (context, deps) => {
  const {
    viewer,
    found: { canonical },
    form,
  } = context;
  const branch = form.text('branch').trim();
  return submitForm(
    async () => {
      const synced = await deps.repositories.forks.sync(viewer, canonical.owner, canonical.name, {
        branch,
        merge: form.text('merge') === 'yes',
      });
      const changed = synced.isMerge ? 'fork-merged' : 'fork-synced';
      const notice = synced.oldId === synced.newId ? 'fork-up-to-date' : changed;
      return seeOther(withFlashMessage(codeUrl(repositoryUrl(canonical), 'tree', synced.branch), notice));
    },
    (refusal) => syncPage(context, deps, branch, refusal),
  );
};
