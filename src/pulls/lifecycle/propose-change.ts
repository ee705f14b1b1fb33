import { personIdOf, refusalInRepository } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { refusalError } from '../../issues/index.ts';
import type { RepositoryAt } from '../../issues/index.ts';
import { forbidden, invalid } from '../../kernel/index.ts';
import type { FileOperation } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { contributedBytes, contributedTooMuch, isOverBudget } from '../rounds/contribution-quota.ts';
import { prepareRound } from '../rounds/record-round.ts';
import { createPull, refuseTooMany } from './open-pull.ts';
import type { OpenedPull } from './open-pull.ts';

interface ProposedChange {
  /** Base branch. */
  base: string;
  operations: readonly FileOperation[];
  /** Title of the pull request and subject of its commit; a default one if empty. */
  title: string;
  body: string;
}

/**
 * Opens a pull request with one commit that changes files, without a fork, for users who need no write access: like a
 * push to `refs/for/<base>`. The author pushes later rounds there. Throws the errors of opening a pull request and of
 * the commit, `base_missing`, `too_many_pulls`, `contributed_too_much`, `repository_archived`.
 */
export async function proposeChange(
  deps: PullDeps,
  viewer: Viewer,
  at: RepositoryAt,
  { base, operations, title, body }: ProposedChange,
): Promise<OpenedPull> {
  const found = await deps.repositories.find(viewer, at.owner, at.name);
  const { facts } = await deps.issues.pulls.contextOf(deps.db.lookup, viewer, found.repository);
  const refusal = refusalInRepository(viewer, facts, 'contribute');
  if (refusal !== null) throw refusalError(refusal, 'PULL');
  if (found.repository.archivedAt !== null)
    throw forbidden('repository_archived', 'This repository is archived and read-only.');
  const baseTip = await deps.git.refs.tip(found.path, `refs/heads/${base}`);
  if (baseTip === null)
    throw invalid('base_missing', `This repository has no branch named ${base}.`, { field: 'base' });
  await refuseTooMany(deps, viewer, found);
  const subject = title.trim() || deps.repositories.contents.usualSubject(operations);
  const message = body.trim() === '' ? subject : `${subject}\n\n${body}`;
  const { oid } = await deps.repositories.contents.prepare(viewer, found, baseTip, { operations, message });
  const submitterId = personIdOf(viewer);
  const bytes = await contributedBytes(deps, found, { submitterId, headOid: oid, known: [baseTip] });
  if (await isOverBudget(deps, found.repository.id, submitterId, bytes)) throw contributedTooMuch(deps);
  const prepared = await prepareRound(deps, found.path, null, oid, baseTip);
  return createPull(deps, viewer, found, { title: subject.slice(0, 255), body }, prepared, {
    baseBranch: base,
    isDraft: false,
    maintainersMayPush: false,
    source: 'PUSH',
    origin: { bytes },
  });
}
