import { In } from 'typeorm';
import { invalid } from '../../kernel/index.ts';
import type { Tx } from '../../db/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { EntryLog } from '../entries/write-entries.ts';
import type { IssueContext } from '../issue-context.ts';
import { limits } from '../limits.ts';
import { foldName } from '../parse-texts.ts';
import { issueLabelSchema, labelSchema } from '../schema/classification-schema.ts';
import type { LabelRow } from '../schema/classification-schema.ts';

/**
 * Sets the labels of an issue by name, and logs added and removed ones. Of exclusive labels with the same text before
 * the last `/` (`kind/bug`, `kind/feature`), only the last one named stays. Throws `unknown_label`, `too_many_labels`.
 */
export async function setLabels(
  log: EntryLog,
  { issue, repository }: Pick<IssueContext, 'issue' | 'repository'>,
  names: readonly string[],
): Promise<void> {
  const labels = withoutExcluded(await labelsByName(log.tx, repository, names));
  await changeLabels(log, { issue, repository }, labels);
}

/** Adds and removes labels by name. Adding an exclusive label removes others of its scope. */
export async function addAndRemoveLabels(
  log: EntryLog,
  { issue, repository }: Pick<IssueContext, 'issue' | 'repository'>,
  { add = [], remove = [] }: { add?: readonly string[]; remove?: readonly string[] },
): Promise<void> {
  const removed = new Set(remove.map(foldName));
  const present = (await labelsOf(log.tx, issue.id)).filter((label) => !removed.has(label.nameFolded));
  const added = await labelsByName(log.tx, repository, add);
  await changeLabels(log, { issue, repository }, withoutExcluded([...present, ...added]));
}

async function changeLabels(
  log: EntryLog,
  { issue }: Pick<IssueContext, 'issue' | 'repository'>,
  wanted: readonly LabelRow[],
): Promise<void> {
  if (wanted.length > limits.labelsPerIssue)
    throw invalid('too_many_labels', `An issue can have at most ${limits.labelsPerIssue} labels.`, { field: 'labels' });
  const { manager } = log.tx;
  const present = await labelsOf(log.tx, issue.id);
  const gone = present.filter(({ id }) => !wanted.some((label) => label.id === id));
  const added = wanted.filter(({ id }) => !present.some((label) => label.id === id));
  if (gone.length > 0)
    await manager.delete(issueLabelSchema, { issueId: issue.id, labelId: In(gone.map(({ id }) => id)) });
  if (added.length > 0)
    await manager.insert(
      issueLabelSchema,
      added.map(({ id }) => ({ issueId: issue.id, labelId: id })),
    );
  // After both, so that boards see a replaced label as one change.
  if (gone.length > 0) await log.append(issue, { kind: 'unlabelled', details: { labels: gone.map(shown) } });
  if (added.length > 0) await log.append(issue, { kind: 'labelled', details: { labels: added.map(shown) } });
}

/** Label data stored in the log, because the label may be renamed or deleted. */
const shown = ({ name, colour }: LabelRow) => ({ name, colour });

export async function labelsOf({ manager }: Pick<Tx, 'manager'>, issueId: string): Promise<LabelRow[]> {
  return manager
    .createQueryBuilder(labelSchema, 'l')
    .innerJoin('issue_labels', 'il', 'il.label_id = l.id')
    .where('il.issue_id = :issueId', { issueId })
    .getMany();
}

/** Labels of a repository and of the owning organisation, the repository's first. */
async function labelsByName({ manager }: Tx, repository: Repository, names: readonly string[]): Promise<LabelRow[]> {
  const wanted = [...new Set(names.map(foldName))];
  if (wanted.length === 0) return [];
  if (wanted.length > limits.labelsPerScope) throw invalid('too_many_labels', 'Too many labels.', { field: 'labels' });
  const rows = await manager.findBy(labelSchema, { repositoryId: repository.id, nameFolded: In(wanted) });
  const organisationId = repository.ownerOrganisationId;
  if (organisationId !== null)
    rows.push(...(await manager.findBy(labelSchema, { organisationId, nameFolded: In(wanted) })));
  return wanted.map((name) => {
    const found = rows.find(({ nameFolded }) => nameFolded === name);
    if (found === undefined) throw invalid('unknown_label', `There is no label named ${name}.`, { field: 'labels' });
    return found;
  });
}

/** The scope of an exclusive label, `kind` of `kind/bug`; null for others. */
const exclusiveScope = ({ isExclusive, nameFolded }: LabelRow): string | null =>
  isExclusive && nameFolded.includes('/') ? nameFolded.slice(0, nameFolded.lastIndexOf('/')) : null;

function withoutExcluded(labels: readonly LabelRow[]): LabelRow[] {
  const last = new Map(labels.map((label) => [exclusiveScope(label), label]));
  return labels.filter((label) => {
    const scope = exclusiveScope(label);
    return scope === null || last.get(scope) === label;
  });
}
