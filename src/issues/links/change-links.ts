import type { Viewer } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import { otherIssues } from '../entries/list-entries.ts';
import type { OtherIssue } from '../entries/list-entries.ts';
import { findIssue, issueInWrite } from '../find-issue.ts';
import type { IssueAt } from '../issue-context.ts';
import { limits } from '../limits.ts';
import { withIssueWrite } from '../with-issue-write.ts';
import { traceableIssue } from '../references/resolve-references.ts';
import { issueLinkSchema } from '../schema/classification-schema.ts';
import type { LinkKind } from '../schema/classification-schema.ts';

/** Link kinds that users set manually; `mentions` is derived from texts. */
export type SettableLink = Exclude<LinkKind, 'mentions'>;

export interface Link {
  kind: LinkKind;
  /** Whether this issue is the source of the link: it closes, needs, duplicates or mentions the other. */
  isOutgoing: boolean;
  issue: OtherIssue;
}

const settable: readonly string[] = ['closes', 'needs', 'duplicates'];

/**
 * Links an issue to another one that the viewer can read. Each gets an entry, but nothing PRIVATE leaves one in
 * anything PUBLIC. Throws `invalid_link`, `too_many_links`, and permission errors.
 */
export async function addLink(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  kind: SettableLink,
  to: IssueAt,
): Promise<void> {
  if (!settable.includes(kind)) throw invalid('invalid_link', 'This link does not exist.', { field: 'kind' });
  const target = await findIssue(deps, viewer, to);
  await withIssueWrite(deps, viewer, at, 'triage', async (log, { issue, repository }) => {
    const { manager, now } = log.tx;
    const { issue: other } = await issueInWrite(deps, log.tx, viewer, target.issue, 'read');
    if (other.id === issue.id) throw invalid('invalid_link', 'An issue cannot be linked to itself.', { field: 'to' });
    const link = { fromId: issue.id, toId: other.id, kind };
    if (await manager.existsBy(issueLinkSchema, link)) return;
    if ((await manager.countBy(issueLinkSchema, { fromId: issue.id })) >= limits.linksPerIssue)
      throw invalid('too_many_links', `An issue can have at most ${limits.linksPerIssue} links.`);
    await manager.insert(issueLinkSchema, { ...link, createdAt: now });
    await log.append(issue, { kind: 'linked', details: { link: kind, issueId: other.id } });
    const traced = await traceableIssue(deps, log.tx, viewer, repository, other);
    if (traced !== null)
      await log.append(traced.issue, {
        kind: 'linked',
        details: { link: kind, issueId: issue.id, isIncoming: true },
        touches: false,
      });
  });
}

/** Removes a link; a missing one is not an error. */
export async function removeLink(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  kind: SettableLink,
  to: IssueAt,
): Promise<void> {
  const target = await findIssue(deps, viewer, to);
  await withIssueWrite(deps, viewer, at, 'triage', async (log, { issue }) => {
    const { affected } = await log.tx.manager.delete(issueLinkSchema, {
      fromId: issue.id,
      toId: target.issue.id,
      kind,
    });
    if (affected === 0 || !settable.includes(kind)) return;
    await log.append(issue, { kind: 'unlinked', details: { link: kind, issueId: target.issue.id } });
  });
}

/** The links of an issue in both directions, if the viewer can see the other issue. */
export async function listLinks(deps: IssueDeps, viewer: Viewer, at: IssueAt): Promise<Link[]> {
  const { issue } = await findIssue(deps, viewer, at);
  const rows = async (column: 'fromId' | 'toId') =>
    deps.db.read
      .createQueryBuilder(issueLinkSchema, 'l')
      .where(`l.${column === 'fromId' ? 'from_id' : 'to_id'} = :id`, { id: issue.id })
      .limit(limits.linksPerIssue)
      .getMany();
  const [outgoing, incoming] = await Promise.all([rows('fromId'), rows('toId')]);
  const ids = [...outgoing.map(({ toId }) => toId), ...incoming.map(({ fromId }) => fromId)];
  const others = await otherIssues(deps.db, viewer, ids);
  const link = (kind: LinkKind, id: string, isOutgoing: boolean): Link[] => {
    const other = others.get(id);
    return other === undefined ? [] : [{ kind, isOutgoing, issue: other }];
  };
  return [
    ...outgoing.flatMap(({ kind, toId }) => link(kind, toId, true)),
    ...incoming.flatMap(({ kind, fromId }) => link(kind, fromId, false)),
  ];
}
