import { In } from 'typeorm';
import { isLocalAdministrator, scopeAllows, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { idsIn, selectRows } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict, invalid, notFound } from '../../kernel/index.ts';
import type { Owner } from '../../owners/index.ts';
import { findAgain, findRepository, ownerIdOf, repositoryFacts, repositoryNotFound } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { refuseCopy } from './refuse-copy.ts';
import { withOwners } from '../list-repositories.ts';
import type { ListedRepository } from '../list-repositories.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import { changeOwner } from './change-owner.ts';
import { transferSchema } from '../schema/transfer-schema.ts';
import type { TransferRow } from '../schema/transfer-schema.ts';

/** The result of a transfer request. */
type TransferOutcome =
  /** The viewer had permission on both sides. */
  | { kind: 'transferred'; canonical: RepositoryAddress }
  /** The receiver must accept first. */
  | { kind: 'offered'; to: Owner };

/** A pending transfer. */
interface TransferOffer {
  repository: ListedRepository;
  to: Owner;
  /** Epoch milliseconds. */
  offeredAt: number;
}

/**
 * Transfers a repository to another owner: at once if the viewer is the receiver or an OWNER of the receiving
 * organisation, else as an offer. The old path redirects. Throws `repository_not_found` for everyone but the owner;
 * `repository_is_copy`; `no_such_owner`, also for the current owner; and for an immediate transfer `push_in_progress`,
 * `repository_name_taken`.
 */
export async function transferRepository(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  newOwner: string,
): Promise<TransferOutcome> {
  const { repository, owner } = await findRepository(deps, viewer, at, 'owner');
  refuseCopy(repository);
  const to = await deps.owners.resolve(newOwner.trim());
  if (to === null) throw invalid('no_such_owner', 'This owner does not exist.', { field: 'new_owner' });
  if (to.id === owner.id)
    throw invalid('no_such_owner', `${owner.handle} already owns this repository.`, { field: 'new_owner' });
  const { id } = repository;

  if (await mayReceive(deps, viewer, to)) {
    await changeOwner(deps, id, to, (tx) => findAgain(deps, tx, viewer, id, 'owner'));
    deps.logger.info('repository.transferred', {
      repositoryId: id,
      from: owner.id,
      to: to.id,
      by: viewerForLog(viewer),
    });
    return { kind: 'transferred', canonical: { owner: to.handle, name: repository.name } };
  }
  if (viewer.kind !== 'person') throw repositoryNotFound();
  await deps.db.write(async (tx) => {
    await findAgain(deps, tx, viewer, id, 'owner');
    const row: TransferRow = {
      repositoryId: id,
      newOwnerId: to.id,
      newOwnerKind: to.kind,
      offeredBy: viewer.id,
      createdAt: tx.now,
    };
    await tx.manager.upsert(transferSchema, row, ['repositoryId']);
  });
  deps.logger.info('repository.transfer_offered', { repositoryId: id, to: to.id, by: viewerForLog(viewer) });
  return { kind: 'offered', to };
}

/**
 * Accepts an offer, for the receiver or an OWNER of the receiving organisation. Throws `transfer_not_found` for
 * everyone else, and if the user who offered it no longer owns the repository; `push_in_progress`,
 * `repository_name_taken`.
 */
export async function acceptTransfer(
  deps: RepositoryDeps,
  viewer: Viewer,
  repositoryId: string,
): Promise<RepositoryAddress> {
  const { offer, to } = await findOffer(deps, viewer, repositoryId);
  const repository = await changeOwner(deps, repositoryId, to, (tx) => offeredRow(deps, tx, offer));
  deps.logger.info('repository.transferred', { repositoryId, to: to.id, by: viewerForLog(viewer) });
  return { owner: to.handle, name: repository.name };
}

/** Declines an offer. Throws `transfer_not_found` for everyone but its receiver. */
export async function declineTransfer(deps: RepositoryDeps, viewer: Viewer, repositoryId: string): Promise<void> {
  await findOffer(deps, viewer, repositoryId);
  await deps.db.write(({ manager }) => manager.delete(transferSchema, { repositoryId }));
  deps.logger.info('repository.transfer_declined', { repositoryId, by: viewerForLog(viewer) });
}

/** Withdraws an offer; a missing one is not an error. Throws `repository_not_found` for everyone but the owner. */
export async function withdrawTransfer(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<void> {
  const { id: repositoryId } = (await findRepository(deps, viewer, at, 'owner')).repository;
  const { affected } = await deps.db.write(({ manager }) => manager.delete(transferSchema, { repositoryId }));
  if (affected === 1) deps.logger.info('repository.transfer_withdrawn', { repositoryId, by: viewerForLog(viewer) });
}

/** The receiver of a pending offer, for the settings page. Throws `repository_not_found` for everyone but the owner. */
export async function offerOf(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<Owner | null> {
  const { repository } = await findRepository(deps, viewer, at, 'owner');
  const offer = await deps.db.read.findOneBy(transferSchema, { repositoryId: repository.id });
  if (offer === null) return null;
  return (await deps.owners.ownersById([offer.newOwnerId])).get(offer.newOwnerId) ?? null;
}

/** Offers that the viewer may accept, personally or as OWNER of an organisation; oldest first. */
export async function listOffers(deps: RepositoryDeps, viewer: Viewer): Promise<TransferOffer[]> {
  if (viewer.kind !== 'person') return [];
  const own = (await deps.organisations.organisationsOf(viewer.id)).filter(({ role }) => role === 'OWNER');
  const receivers = [viewer.id, ...own.map(({ organisation }) => organisation.id)];
  const [among, parameters] = idsIn('t.new_owner_id', receivers);
  const sql = `SELECT t.* FROM repository_transfers t WHERE ${among} ORDER BY t.created_at`;
  const offers = await selectRows(deps.db.read, transferSchema, sql, parameters);
  if (offers.length === 0) return [];
  const rows = await deps.db.read.findBy(repositorySchema, { id: In(offers.map(({ repositoryId }) => repositoryId)) });
  const listed = new Map((await withOwners(deps, rows)).map((row) => [row.id, row]));
  const owners = await deps.owners.ownersById(receivers);
  return offers.flatMap(({ repositoryId, newOwnerId, createdAt }) => {
    const repository = listed.get(repositoryId);
    const to = owners.get(newOwnerId);
    return repository === undefined || to === undefined ? [] : [{ repository, to, offeredAt: createdAt }];
  });
}

/** Whether the viewer may transfer to this owner without acceptance. */
async function mayReceive(deps: RepositoryDeps, viewer: Viewer, to: Owner): Promise<boolean> {
  if (isLocalAdministrator(viewer)) return true;
  if (viewer.kind !== 'person' || !scopeAllows(viewer, 'admin') || viewer.repositoryIds !== null) return false;
  if (to.kind === 'user') return to.id === viewer.id;
  return (await deps.organisations.roleOf(viewer.id, to.id)) === 'OWNER';
}

const transferNotFound = () => notFound('transfer_not_found', 'There is no such offer.');

async function findOffer(
  deps: RepositoryDeps,
  viewer: Viewer,
  repositoryId: string,
): Promise<{ offer: TransferRow; to: Owner }> {
  const offer = await deps.db.read.findOneBy(transferSchema, { repositoryId });
  const to = offer === null ? undefined : (await deps.owners.ownersById([offer.newOwnerId])).get(offer.newOwnerId);
  if (offer === null || to === undefined || !(await mayReceive(deps, viewer, to))) throw transferNotFound();
  return { offer, to };
}

/** The row, if the offer is still valid: the user who made it must still have permission. */
async function offeredRow(deps: RepositoryDeps, { manager }: Tx, offer: TransferRow): Promise<Repository> {
  const { repositoryId, newOwnerId, offeredBy } = offer;
  const isPending = await manager.existsBy(transferSchema, { repositoryId, newOwnerId, offeredBy });
  const row = isPending ? await manager.findOneBy(repositorySchema, { id: repositoryId }) : null;
  if (row === null || row.deletedAt !== null) throw transferNotFound();
  const facts = await repositoryFacts(deps, manager, offeredBy, row);
  if (facts.ownerUserId !== offeredBy && facts.organisationRole !== 'OWNER') throw transferNotFound();
  if (ownerIdOf(row) === newOwnerId) throw conflict('already_owner', 'The recipient already owns this repository.');
  return row;
}
