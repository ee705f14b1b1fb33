import { anonymous, personIdOf, personViewer, refusalOnIssue } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import { repositoryOf } from '../../repositories/index.ts';
import type { Repository } from '../../repositories/index.ts';
import { attachmentsIn, recordAttachmentUses } from '../attachment-uses.ts';
import type { IssueDeps } from '../deps.ts';
import type { EntryLog } from '../entries/write-entries.ts';
import { factsOfIssue, repositoryContext } from '../issue-context.ts';
import type { IssueContext } from '../issue-context.ts';
import { insertOrIgnore } from '../insert-or-ignore.ts';
import { limits } from '../limits.ts';
import { issueLinkSchema } from '../schema/classification-schema.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';
import { subscribeOnce } from '../subscribe.ts';
import { mentionSchema } from '../schema/participation-schema.ts';
import type { IssueReference, Reference } from './parse-references.ts';
import { shownReferences } from './shown-references.ts';

/** An issue by its location. */
export interface Target {
  repositoryId: string;
  number: number;
}

/** Objects that a text refers to and its author can see; resolved before the transaction that records it. */
export interface ResolvedReferences {
  issues: Target[];
  /** UUIDs of mentioned users. */
  people: string[];
  /** Files shown in the text. */
  attachments: string[];
}

/** Resolves the references in texts of one author: bounded, and limited to objects that the author can see. */
export async function resolveReferences(
  deps: Pick<IssueDeps, 'repositories' | 'owners' | 'organisations' | 'settings' | 'shownTexts'>,
  viewer: Viewer,
  home: Repository,
  ...texts: readonly string[]
): Promise<ResolvedReferences> {
  const references = await shownReferences(deps, texts);
  const people = await peopleIn(deps, viewer, home, references);
  const wanted = references.filter((each): each is IssueReference & typeof each => each.kind === 'issue');
  const issues = await resolveIssues(deps, viewer, home.id, wanted);
  return { issues, people, attachments: texts.flatMap(attachmentsIn) };
}

/**
 * UUIDs of the users mentioned in texts, at most `mentionsPerText`, including members of mentioned teams that the
 * author may know of. Does not check their read access.
 */
export async function peopleMentioned(
  deps: Pick<IssueDeps, 'owners' | 'organisations' | 'settings' | 'shownTexts'>,
  { authorId, repository }: { authorId: string | null; repository: Repository },
  ...texts: readonly string[]
): Promise<string[]> {
  const author = authorId === null ? anonymous : personViewer(authorId, 'read');
  return peopleIn(deps, author, repository, await shownReferences(deps, texts));
}

async function peopleIn(
  { owners, organisations }: Pick<IssueDeps, 'owners' | 'organisations'>,
  viewer: Viewer,
  home: Repository,
  references: readonly Reference[],
): Promise<string[]> {
  const handles = new Set(references.flatMap((each) => (each.kind === 'person' ? each.handle.toLowerCase() : [])));
  const people = new Set<string>();
  for (const handle of [...handles].slice(0, limits.mentionsPerText)) {
    const owner = await owners.resolve(handle);
    if (owner?.kind === 'user') people.add(owner.id);
  }
  const teams = new Map(
    references.flatMap((each) =>
      each.kind === 'team' ? [[`${each.organisation}/${each.team}`.toLowerCase(), each]] : [],
    ),
  );
  for (const { organisation, team } of [...teams.values()].slice(0, limits.teamsPerText)) {
    const found = await organisations.teams.find(viewer, { organisation, name: team }).catch(nullIfNotFound);
    // Elsewhere a team mention would reach people unrelated to the repository.
    if (found === null || found.organisation.id !== home.ownerOrganisationId) continue;
    for (const id of (await organisations.teams.peopleOf([found.team.id])).get(found.team.id) ?? []) people.add(id);
  }
  return [...people];
}

/** The issues of references, each once, in repositories that the viewer can see. They may not exist. */
export async function resolveIssues(
  deps: Pick<IssueDeps, 'repositories'>,
  viewer: Viewer,
  homeId: string,
  references: readonly IssueReference[],
): Promise<Target[]> {
  const repositories = new Map<string, string | null>();
  const targets = new Map<string, Target>();
  for (const { repository, number } of references) {
    let repositoryId: string | null = homeId;
    if (repository !== null) {
      const key = `${repository.owner}/${repository.name}`.toLowerCase();
      const known = repositories.get(key);
      // Each repository name is a look-up.
      if (known === undefined && repositories.size >= limits.entriesPerText) continue;
      const found =
        known === undefined
          ? await deps.repositories.find(viewer, repository.owner, repository.name).catch(nullIfNotFound)
          : null;
      repositoryId = known ?? found?.repository.id ?? null;
      repositories.set(key, repositoryId);
    }
    if (repositoryId !== null) targets.set(`${repositoryId}#${number}`, { repositoryId, number });
    if (targets.size === limits.entriesPerText) break;
  }
  return [...targets.values()];
}

/**
 * Targets in which `source` may leave a trace: an issue that the viewer can see, in a repository that is not archived,
 * whose owner has not blocked them. Nothing PRIVATE leaves a trace in anything PUBLIC.
 */
export async function traceableIssue(
  deps: Pick<IssueDeps, 'repositories'>,
  tx: Tx,
  viewer: Viewer,
  source: Repository,
  { repositoryId, number }: Target,
): Promise<IssueContext | null> {
  const repository = repositoryId === source.id ? source : await repositoryOf(tx, repositoryId);
  if (repository === null || repository.archivedAt !== null) return null;
  if (source.visibility === 'PRIVATE' && repository.visibility === 'PUBLIC') return null;
  const issue = await tx.manager.findOneBy(issueSchema, { repositoryId, number });
  if (issue === null) return null;
  const context = await repositoryContext(deps, tx.manager, personIdOf(viewer), repository);
  if (context.facts.blocked || refusalOnIssue(viewer, context.facts, factsOfIssue(issue), 'read') !== null) return null;
  return { ...context, issue };
}

/**
 * Records the references of an issue text, in its transaction: mentions users, adds one entry per referring issue to
 * other issues, and shows files.
 */
export async function recordReferences(
  deps: Pick<IssueDeps, 'repositories'>,
  log: EntryLog,
  viewer: Viewer,
  from: { issue: Issue; repository: Repository; position: number },
  { issues, people, attachments }: ResolvedReferences,
): Promise<void> {
  const { manager, now } = log.tx;
  const shown = { issueId: from.issue.id, repositoryId: from.repository.id, position: from.position };
  await recordAttachmentUses(log.tx, shown, personIdOf(viewer), attachments);
  for (const userId of people) {
    await insertOrIgnore(log.tx, mentionSchema, { issueId: from.issue.id, userId });
    await subscribeOnce(log.tx, from.issue.id, userId, 'mention');
  }
  for (const target of issues) {
    const found = await traceableIssue(deps, log.tx, viewer, from.repository, target);
    if (found === null || found.issue.id === from.issue.id) continue;
    const link = { fromId: from.issue.id, toId: found.issue.id, kind: 'mentions' as const };
    if (await manager.existsBy(issueLinkSchema, link)) continue;
    await manager.insert(issueLinkSchema, { ...link, createdAt: now });
    await log.append(found.issue, {
      kind: 'mentioned',
      details: { issueId: from.issue.id, position: from.position },
      origin: `issue:${from.issue.id}`,
      touches: false,
    });
  }
}
