import { refusalOnIssue } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { IssueDeps } from '../deps.ts';
import type { EntryDetails } from '../entry.ts';
import type { EntryLog } from '../entries/write-entries.ts';
import { factsOfIssue } from '../issue-context.ts';
import { close } from '../lifecycle/change-state.ts';
import { resolveIssues, traceableIssue } from '../references/resolve-references.ts';
import type { Target } from '../references/resolve-references.ts';
import { shownClosing } from '../references/shown-references.ts';

/** The issues that texts close by keyword ("fixes #9"), in repositories that the viewer can see. */
export async function findClosingTargets(
  deps: Pick<IssueDeps, 'repositories' | 'settings' | 'shownTexts'>,
  viewer: Viewer,
  repositoryId: string,
  texts: readonly string[],
): Promise<Target[]> {
  const found = new Map(
    (await shownClosing(deps, texts)).map((each) => [
      JSON.stringify([each.repository, each.number]).toLowerCase(),
      each,
    ]),
  );
  return resolveIssues(deps, viewer, repositoryId, [...found.values()]);
}

/**
 * Closes, in a transaction, those of the named issues that the viewer may close; skips the others. Texts never close
 * pull requests.
 * @param cause cause of closing, for the entry; `origin` makes it idempotent
 */
export async function closeReferencedIssues(
  deps: Pick<IssueDeps, 'repositories'>,
  log: EntryLog,
  viewer: Viewer,
  repository: Repository,
  targets: readonly Target[],
  { cause, origin }: { cause: EntryDetails; origin: string },
): Promise<void> {
  for (const target of targets) {
    const found = await traceableIssue(deps, log.tx, viewer, repository, target);
    if (found === null || found.issue.kind === 'PULL') continue;
    if (refusalOnIssue(viewer, found.facts, factsOfIssue(found.issue), 'close') !== null) continue;
    await close(log, found.issue, 'completed', { cause, origin });
  }
}
