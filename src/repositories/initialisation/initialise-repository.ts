import type { Viewer } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import { changeFiles } from '../contents/change-files.ts';
import type { MoveBranch } from '../contents/change-files.ts';
import { commitPeople } from '../contents/commit-author.ts';
import { createRepository } from '../create-repository.ts';
import type { NewRepository } from '../create-repository.ts';
import type { RepositoryDeps } from '../deps.ts';
import { findRepository } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import type { Repository } from '../schema/repository-schema.ts';
import { checkInitialFiles, createInitialFiles } from './initial-files.ts';
import type { InitialFiles } from './initial-files.ts';
import { pushChannelOf } from '../pushes/push-channel.ts';

export interface InitialisedRepository extends NewRepository, InitialFiles {
  /** Template repository whose files are copied, instead of the files above. */
  template?: RepositoryAddress | undefined;
}

const firstMessage = 'Initial commit';

/**
 * Creates a repository, with initial files if requested: one commit, pushed by its creator. Throws what
 * `createRepository` throws, `unknown_licence`, `unknown_gitignore`; for a template `repository_not_found` if the
 * viewer cannot read it, `not_a_template`, `template_empty`.
 */
export async function initialiseRepository(
  deps: RepositoryDeps,
  moveBranch: MoveBranch,
  viewer: Viewer,
  input: InitialisedRepository,
): Promise<Repository> {
  if (input.template !== undefined) return startFromTemplate(deps, moveBranch, viewer, input, input.template);
  const files = checkInitialFiles(input);
  const repository = await createRepository(deps, viewer, input);
  if (files === null) return repository;
  const { name, description } = repository;
  const holder = (await deps.committer.identityOf(viewer)).name;
  const year = new Date(deps.clock.now()).getUTCFullYear();
  const operations = createInitialFiles(files, { name, description, holder, year });
  const at = { owner: ownerIn(viewer, input), name };
  await changeFiles(deps, moveBranch, viewer, at, { operations, message: firstMessage });
  return repository;
}

async function startFromTemplate(
  deps: RepositoryDeps,
  moveBranch: MoveBranch,
  viewer: Viewer,
  input: InitialisedRepository,
  address: RepositoryAddress,
): Promise<Repository> {
  const template = await findRepository(deps, viewer, address);
  const { owner, name } = template.canonical;
  if (!template.repository.isTemplate)
    throw invalid('not_a_template', `${owner}/${name} is not a template.`, { field: 'template' });
  const branch = template.repository.defaultBranch;
  if (!(await deps.git.refs.list(template.path)).has(`refs/heads/${branch}`))
    throw invalid('template_empty', `${owner}/${name} has no files on ${branch}.`, { field: 'template' });
  const repository = await createRepository(deps, viewer, { ...input, defaultBranch: input.defaultBranch ?? branch });
  const made = await findRepository(deps, viewer, { owner: ownerIn(viewer, input), name: repository.name }, 'write');
  const refName = deps.random.uuid();
  try {
    const commit = await deps.git.remotes.fetchLocal(made.path, template.path, branch, refName);
    const people = await commitPeople(deps, viewer);
    const newId = await deps.git.merges.createRootCommit(made.path, { commit, message: firstMessage, ...people });
    await deps.copying.port?.onFetch({ from: template.path, into: made.path, oid: newId });
    await moveBranch(viewer, made, {
      branch: repository.defaultBranch,
      oldId: '0'.repeat(newId.length),
      newId,
      right: 'push',
      via: pushChannelOf(viewer),
    });
  } finally {
    // The template's history stays unreferenced; the next repack drops it.
    await deps.git.objects
      .release(made.path, [`sync/${refName}`])
      .catch((error: unknown) => deps.logger.warn('push.sync_leftovers', { repositoryId: repository.id, error }));
  }
  return repository;
}

const ownerIn = (viewer: Viewer, { owner }: InitialisedRepository): string =>
  owner ?? (viewer.kind === 'person' ? (viewer.username ?? '') : '');
