import { personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { parseText } from '../../accounts/index.ts';
import type { Tx } from '../../db/index.ts';
import type { TextRule } from '../../accounts/index.ts';
import { invalid } from '../../kernel/index.ts';
import { findAgain, findRepository } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import type { RepositoryDeps } from '../deps.ts';
import { commitStatusSchema } from '../schema/commit-status-schema.ts';
import type { CommitState, CommitStatus } from '../schema/commit-status-schema.ts';
import { setCommitStatus } from './commit-statuses.ts';
import { addStatusReport } from './status-reports.ts';

/** A status reported by an external check. */
export interface ReportedStatus {
  /** Full id of an existing commit. */
  sha: string;
  context: string;
  /** A warning counts as a success with a warning. */
  state: CommitState | 'warning';
  description?: string | undefined;
  targetUrl?: string | null | undefined;
}

const contextRule: TextRule = { field: 'context', called: 'The context', maxCharacters: 200 };
const descriptionRule: TextRule = { field: 'description', called: 'The description', maxCharacters: 500 };
const maxUrlLength = 1000;
/** Limit of checks per commit; build matrices have fewer. */
const maxContexts = 500;

/**
 * Records the status of an external check for a commit, replacing the previous one of the same context. Throws
 * `repository_not_found` without write access; `invalid_text`, `text_too_long`, `context_missing`,
 * `invalid_target_url`, `too_many_contexts`.
 * @param record called inside the transaction
 */
export async function reportStatus(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  reported: ReportedStatus,
  record: (tx: Tx, status: CommitStatus) => Promise<void>,
): Promise<CommitStatus> {
  const { id: repositoryId } = (await findRepository(deps, viewer, at, 'write')).repository;
  const context = parseText(reported.context, contextRule);
  if (context === '') throw invalid('context_missing', 'Enter the name of the check.', { field: 'context' });
  const description = parseText(reported.description ?? '', descriptionRule);
  const targetUrl = parseTargetUrl(reported.targetUrl ?? null);
  const { sha, state: said } = reported;
  const isWarning = said === 'warning';
  const state = said === 'warning' ? 'success' : said;
  const creatorId = personIdOf(viewer);
  return deps.db.write(async (tx) => {
    await findAgain(deps, tx, viewer, repositoryId, 'write');
    const key = { repositoryId, sha, context };
    const isNew = !(await tx.manager.existsBy(commitStatusSchema, key));
    if (isNew && (await tx.manager.countBy(commitStatusSchema, { repositoryId, sha })) >= maxContexts) {
      throw invalid('too_many_contexts', `A commit can have at most ${maxContexts} checks.`, { field: 'context' });
    }
    await setCommitStatus(tx, { ...key, state, isWarning, description, targetUrl, creatorId });
    await addStatusReport(tx, { ...key, state: said, description, targetUrl, creatorId });
    const recorded = await tx.manager.findOneByOrFail(commitStatusSchema, key);
    await record(tx, recorded);
    return recorded;
  });
}

/** Becomes a link on a page that others open, so only http and https are allowed. */
function parseTargetUrl(text: string | null): string | null {
  if (text === null || text === '') return null;
  const url = text.length > maxUrlLength ? null : URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw invalid(
      'invalid_target_url',
      `The target must be an http(s) address of at most ${maxUrlLength} characters.`,
      { field: 'targetUrl' },
    );
  }
  return url.href;
}
