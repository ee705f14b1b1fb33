import { refusalOnIssue } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { IssueDeps } from '../deps.ts';
import type { EntryDetails } from '../entries/entry.ts';
import type { EntryLog } from '../entries/write-entries.ts';
import { factsOfIssue } from '../issue-context.ts';
import { close } from '../lifecycle/change-state.ts';
import { resolveIssues, traceableIssue } from '../references/resolve-references.ts';
import type { Target } from '../references/resolve-references.ts';
import { shownClosing } from '../references/shown-references.ts';

/** The issues that some texts say they close ("fixes #9"), in repositories that the viewer may see. */
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
 * Closes, in a write, those of the named issues that the viewer may close; the others stay. Pull requests are never
 * closed by a text.
 * @param cause what closed them, for the entry; `origin` makes it happen once
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
