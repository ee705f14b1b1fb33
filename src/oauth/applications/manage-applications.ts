import { hashSecret, parseText } from '../../accounts/index.ts';
import { conflict, invalid, notFound } from '../../kernel/index.ts';
import type { OAuthDeps } from '../deps.ts';
import { recordSchema } from '../schema/record-schema.ts';
import { applicationSchema } from '../schema/application-schema.ts';
import type { ApplicationRow } from '../schema/application-schema.ts';
import { ownerColumns, toApplication } from './application.ts';
import type { Application, ApplicationOwner } from './application.ts';
import { ownedBy } from './owned-by.ts';
import { parseRedirectUris } from './redirect-uris.ts';

export interface ApplicationInput {
  name: string;
  redirectUris: readonly string[];
  isConfidential: boolean;
}

const mostPerOwner = 100;
const nameRule = { field: 'name', called: 'The name', maxCharacters: 100 };

const noSuchApplication = () => notFound('unknown_application', 'There is no such application.');

function parseInput(input: ApplicationInput): { name: string; redirectUris: string } {
  const name = parseText(input.name, nameRule);
  if (name === '') throw invalid('name_missing', 'Enter a name for the application.', { field: 'name' });
  return { name, redirectUris: JSON.stringify(parseRedirectUris(input.redirectUris, input)) };
}

/** What entries of the audit log say of each. */
const logged = (owner: ApplicationOwner, applicationId: string) => ({
  applicationId,
  scope: owner.kind,
  ...(owner.kind !== 'instance' && { scopeId: owner.id }),
});

/** A secret for a confidential client: `hts_` and 256 bits. */
const newSecret = ({ random }: OAuthDeps): string => `hts_${random.bytes(32).toString('base64url')}`;
const columnsOf = (secret: string | null): Pick<ApplicationRow, 'secretHash' | 'secretEnding'> =>
  secret === null
    ? { secretHash: null, secretEnding: null }
    : { secretHash: hashSecret(secret), secretEnding: secret.slice(-4) };

/**
 * Adds an application of a person, an organisation or the instance. The secret of a confidential one is returned once
 * and not stored. Throws `name_missing`, `text_too_long`, `invalid_text`, `invalid_redirect_uri`, and with `conflict`
 * `too_many_applications` (over 100 of an owner).
 */
export async function addApplication(
  deps: OAuthDeps,
  owner: ApplicationOwner,
  input: ApplicationInput,
): Promise<{ application: Application; secret: string | null }> {
  const fields = parseInput(input);
  const secret = input.isConfidential ? newSecret(deps) : null;
  const added = await deps.db.write(async ({ manager, now }) => {
    if ((await manager.count(applicationSchema, { where: ownedBy(owner) })) >= mostPerOwner)
      throw conflict('too_many_applications', `You already have ${mostPerOwner} applications. Remove one first.`);
    const row: ApplicationRow = {
      id: deps.random.uuid(),
      clientId: deps.random.uuid(),
      ...ownerColumns(owner),
      ...fields,
      ...columnsOf(secret),
      createdAt: now,
    };
    await manager.insert(applicationSchema, row);
    return { application: toApplication(row), secret };
  });
  deps.logger.info('application.added', { ...logged(owner, added.application.id), name: added.application.name });
  return added;
}

/**
 * Changes name and redirect addresses, and whether it keeps a secret. Refuses like `addApplication`, and
 * `unknown_application` for one of another owner. @returns a secret where it became confidential
 */
export async function changeApplication(
  deps: OAuthDeps,
  owner: ApplicationOwner,
  id: string,
  input: ApplicationInput,
): Promise<{ application: Application; secret: string | null }> {
  const fields = parseInput(input);
  const done = await deps.db.write(async ({ manager }) => {
    const row = await manager.findOneBy(applicationSchema, { id, ...ownedBy(owner) });
    if (row === null) throw noSuchApplication();
    const becomesConfidential = input.isConfidential && row.secretHash === null;
    const secret = becomesConfidential ? newSecret(deps) : null;
    const changed = {
      ...row,
      ...fields,
      ...(becomesConfidential || !input.isConfidential ? columnsOf(secret) : {}),
    };
    await manager.save(applicationSchema, changed);
    return { application: toApplication(changed), secret };
  });
  deps.logger.info('application.changed', logged(owner, id));
  return done;
}

/** A new secret; the one before it ends at once. Throws `unknown_application`, `public_client`. */
export async function replaceSecret(deps: OAuthDeps, owner: ApplicationOwner, id: string): Promise<string> {
  const secret = newSecret(deps);
  await deps.db.write(async ({ manager }) => {
    const row = await manager.findOneBy(applicationSchema, { id, ...ownedBy(owner) });
    if (row === null) throw noSuchApplication();
    if (row.secretHash === null) throw conflict('public_client', 'A public client does not have a secret.');
    await manager.update(applicationSchema, { id }, columnsOf(secret));
  });
  deps.logger.info('application.secret_replaced', logged(owner, id));
  return secret;
}

/** Removes an application with all that it was given; its tokens end at once. Throws `unknown_application`. */
export async function removeApplication(deps: OAuthDeps, owner: ApplicationOwner, id: string): Promise<void> {
  await deps.db.write(async ({ manager }) => {
    const row = await manager.findOneBy(applicationSchema, { id, ...ownedBy(owner) });
    if (row === null) throw noSuchApplication();
    await manager.delete(recordSchema, { clientId: row.clientId });
    await manager.delete(applicationSchema, { id });
  });
  deps.logger.info('application.removed', logged(owner, id));
}

export async function listApplications({ db }: OAuthDeps, owner: ApplicationOwner): Promise<Application[]> {
  const rows = await db.read.find(applicationSchema, { where: ownedBy(owner), order: { createdAt: 'ASC', id: 'ASC' } });
  return rows.map(toApplication);
}
