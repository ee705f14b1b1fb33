import { refusalOnIssue, viewerWithCredential } from '../../access/index.ts';
import { noRef } from '../../kernel/index.ts';
import type { Tx } from '../../db/index.ts';
import type { AnnouncedPush, PushListener } from '../../repositories/index.ts';
import type { IssueDeps } from '../deps.ts';
import { EntryLog } from '../entries/write-entries.ts';
import { factsOfIssue } from '../issue-context.ts';
import { limits } from '../limits.ts';
import { close } from '../lifecycle/change-state.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import { parseClosing, parseReferences } from '../references/parse-references.ts';
import { shortenOwnUrls } from '../references/parse-issue-urls.ts';
import { resolveIssues, traceableIssue } from '../references/resolve-references.ts';
import type { Target } from '../references/resolve-references.ts';

/** An issue that a commit names. */
interface Named {
  oid: string;
  target: Target;
  closes: boolean;
}

interface Prepared {
  named: Named[];
  /** Result of `record`, passed to `recorded`. */
  appended: { issueId: string; position: number }[];
}

/**
 * Push listener: a commit that reaches the default branch adds an entry to the issues that its message names, and
 * closes those with a closing keyword if the user who pushed may close them. Only pushes of users count: a mirror, an
 * import and the first push of a branch bring history whose issues were closed elsewhere. The limits of the credential
 * that pushed also apply in other repositories: a token for one repository acts only there. Bounded per push.
 */
export function closeByCommits(deps: IssueDeps): PushListener<Prepared> {
  return {
    name: 'issues',
    async prepare(push) {
      const named = await namedBy(deps, push);
      return named.length === 0 ? null : { named, appended: [] };
    },
    async record(tx, push, prepared) {
      prepared.appended = await record(deps, tx, push, prepared.named);
    },
    recorded: (_push, { appended }) => deps.announcer.announceAll(appended),
  };
}

/** Pushes whose commits close issues: undone, mirrored and synchronised ones repeat pushes made elsewhere. */
const byPeople: ReadonlySet<AnnouncedPush['via']> = new Set(['http', 'ssh', 'web', 'api', 'cli', 'merge']);

async function namedBy(deps: IssueDeps, push: AnnouncedPush): Promise<Named[]> {
  const { repository, pusherId, via } = push;
  if (pusherId === null || !byPeople.has(via)) return [];
  const branch = push.updates.find(({ ref }) => ref === `refs/heads/${repository.defaultBranch}`);
  if (branch === undefined || noRef.test(branch.oldId) || noRef.test(branch.newId)) return [];
  const located = (await deps.repositories.locate([repository.id])).get(repository.id);
  if (located === undefined) return [];
  const { commits } = await deps.git.objects.newCommits(located.path, branch.newId, [branch.oldId], {
    limit: limits.commitsPerPush,
  });
  const pusher = viewerWithCredential(pusherId, push.credential, repository.id);
  const { baseUrl } = deps.settings;
  const named: Named[] = [];
  // Oldest first, in the order of events.
  for (const { oid, message } of commits.reverse()) {
    const text = shortenOwnUrls(message.slice(0, limits.bodyBytes), baseUrl);
    const closing = await resolveIssues(deps, pusher, repository.id, parseClosing(text));
    const issues = parseReferences(text).flatMap((each) => (each.kind === 'issue' ? [each] : []));
    const others = await resolveIssues(deps, pusher, repository.id, issues);
    const closed = new Set(closing.map(({ repositoryId, number }) => `${repositoryId}#${number}`));
    named.push(...closing.map((target) => ({ oid, target, closes: true })));
    for (const target of others)
      if (!closed.has(`${target.repositoryId}#${target.number}`)) named.push({ oid, target, closes: false });
    if (named.length >= limits.entriesPerText) break;
  }
  return named.slice(0, limits.entriesPerText);
}

async function record(
  deps: IssueDeps,
  tx: Tx,
  { repository, pusherId, credential, via }: AnnouncedPush,
  named: readonly Named[],
): Promise<Prepared['appended']> {
  const pusher = viewerWithCredential(pusherId!, credential, repository.id);
  const log = new EntryLog(tx, pusher, deps);
  for (const { oid, target, closes } of named) {
    const found = await traceableIssue(deps, tx, pusher, repository, target);
    if (found === null) continue;
    const { issue, facts } = found;
    // A merge commit names its pull request, whose log has the merge.
    if (via === 'merge' && issue.kind === 'PULL') continue;
    const mayAdd = refusalOnIssue(pusher, facts, factsOfIssue(issue), 'contribute') === null;
    // Users who cannot comment in another repository leave no entry there either.
    if (target.repositoryId !== repository.id && !mayAdd) continue;
    const origin = `${closes ? 'closes' : 'commit'}:${oid}`;
    // A commit pushed again, after a force push, was already processed.
    if (await tx.manager.existsBy(entrySchema, { issueId: issue.id, origin })) continue;
    const cause = { commit: oid, repositoryId: repository.id };
    const mayClose = closes && refusalOnIssue(pusher, facts, factsOfIssue(issue), 'close') === null;
    if (mayClose && issue.state === 'OPEN') await close(log, issue, 'completed', { cause, origin });
    else await log.append(issue, { kind: 'mentioned', details: cause, origin, touches: false, via: 'git' });
  }
  return log.appended;
}
