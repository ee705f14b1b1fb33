import { isLocalAdministrator, personIdOf, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { parseText } from '../../accounts/index.ts';
import type { Tx } from '../../db/index.ts';
import { forbidden, invalid, notFound } from '../../kernel/index.ts';
import type { Owner } from '../../owners/index.ts';
import type { IssueDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { blockSchema } from '../schema/moderation-schema.ts';
import type { BlockRow } from '../schema/moderation-schema.ts';

/**
 * Blocks a user from contributing to everything of an owner: for the owner themself, or an OWNER of the organisation.
 * Members and collaborators keep their access. Blocking again changes the reason. Throws `owner_not_found`,
 * `not_owner`, `unknown_person`, `cannot_block_yourself`, `too_many_blocked_people`.
 */
export async function blockPerson(
  deps: IssueDeps,
  viewer: Viewer,
  { owner, username, reason: given = '' }: { owner: string; username: string; reason?: unknown },
): Promise<void> {
  const rule = { field: 'reason', called: 'The reason', maxCharacters: limits.blockReasonCharacters };
  const reason = parseText(given, rule);
  const found = await findOwner(deps, owner);
  const person = await deps.accounts.personByUsername(username);
  await deps.db.write(async (tx) => {
    await refuseUnlessOwner(deps, tx, viewer, found);
    if (person.id === personIdOf(viewer) || person.id === found.id)
      throw invalid('cannot_block_yourself', 'You cannot block yourself.', { field: 'username' });
    if ((await tx.manager.countBy(blockSchema, { ownerId: found.id })) >= limits.blocksPerOwner)
      throw invalid('too_many_blocked_people', `At most ${limits.blocksPerOwner} users can be blocked.`);
    const row = { ownerId: found.id, userId: person.id, reason, blockedBy: personIdOf(viewer), createdAt: tx.now };
    await tx.manager.upsert(blockSchema, row, ['ownerId', 'userId']);
  });
  deps.logger.info('issue.person_blocked', { owner: found.id, person: person.id, by: viewerForLog(viewer) });
}

/** Unblocks a user; idempotent. Throws `owner_not_found`, `not_owner`, `unknown_person`. */
export async function unblockPerson(
  deps: IssueDeps,
  viewer: Viewer,
  { owner, username }: { owner: string; username: string },
): Promise<void> {
  const found = await findOwner(deps, owner);
  const person = await deps.accounts.personByUsername(username);
  await deps.db.write(async (tx) => {
    await refuseUnlessOwner(deps, tx, viewer, found);
    await tx.manager.delete(blockSchema, { ownerId: found.id, userId: person.id });
  });
  deps.logger.info('issue.person_unblocked', { owner: found.id, person: person.id, by: viewerForLog(viewer) });
}

/** Users blocked by an owner, by id, visible only to the owner. @param after the last user of the previous page */
export async function listBlocks(deps: IssueDeps, viewer: Viewer, owner: string, after = ''): Promise<BlockRow[]> {
  const found = await findOwner(deps, owner);
  await refuseUnlessOwner(deps, { manager: deps.db.read }, viewer, found);
  return deps.db.read
    .createQueryBuilder(blockSchema, 'b')
    .where('b.owner_id = :ownerId AND b.user_id > :after', { ownerId: found.id, after })
    .orderBy('b.user_id')
    .limit(100)
    .getMany();
}

async function findOwner({ owners }: IssueDeps, handle: string): Promise<Owner> {
  const owner = await owners.resolve(handle);
  if (owner === null) throw notFound('owner_not_found', 'This owner does not exist.');
  return owner;
}

async function refuseUnlessOwner(
  { organisations }: IssueDeps,
  { manager }: Pick<Tx, 'manager'>,
  viewer: Viewer,
  owner: Owner,
): Promise<void> {
  if (isLocalAdministrator(viewer)) return;
  const reaches = viewer.kind === 'person' && viewer.scope === 'admin' && viewer.repositoryIds === null;
  const owns =
    reaches &&
    (owner.kind === 'user'
      ? owner.id === viewer.id
      : (await organisations.roleOf(viewer.id, owner.id, manager)) === 'OWNER');
  if (!owns) throw forbidden('not_owner', 'Only the owner can do this.');
}
