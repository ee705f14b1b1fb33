import type { Viewer } from '../../access/index.ts';
import { refusalInRepository } from '../../access/index.ts';
import { parseText } from '../../accounts/index.ts';
import { isUniqueViolation } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict, forbidden, invalid, notFound } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findRepositoryContext, repositoryInWrite } from '../find-issue.ts';
import { refuse } from '../issue-errors.ts';
import type { RepositoryAt } from '../issue-context.ts';
import { limits } from '../limits.ts';
import { foldName } from '../parse-texts.ts';
import { labelSchema } from '../schema/classification-schema.ts';
import type { LabelRow } from '../schema/classification-schema.ts';

/** A label as callers see it. */
export type Label = LabelRow;

interface LabelFields {
  name: unknown;
  /** Six hex digits, with or without `#`. */
  colour: unknown;
  description?: unknown;
  isExclusive?: boolean;
}

/** Owner of labels: a repository, or an organisation, for all its repositories. */
export type LabelScope = { repository: RepositoryAt } | { organisation: string };

/** Default labels of a new repository. */
export const defaultLabels: readonly { name: string; colour: string; description: string; isExclusive: boolean }[] = [
  { name: 'kind/bug', colour: 'd73a4a', description: 'Something does not work', isExclusive: true },
  { name: 'kind/feature', colour: '0e8a16', description: 'Something new', isExclusive: true },
  { name: 'kind/documentation', colour: '0075ca', description: 'Texts that explain', isExclusive: true },
  { name: 'kind/question', colour: 'd876e3', description: 'More information is wanted', isExclusive: true },
  { name: 'priority/high', colour: 'b60205', description: 'Before everything else', isExclusive: true },
  { name: 'priority/low', colour: 'c5def5', description: 'When there is time', isExclusive: true },
  { name: 'duplicate', colour: 'cfd3d7', description: 'There is another one like it', isExclusive: false },
  { name: 'good first issue', colour: '7057ff', description: 'Good for newcomers', isExclusive: false },
  { name: 'help wanted', colour: '008672', description: 'Help is welcome', isExclusive: false },
  { name: 'wontfix', colour: 'ffffff', description: 'This will not be worked on', isExclusive: false },
];

/** The labels available to issues of a repository: its own and its organisation's, sorted by name. */
export async function listLabels(deps: IssueDeps, viewer: Viewer, at: RepositoryAt): Promise<Label[]> {
  const { repository } = await findRepositoryContext(deps, viewer, at);
  const own = await deps.db.read.findBy(labelSchema, { repositoryId: repository.id });
  const organisationId = repository.ownerOrganisationId;
  const shared = organisationId === null ? [] : await deps.db.read.findBy(labelSchema, { organisationId });
  const names = new Set(own.map(({ nameFolded }) => nameFolded));
  return [...own, ...shared.filter(({ nameFolded }) => !names.has(nameFolded))].sort(byName);
}

/** The organisation's own labels. */
export async function listOrganisationLabels({ db, owners }: IssueDeps, organisation: string): Promise<Label[]> {
  const owner = await owners.resolve(organisation);
  if (owner?.kind !== 'organisation') throw labelNotFound();
  return (await db.read.findBy(labelSchema, { organisationId: owner.id })).sort(byName);
}

/** Throws `invalid_colour`, `label_taken`, `too_many_labels`, and permission errors. */
export async function addLabel(
  deps: IssueDeps,
  viewer: Viewer,
  scope: LabelScope,
  fields: LabelFields,
): Promise<Label> {
  const parsed = parseLabel(fields);
  return inScope(deps, viewer, scope, async (tx, own) => {
    if ((await tx.manager.countBy(labelSchema, own)) >= limits.labelsPerScope)
      throw invalid('too_many_labels', `At most ${limits.labelsPerScope} labels can be created here.`);
    const label: Label = { id: deps.random.uuid(), repositoryId: null, organisationId: null, ...own, ...parsed };
    await tx.manager.insert(labelSchema, label);
    return label;
  });
}

/** Adds the default labels whose names are free. */
export async function addDefaultLabels(deps: IssueDeps, viewer: Viewer, scope: LabelScope): Promise<void> {
  await inScope(deps, viewer, scope, async (tx, own) => {
    const taken = new Set((await tx.manager.findBy(labelSchema, own)).map(({ nameFolded }) => nameFolded));
    for (const fields of defaultLabels) {
      if (taken.has(foldName(fields.name))) continue;
      const noScope = { repositoryId: null, organisationId: null };
      await tx.manager.insert(labelSchema, { id: deps.random.uuid(), ...noScope, ...own, ...parseLabel(fields) });
    }
  });
}

/** Issues keep the label. Also throws `label_not_found`. */
export async function editLabel(
  deps: IssueDeps,
  viewer: Viewer,
  scope: LabelScope,
  id: string,
  fields: LabelFields,
): Promise<void> {
  const parsed = parseLabel(fields);
  await inScope(deps, viewer, scope, async ({ manager }, own) => {
    if (!(await manager.existsBy(labelSchema, { id, ...own }))) throw labelNotFound();
    await manager.update(labelSchema, { id }, parsed);
  });
}

/** Also removes it from all issues; their logs still name it. */
export async function deleteLabel(deps: IssueDeps, viewer: Viewer, scope: LabelScope, id: string): Promise<void> {
  await inScope(deps, viewer, scope, async ({ manager }, own) => {
    const { affected } = await manager.delete(labelSchema, { id, ...own });
    if (affected === 0) throw labelNotFound();
  });
}

async function inScope<T>(
  deps: IssueDeps,
  viewer: Viewer,
  scope: LabelScope,
  work: (tx: Tx, own: { repositoryId: string } | { organisationId: string }) => Promise<T>,
): Promise<T> {
  try {
    if ('repository' in scope) {
      const { repository } = await findRepositoryContext(deps, viewer, scope.repository, 'label');
      return await deps.db.write(async (tx) => {
        const context = await repositoryInWrite(deps, tx, viewer, repository.id);
        refuse(refusalInRepository(viewer, context.facts, 'label'));
        return work(tx, { repositoryId: repository.id });
      });
    }
    const owner = await deps.owners.resolve(scope.organisation);
    if (owner?.kind !== 'organisation') throw labelNotFound();
    return await deps.db.write(async (tx) => {
      await refuseUnlessOwns(deps, tx, viewer, owner.id);
      return work(tx, { organisationId: owner.id });
    });
  } catch (error) {
    if (isUniqueViolation(error, 'labels_repository_name') || isUniqueViolation(error, 'labels_organisation_name'))
      throw conflict('label_taken', 'A label with this name already exists.', { field: 'name' });
    throw error;
  }
}

async function refuseUnlessOwns(
  { organisations }: IssueDeps,
  { manager }: Tx,
  viewer: Viewer,
  organisationId: string,
): Promise<void> {
  if (viewer.kind === 'person' && viewer.via === 'local') return;
  const isOwner =
    viewer.kind === 'person' &&
    viewer.scope === 'admin' &&
    viewer.repositoryIds === null &&
    (await organisations.roleOf(viewer.id, organisationId, manager)) === 'OWNER';
  if (!isOwner) throw forbidden('not_organisation_owner', 'Only an owner of this organisation can do this.');
}

function parseLabel({ name: givenName, colour: givenColour, description = '', isExclusive = false }: LabelFields) {
  const name = parseText(givenName, { field: 'name', called: 'The name', maxCharacters: limits.labelNameCharacters });
  // Quotes and commas would end it in a filter.
  if (name === '' || /[",]/.test(name))
    throw invalid('invalid_label_name', 'Enter a label name without commas or quotes.', { field: 'name' });
  const [, colour] = /^#?([0-9a-f]{6})$/i.exec(String(givenColour)) ?? [];
  if (colour === undefined) throw invalid('invalid_colour', 'Enter the colour as six hex digits.', { field: 'colour' });
  return {
    name,
    nameFolded: foldName(name),
    colour: colour.toLowerCase(),
    description: parseText(description, {
      field: 'description',
      called: 'The description',
      maxCharacters: limits.descriptionCharacters,
    }),
    isExclusive,
  };
}

const byName = (a: Label, b: Label): number => (a.nameFolded < b.nameFolded ? -1 : 1);
const labelNotFound = () => notFound('label_not_found', 'Label not found');
