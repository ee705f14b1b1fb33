import { viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { parseWebsite } from '../../accounts/index.ts';
import { invalid } from '../../kernel/index.ts';
import { parseDescription } from '../create-repository.ts';
import { findAgain, findRepository } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { protectDefaultBranch } from '../rules/default-rule.ts';
import { parseBranchName } from '../branch-name.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';

/** Editable settings; omitted fields stay unchanged. */
export interface RepositoryEdit {
  description?: string;
  /** An http or https URL; empty if none. */
  website?: string;
  /** An existing branch; any name while the repository is empty. */
  defaultBranch?: string;
  /** Whether pushes may not rewrite the default branch; stored in the rule that decides about it. */
  defaultBranchProtected?: boolean;
  /** Whether pushes may write `refs/changes/` and `refs/meta/`. */
  acceptsGerritRefs?: boolean;
  /** Whether it is a template for new repositories. */
  isTemplate?: boolean;
}

/**
 * Edits the settings of a repository, for those who administer it; returns its id if something changed. Throws
 * `repository_not_found` for everyone else; `invalid_description`; `invalid_text`, `text_too_long`, `invalid_website`;
 * `invalid_branch_name`, `branch_not_found`.
 */
export async function editRepository(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  edit: RepositoryEdit,
): Promise<string | null> {
  const { repository, path } = await findRepository(deps, viewer, at, 'admin');
  const changes: Partial<Repository> = {};
  if (edit.description !== undefined) changes.description = parseDescription(edit.description);
  if (edit.website !== undefined) changes.website = parseWebsite(edit.website);
  if (edit.acceptsGerritRefs !== undefined) changes.acceptsGerritRefs = edit.acceptsGerritRefs;
  if (edit.isTemplate !== undefined) changes.isTemplate = edit.isTemplate;
  if (edit.defaultBranch !== undefined) changes.defaultBranch = await branchToShow(deps, path, edit.defaultBranch);
  const { defaultBranchProtected: isProtected } = edit;
  if (Object.keys(changes).length === 0 && isProtected === undefined) return null;

  // git first: it cannot join the transaction, and setting the branch again is harmless.
  if (changes.defaultBranch !== undefined) await deps.git.refs.setHead(path, changes.defaultBranch);
  const isRuleChanged = await deps.db.write(async (tx) => {
    const row = await findAgain(deps, tx, viewer, repository.id, 'admin');
    await tx.manager.update(repositorySchema, { id: repository.id }, { ...changes, updatedAt: tx.now });
    if (isProtected === undefined) return false;
    return protectDefaultBranch(tx.manager, { random: deps.random, now: tx.now }, { ...row, ...changes }, isProtected);
  });
  deps.logger.info('repository.edited', {
    repositoryId: repository.id,
    fields: [...Object.keys(changes), ...(isProtected === undefined ? [] : ['defaultBranchProtected'])],
    by: viewerForLog(viewer),
  });
  const { defaultBranch: branch } = changes;
  // The rule of the default branch now protects another one.
  if (branch !== undefined && branch !== repository.defaultBranch)
    deps.logger.info('repository.default_branch_changed', {
      repositoryId: repository.id,
      from: repository.defaultBranch,
      to: branch,
      by: viewerForLog(viewer),
    });
  if (isRuleChanged) {
    deps.logger.info('repository.protection_changed', {
      repositoryId: repository.id,
      isProtected,
      by: viewerForLog(viewer),
    });
  }
  return repository.id;
}

async function branchToShow(deps: RepositoryDeps, path: string, text: string): Promise<string> {
  const branch = parseBranchName(text);
  const isThere = (await deps.git.refs.tip(path, `refs/heads/${branch}`)) !== null;
  if (!isThere && (await deps.git.queries.cachedRefs(path)).count('refs/heads/') > 0) {
    throw invalid('branch_not_found', 'There is no branch with this name.', { field: 'default_branch' });
  }
  return branch;
}
