import { In } from 'typeorm';
import { internal } from '../../kernel/index.ts';
import { repositoryOf } from '../../repositories/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { IssueDeps } from '../deps.ts';
import { raiseNumber } from '../numbers/next-number.ts';
import { issueSchema, movedIssueSchema } from '../schema/issue-schema.ts';
import type { ImportedIssue } from './export-file-schemas.ts';
import { findPeople } from './imported-people.ts';
import { originOf } from './issue-rows.ts';
import { noPartIds } from './pull-importer.ts';
import type { PreparedPull, PullImporter } from './pull-importer.ts';
import { writeIssue } from './write-issue.ts';
import type { IssuePlan, PreparedIssue } from './write-issue.ts';

/** An issue of another forge, or a pull request with its conversation. */
export interface FollowedIssue {
  issue: ImportedIssue & { origin: string };
  /** Whether the log is complete: comments missing in it were deleted. */
  isWhole: boolean;
  /** Its due date and branch there at the earlier run. */
  planBefore: IssuePlan;
}

interface FollowedOutcome {
  number: number;
  /** `taken`: the number belongs to another issue here. `removed`: it was deleted or moved away here. */
  result: 'added' | 'updated' | 'taken' | 'removed';
  /** Sentences about conflicts: changed on both sides, or only here. */
  conflicts: readonly string[];
}

/**
 * Writes issues of another forge in one transaction, with their numbers, times and order, or updates those of an
 * earlier run. Notifies no person and no listener; no access check. Keeps local changes.
 * @param pulls has the code of the pull requests among them
 */
export async function writeFollowedIssues(
  deps: IssueDeps,
  repository: Repository,
  items: readonly FollowedIssue[],
  pulls: PullImporter,
): Promise<FollowedOutcome[]> {
  const { db, random } = deps;
  const outcomes: (FollowedOutcome & { conflicts: string[] })[] = [];
  const waiting: { prepared: PreparedIssue; outcome: FollowedOutcome & { conflicts: string[] } }[] = [];
  const number = In(items.map(({ issue }) => issue.number));
  const [rows, moved] = await Promise.all([
    db.read.findBy(issueSchema, { repositoryId: repository.id, number }),
    db.read.findBy(movedIssueSchema, { repositoryId: repository.id, number }),
  ]);
  const byNumber = new Map(rows.map((row) => [row.number, row]));
  const goneNumbers = new Set(moved.map((row) => row.number));
  const labelScopes = [
    { repositoryId: repository.id },
    ...(repository.ownerOrganisationId === null ? [] : [{ organisationId: repository.ownerOrganisationId }]),
  ];
  for (const { issue, isWhole, planBefore } of items) {
    const known = byNumber.get(issue.number);
    const outcome = {
      number: issue.number,
      result: known === undefined ? 'added' : 'updated',
      conflicts: [],
    } as FollowedOutcome & { conflicts: string[] };
    outcomes.push(outcome);
    if (goneNumbers.has(issue.number) || (known !== undefined && known.deletedAt !== null)) outcome.result = 'removed';
    else if (known !== undefined && known.origin !== originOf(issue)) outcome.result = 'taken';
    if (outcome.result === 'removed' || outcome.result === 'taken') continue;
    const id = known?.id ?? random.uuid();
    const isKnown = known !== undefined;
    const context = { id, repositoryId: repository.id, isKnown, text: asItIs };
    let pull: PreparedPull | null = null;
    if (issue.kind === 'pull') {
      pull = await pulls.prepare(issue, context);
      if (pull === null) outcome.conflicts.push('it went on here by a round or a merge; its code stays as it is here');
    }
    waiting.push({
      outcome,
      prepared: {
        issue,
        pull: pull ?? undefined,
        files: { rows: [], ids: new Map() },
        labelScopes,
        isKnown,
        following: { isWhole, planBefore },
        context: {
          id,
          repositoryId: repository.id,
          people: await findPeople(deps, issue, true, true),
          ids: new Map(),
          partIds: pull?.ids ?? noPartIds,
          text: asItIs,
        },
      },
    });
  }
  if (waiting.length === 0) return outcomes;
  await db.write(async (tx) => {
    if ((await repositoryOf(tx, repository.id)) === null) throw internal('the repository of an import is gone');
    // Comes first: triggers update the row of the numbers.
    await raiseNumber(tx, repository.id, Math.max(...waiting.map(({ outcome }) => outcome.number)));
    for (const { prepared, outcome } of waiting) {
      const { positions, conflicts } = await writeIssue(tx, prepared);
      await prepared.pull?.write(tx, positions);
      outcome.conflicts.push(...conflicts);
    }
  });
  for (const { prepared } of waiting) await prepared.pull?.written();
  return outcomes;
}

const asItIs = (text: string): string => text;
